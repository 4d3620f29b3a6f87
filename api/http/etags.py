"""ETag, If-Match and If-None-Match (RFC 9110, section 13). A tag names a version of a match and the hash of its event."""

import re
from typing import Final, TypeAlias

from service.errors import Refused
from service.match.commands import SeenHead
from service.match.model import Head

_HEAD_DIGITS: Final = 16
_TAG: Final = re.compile(r'(?:W/)?"([\x21\x23-\x7e]{0,64})"')
# Servers join header lines of the same name with commas, and empty elements of a list are ignored (RFC 9110, 5.6.1).
_LIST: Final = re.compile(rf"[ \t,]*{_TAG.pattern}(?:[ \t]*,[ \t,]*{_TAG.pattern})*[ \t,]*")
_MAX_LENGTH: Final = 1024

Tags: TypeAlias = frozenset[str] | None
"""The tags in a header, without quotes and `W/`; None for `*`, which matches any tag."""


def tag(head: Head, form: str = "") -> str:
    """The tag of a head, without quotes. A store that lost events has another tag for the same version.

    `form` names what else the response depends on, such as the revision of pictures.
    """
    return "-".join(filter(None, (str(head.version), head.hash[:_HEAD_DIGITS], form)))


def etag_of(version: int, digest: str) -> str:
    """The ETag of the head with this version and hash."""
    return etag(Head(version, digest))


def etag(head: Head, form: str = "") -> str:
    """The value of an ETag header."""
    return f'"{tag(head, form)}"'


def parse(header: str, value: str | None) -> Tags:
    """The tags in an If-Match or If-None-Match header; empty if there is no such header.

    Weak and strong tags are equal here: a proxy that compresses a response weakens its tag, and the client sends it back.
    Malformed headers are refused, which werkzeug's `parse_etags` does not do.

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
            f'{header} must be a list of entity tags, such as "12-0123456789abcdef", as they are in ETag.',
            parameter=header,
        )
    return frozenset(_TAG.findall(value))


def matches(tags: Tags, head: Head, form: str = "") -> bool:
    return tags is None or tag(head, form) in tags


def wanted_heads(value: str | None) -> tuple[SeenHead, ...] | None:
    """The heads in an If-Match header; None without a header, and for `*`. Tags of another form match no head.

    Raises:
        Refused: `invalid-parameter`, the header is malformed.
    """
    tags = parse("If-Match", value)
    return tuple(filter(None, map(split, sorted(tags)))) if tags else None


def split(wanted: str) -> tuple[int, str] | None:
    """The version and hash prefix in a tag; None if the tag has another form."""
    found = re.fullmatch(rf"([1-9]\d{{0,9}})-([0-9a-f]{{{_HEAD_DIGITS}}})", wanted, re.ASCII)
    return (int(found[1]), found[2]) if found else None
