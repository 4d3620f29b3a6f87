"""Compares a match file with what a client kept of the match. Only this reveals a file that was rewritten as a whole.

A client may keep heads (a version and its hash, or the start of the hash as in ETags), and feeds: responses of
`/v1/matches/{id}/events` in any of its three media types.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from events.record import Head, Version, canonical, decode, digest
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.redaction import Situation, see_event

SHORTEST_HASH: Final = 16
"""Minimum number of hex digits of a head, as many as in an ETag."""

_FRAME: Final = b"data:"
_WITHOUT_JSON: Final = (b":", b"event:", b"id:", b"retry:")
"""Prefixes of the lines of an event stream that contain no JSON."""


_NOT_OF_THE_EVENT: Final = frozenset({"text", *Situation.__struct_fields__})
"""Fields that a client may request with an event but that are not part of it: its text, and the situation after it."""


class Differs(Exception):
    """The file differs from what the client kept, first at `version`."""

    def __init__(self, version: Version, kept: Literal["head", "feed"], text: str) -> None:
        super().__init__(f"version {version}: {text}")
        self.version = version
        self.kept = kept
        self.text = text


_Version: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_Hash: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16,64}$")]


class KeptHead(msgspec.Struct, frozen=True):
    """A head that a client kept. `head` may be the start of a hash."""

    version: _Version
    head: _Hash


class KeptEvent(msgspec.Struct, frozen=True):
    """An event as the service showed it to a viewer: `shown` has all its fields."""

    version: _Version
    hash: _Hash
    match: str
    shown: dict[str, Any] = msgspec.field(default_factory=dict)


class Feed(msgspec.Struct, frozen=True):
    heads: tuple[KeptHead, ...]
    events: tuple[KeptEvent, ...]


def read_feed(text: bytes) -> Feed:
    """Parse a feed: pages, lines or an event stream, as received. A last line that was cut off is ignored.

    Raises:
        ValueError: it contains something else, or nothing.
    """
    parts = list(chain.from_iterable(map(_parts, _frames(text))))
    heads = tuple(part for part in parts if isinstance(part, KeptHead))
    events = tuple(part for part in parts if isinstance(part, KeptEvent))
    if not parts:
        raise ValueError("it holds no event and no head")
    return Feed(heads, events)


def _frames(text: bytes) -> Iterator[Any]:
    """The JSON values of a feed. A page may have several lines."""
    try:
        yield msgspec.json.decode(text)
    except (ValueError, RecursionError):
        pass
    else:
        return
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        value = line.removeprefix(_FRAME).strip()
        if not value or line.startswith(_WITHOUT_JSON):
            continue
        try:
            yield msgspec.json.decode(value)
        except (ValueError, RecursionError) as error:
            if number == len(lines) > 1 and not line.endswith(b"\n"):
                return
            raise ValueError(f"line {number} is not JSON: {error}") from None


def _parts(frame: Any) -> Iterator[KeptHead | KeptEvent]:
    """The events and heads in one value: an event, a page of events, or the first or last frame of a stream."""
    try:
        fields = msgspec.convert(frame, dict[str, Any])
        if "hash" in fields:
            shown = {name: value for name, value in fields.items() if name not in _NOT_OF_THE_EVENT}
            yield msgspec.structs.replace(msgspec.convert(fields, KeptEvent), shown=shown)
            return
        yield msgspec.convert(fields, KeptHead)
        for event in msgspec.convert(fields.get("events", []), list[dict[str, Any]]):
            yield from _parts(event)
    except msgspec.ValidationError as error:
        raise ValueError(f"it contains something that is not an event, page or frame of a feed: {error}") from None


def check_heads(lines: Sequence[bytes], kept: Iterable[KeptHead], name: Literal["head", "feed"] = "head") -> None:
    """Check that every kept head is the hash of the line at its version. Version 0 is the first line of the file.

    Raises:
        Differs: the first difference, in the order of the versions.
    """
    for head in sorted(kept, key=lambda one: one.version):
        found = _line(lines, head.version, name)[1]
        if not found.hash.startswith(head.head):
            raise Differs(head.version, name, f"its hash is {found.hash}, not {head.head}")


def check_feed(lines: Sequence[bytes], match: Match, viewer: Viewer, feed: Feed) -> None:
    """Check that every kept event is what this viewer may see of the file's event, and has its hash.

    Raises:
        Differs: the first difference, in the order of the versions.
    """
    check_heads(lines, feed.heads, "feed")
    for kept in sorted(feed.events, key=lambda one: one.version):
        if kept.match != match.id:
            raise Differs(kept.version, "feed", f"the feed is of the match {kept.match}")
        check_heads(lines, [KeptHead(kept.version, kept.hash)], "feed")
        stored, head = _line(lines, kept.version, "feed")
        shown = canonical(see_event(match, decode(stored), head.hash, viewer))
        if shown != canonical(kept.shown):
            fields = ", ".join(_different(msgspec.json.decode(shown), kept.shown))
            text = f"{_named(viewer)} sees other values ({fields}); is this the feed of another seat?"
            raise Differs(kept.version, "feed", text)


def _line(lines: Sequence[bytes], version: Version, name: Literal["head", "feed"]) -> tuple[bytes, Head]:
    if version >= len(lines):
        raise Differs(version, name, f"the file ends at version {len(lines) - 1}")
    stored = lines[version].removesuffix(b"\n")
    return stored, Head(version, digest(stored))


def _different(shown: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """The fields in which two events differ."""
    fields = sorted(shown.keys() | kept.keys())
    return [name for name in fields if _field(shown, name) != _field(kept, name)]


def _field(event: Mapping[str, Any], name: str) -> bytes | None:
    return canonical(event[name]) if name in event else None


def _named(viewer: Viewer) -> str:
    return "a spectator" if viewer is None else f"seat {viewer}"
