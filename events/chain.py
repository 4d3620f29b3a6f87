"""The hash chain of a match: turns drafts into stored bytes, and verifies stored bytes whenever a match is folded."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from events.record import Event, Head, MatchId, Version, canonical, decode, digest, encode

FORMATS: Final[Mapping[int, str]] = {1: "moonstone-match/1", 2: "moonstone-match/2"}
"""The formats of match files by number, as the first line names them. Each match keeps the format in which it was created."""
NEWEST_FORMAT: Final = 2


class BrokenChain(Exception):
    """The stored bytes at `version` break the chain. `fault` says how, and contains none of the event's data."""

    def __init__(self, version: Version, fault: str) -> None:
        super().__init__(f"version {version}: {fault}")
        self.version = version
        self.fault = fault


class NewerEvent(BrokenChain):
    """The event continues the chain, but its envelope has fields that this release does not know."""


class Draft(msgspec.Struct, frozen=True):
    """An event without version, time and hash: `data` is canonical JSON."""

    type: str
    by: str
    data: bytes


def genesis(match: MatchId, game: str, ruleset: int, format_number: int = NEWEST_FORMAT) -> tuple[bytes, Head]:
    """The first line of the match file, and the head of a match without events: version 0 and the hash of that line."""
    line = canonical({"format": FORMATS[format_number], "match": match, "game": game, "ruleset": ruleset})
    return line, Head(0, digest(line))


def seal(head: Head, drafts: Sequence[Draft], at: int, salts: Sequence[str]) -> tuple[tuple[bytes, ...], Head]:
    """Chain `drafts` after `head`, all at time `at` (milliseconds): their stored bytes in order, and the new head.

    Raises:
        ValueError: the number of salts differs from the number of drafts.
    """
    sealed = []
    for draft, salt in zip(drafts, salts, strict=True):
        version = head.version + 1
        stored = encode(
            Event(
                version=version,
                type=draft.type,
                at=at,
                by=draft.by,
                data=msgspec.Raw(draft.data),
                prev=head.hash,
                salt=salt,
            )
        )
        head = Head(version, digest(stored))
        sealed.append(stored)
    return tuple(sealed), head


class Verified(NamedTuple):
    """An event whose place in the chain was checked, and the head of the match after it."""

    event: Event
    head: Head


def follow(head: Head, stored: bytes) -> tuple[Event, Head]:
    """Decode `stored` as the event directly after `head`, and return it with the head after it.

    The envelope must be canonical to the byte. `data` is not checked, since the hash covers it.

    Raises:
        BrokenChain: the bytes are not an event, or not the one directly after `head`.
    """
    version = head.version + 1
    try:
        event = decode(stored)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, not an event, or nested too deeply
        # An unexpected field is not named in the fault: its name may contain anything.
        fault = "other fields than this release knows" if isinstance(error, msgspec.ValidationError) else error
        kind = NewerEvent if _follows(head, stored) else BrokenChain
        raise kind(version, f"no event: {fault}") from error
    if event.version != version or event.prev != head.hash or encode(event) != stored:
        raise BrokenChain(version, _fault(head, event))
    return event, Head(version, digest(stored))


class _Link(msgspec.Struct):
    """The fields that link an event of any release to the one before."""

    version: Version
    type: str
    prev: str


_decode_link: Final = msgspec.json.Decoder(_Link).decode


def _follows(head: Head, stored: bytes) -> bool:
    try:
        link = _decode_link(stored)
    except (ValueError, RecursionError):
        return False
    return link.version == head.version + 1 and link.prev == head.hash


def _fault(head: Head, event: Event) -> str:
    """Why an event does not continue the chain."""
    if event.version != head.version + 1:
        return f"says that it is version {event.version}"
    if event.prev != head.hash:
        return f"names {event.prev[:16]}… as the event before, which hashes to {head.hash[:16]}…: one of the two was changed"
    return "is not in canonical form"
