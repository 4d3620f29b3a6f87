"""The headers that views read, as the reference describes them."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from api.http import etags, idempotency
from service.errors import Refused
from service.repository import cursors

RequestHeader: TypeAlias = Literal[
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Last-Event-ID (cursor)",
    "Last-Event-ID (versions)",
    "Accept-Language",
]
"""A header that a view reads. The word in parentheses distinguishes several meanings of a header."""
_MEANINGS: Final[Mapping[RequestHeader, str]] = {
    "Idempotency-Key": "1 to 64 visible ASCII characters, such as a UUID; a key with a comma must be quoted. A request that is "
    "sent again with the same key is carried out only once.",
    "If-Match": "The ETag of the version to which the command applies. If it is not the newest version, the answer is 412.",
    "If-None-Match": "The ETag of an answer from the same address with the same token; 304 if the answer would have the same "
    "version, whatever the names of its players are now. With texts the answer is always complete, since a tag does not depend on "
    "the language.",
    "Accept-Language": "The language of texts, and of reasons why an action or a leave is refused: `en` (the default) or `de`.",
    "Last-Event-ID": "With `text/event-stream`: the `id` of the last event that the client received; it overrides `after`.",
    "Last-Event-ID (cursor)": "With `text/event-stream`: the `id` of the last frame that the client received; it overrides "
    "`after`.",
    "Last-Event-ID (versions)": "With `text/event-stream`: the last `id` that the client received, with a version for each match "
    "in the order of the parameters `match`; it overrides the versions in them.",
}
_TAGS: Final = {"pattern": '^(\\*|(W/)?"[!#-~]{0,64}"(, ?(W/)?"[!#-~]{0,64}"){0,9})$'}
_SCHEMAS: Final[Mapping[RequestHeader, Mapping[str, Any]]] = {
    "Idempotency-Key": {"pattern": '^([-!#-+.-\\[\\]-~]{1,64}|"[!#-\\[\\]-~]{1,64}")$'},
    "If-Match": _TAGS,
    "If-None-Match": _TAGS,
    "Last-Event-ID": {"pattern": "^(0|[1-9][0-9]{0,15})$"},
    "Last-Event-ID (cursor)": {"pattern": "^[A-Za-z0-9_-]{1,200}$"},
    "Last-Event-ID (versions)": {"pattern": "^(0|[1-9][0-9]{0,15})(,(0|[1-9][0-9]{0,15})){0,99}$"},
}


_VERSION: Final = re.compile(r"0|[1-9][0-9]{0,15}")


def version_of(last_event_id: str) -> int:
    """The version in a Last-Event-ID.

    Raises:
        Refused: `invalid-parameter`.
    """
    if _VERSION.fullmatch(last_event_id) is None:
        raise Refused(
            "invalid-parameter", "Last-Event-ID must be the id of a frame, such as 41.", parameter="Last-Event-ID"
        )
    return int(last_event_id)


def versions_of(last_event_id: str) -> Sequence[int]:
    """The versions in a Last-Event-ID, which are separated by commas.

    Raises:
        Refused: `invalid-parameter`.
    """
    return [version_of(version) for version in last_event_id.split(",")]


_READERS: Final[Mapping[RequestHeader, Callable[[str], object]]] = {
    "Idempotency-Key": idempotency.key,
    "If-Match": partial(etags.parse, "If-Match"),
    "If-None-Match": partial(etags.parse, "If-None-Match"),
    "Last-Event-ID": version_of,
    "Last-Event-ID (versions)": versions_of,
    "Last-Event-ID (cursor)": lambda cursor: cursors.decode(cursor, int, "Last-Event-ID"),
}


def name_of(header: RequestHeader) -> str:
    return header.partition(" ")[0]


def judge(header: RequestHeader, value: str) -> None:
    """Refuse a malformed header. `Accept-Language` is never refused: unknown languages are ignored.

    Raises:
        Refused: `invalid-parameter`, `idempotency-key-invalid`.
    """
    if reader := _READERS.get(header):
        reader(value)


def parameter(header: RequestHeader) -> dict[str, Any]:
    """A header as a parameter of an operation."""
    schema = {"type": "string", **_SCHEMAS.get(header, {})}
    return {"in": "header", "name": name_of(header), "description": _MEANINGS[header], "schema": schema}
