"""ETag, If-Match and If-None-Match (RFC 9110 section 13): one tag for a version of a match and for what led to it."""

import re
from typing import Final, TypeAlias

from service.errors import Refused
from service.match.commands import SeenHead
from service.match.model import Head

_HEAD_DIGITS: Final = 16
_TAG: Final = re.compile(r'(?:W/)?"([\x21\x23-\x7e]{0,64})"')
# Servers join lines of the same name with commas, and an empty one among them is no element (RFC 9110, 5.6.1).
_LIST: Final = re.compile(rf"[ \t,]*{_TAG.pattern}(?:[ \t]*,[ \t,]*{_TAG.pattern})*[ \t,]*")
_MAX_LENGTH: Final = 1024

Tags: TypeAlias = frozenset[str] | None
"""The tags a header lists, without quotes and weakness; None for `*`, which any tag matches."""


def tag(head: Head, form: str = "") -> str:
    """A head's tag as it stands between the quotes: a store that lost its past gives another one for the same version.

    `form` names what else the answer depends on, such as the drawing of a picture.
    """
    return "-".join(filter(None, (str(head.version), head.hash[:_HEAD_DIGITS], form)))


def etag_of(version: int, digest: str) -> str:
    """The ETag of the head that these make."""
    return etag(Head(version, digest))


def etag(head: Head, form: str = "") -> str:
    """The value of an ETag header."""
    return f'"{tag(head, form)}"'


def parse(header: str, value: str | None) -> Tags:
    """The tags in an If-Match or If-None-Match header; none if there is no such header.

    Weak and strong forms are the same here: a proxy that compresses an answer weakens its tag, and the client sends
    back what it got.

    Raises:
        Refused: `invalid-parameter`, the header is malformed.
    """
    if value is None:
        return frozenset()
    if value.strip() == "*":
        return None
    if len(value) > _MAX_LENGTH or _LIST.fullmatch(value) is None:
        raise Refused(
            "invalid-parameter",
            f'{header} is no list of entity tags, such as "12-0123456789abcdef", as an ETag says it.',
            parameter=header,
        )
    return frozenset(_TAG.findall(value))


def matches(tags: Tags, head: Head, form: str = "") -> bool:
    return tags is None or tag(head, form) in tags


def wanted_heads(value: str | None) -> tuple[SeenHead, ...] | None:
    """The heads that an If-Match header insists on, None where it insists on nothing; tags that are none of ours match none.

    Raises:
        Refused: `invalid-parameter`, the header is malformed.
    """
    tags = parse("If-Match", value)
    return tuple(filter(None, map(split, sorted(tags)))) if tags else None


def split(wanted: str) -> tuple[int, str] | None:
    """The version and head prefix of a tag, None if it is no tag of ours."""
    found = re.fullmatch(rf"([1-9]\d{{0,9}})-([0-9a-f]{{{_HEAD_DIGITS}}})", wanted, re.ASCII)
    return (int(found[1]), found[2]) if found else None
