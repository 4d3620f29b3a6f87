"""The hash chain of a match: how drafts become stored bytes, and how stored bytes are checked again at every fold."""

from collections.abc import Sequence

import msgspec

from events.record import Event, Head, MatchId, Version, canonical, decode, digest

FORMAT = "moonstone-match/1"
"""Names the match file's format in its first line."""


class BrokenChain(Exception):
    """The stored bytes at `version` are not what the chain says must stand there. `fault` holds nothing of their data."""

    def __init__(self, version: Version, fault: str) -> None:
        super().__init__(f"version {version}: {fault}")
        self.version = version
        self.fault = fault


class NewerEvent(BrokenChain):
    """The event follows, but its envelope has fields that this release does not know."""


class Draft(msgspec.Struct, frozen=True):
    """An event before it has a place: `data` is canonical JSON."""

    type: str
    by: str
    data: bytes


def genesis(match: MatchId, game: str, ruleset: int) -> tuple[bytes, Head]:
    """The first line of the match file, and the head that a match without events has: version 0, that line's hash."""
    line = canonical({"format": FORMAT, "match": match, "game": game, "ruleset": ruleset})
    return line, Head(0, digest(line))


def seal(head: Head, drafts: Sequence[Draft], at: int, salts: Sequence[str]) -> tuple[tuple[bytes, ...], Head]:
    """The stored bytes of `drafts` in order after `head`, all at `at` (milliseconds), and the head after them.

    Raises:
        ValueError: not one salt for each draft.
    """
    sealed = []
    for draft, salt in zip(drafts, salts, strict=True):
        version = head.version + 1
        stored = canonical(Event(version, draft.type, at, draft.by, msgspec.Raw(draft.data), head.hash, salt))
        head = Head(version, digest(stored))
        sealed.append(stored)
    return tuple(sealed), head


def follow(head: Head, stored: bytes) -> tuple[Event, Head]:
    """The event that `stored` holds directly after `head`, and the head after it.

    The envelope must be canonical to the byte; `data` is taken as it stands, for the hash covers it.

    Raises:
        BrokenChain: the bytes are no event, or not the one that follows.
    """
    version = head.version + 1
    try:
        event = decode(stored)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, not an event; or nested without end
        # A field that does not belong there is not named: its name may be anything that the entry held.
        fault = "other fields than this release knows" if isinstance(error, msgspec.ValidationError) else error
        kind = NewerEvent if _follows(head, stored) else BrokenChain
        raise kind(version, f"no event: {fault}") from error
    if event.version != version or event.prev != head.hash or canonical(event) != stored:
        raise BrokenChain(version, _fault(head, event))
    return event, Head(version, digest(stored))


class _Link(msgspec.Struct):
    """The fields by which an event of any release follows another one."""

    version: Version
    type: str
    prev: str


def _follows(head: Head, stored: bytes) -> bool:
    try:
        link = msgspec.json.decode(stored, type=_Link)
    except (ValueError, RecursionError):
        return False
    return link.version == head.version + 1 and link.prev == head.hash


def _fault(head: Head, event: Event) -> str:
    """What is wrong with an event that does not follow."""
    if event.version != head.version + 1:
        return f"says that it is version {event.version}"
    if event.prev != head.hash:
        return f"names {event.prev[:16]}… as the event before, which hashes to {head.hash[:16]}…: one of the two was changed"
    return "is not in canonical form"
