"""What a log of matches promises. Two keep it: Redis for the service, memory for local play and as the model in tests.

A match is an append-only list of events with versions from 1. One append is atomic and durable once it returns: a
command id seen before gets the same answer again, a head that is not the newest gets a conflict, and else everything
is written at once: the events, the command id, and what the match is owed next.

Beside a match lie snapshots: bytes that its reader left at some versions, to begin there the next time. The log neither
reads nor vouches for them, and may lose them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from events.due import Due, Owed
from events.record import Head, MatchId, Version

GENESIS_VERSION = 0
MAX_EVENTS = 64
"""In one append."""
MAX_BYTES = 256 * 1024
"""Of events in one append."""


class Append(msgspec.Struct, frozen=True):
    """One command's events, with all that is checked and written with them.

    `expected` is the head that the command was decided on (version 0 and the hash of the match file's first line for a
    new match); `events` are stored bytes, the first with version `expected.version + 1`; `due` replaces the entries
    of the kinds that it names; `seed` is given by the creating append only; `digest` tells a repeated command from another one under the
    same id; `snapshot`, if there is one, is of the version that the last event has, and takes the place of later ones.
    """

    match: MatchId
    command: str
    digest: str
    expected: Head
    events: tuple[bytes, ...]
    due: Owed = {}
    seed: bytes | None = None
    snapshot: bytes | None = None


class Appended(msgspec.Struct, frozen=True):
    """The command is in the log, its last event at `version`; `replayed` if it had been there before this call."""

    version: Version
    replayed: bool


class Conflict(msgspec.Struct, frozen=True):
    """Nothing was written: the match's head is another one (None where the match does not exist)."""

    head: Head | None


class Reused(msgspec.Struct, frozen=True):
    """Nothing was written: the command id belongs to another command, which is at `version`."""

    version: Version


class Seen(msgspec.Struct, frozen=True):
    """A command id that the match already knows, with the version of its last event."""

    version: Version
    digest: str


class Tail(msgspec.Struct, frozen=True):
    """Part of a match: stored bytes in order, what the asked command id is known as, and the snapshot that was found.

    The first event is that of the snapshot's version, if there is one.
    """

    events: tuple[bytes, ...]
    seen: Seen | None = None
    snapshot: bytes | None = None


Unavailability: TypeAlias = Literal["unavailable", "loading", "read-only", "disk", "full", "replicas"]


class LogUnavailable(Exception):
    """The log cannot answer now; an append may or may not have been written, and repeating it is safe.

    `unavailable`: no answer in time. `loading`: the server reads its files. `read-only`: it is a replica. `disk`: it
    cannot write its files. `full`: it has no memory left. `replicas`: too few replicas are connected.
    """

    def __init__(self, reason: Unavailability) -> None:
        super().__init__(reason)
        self.reason: Unavailability = reason


def check(append: Append) -> None:
    """Refuse what no log may take, before anything is sent.

    Raises:
        ValueError: no events, too many or too large; a seed for a match that exists already.
    """
    if not 1 <= len(append.events) <= MAX_EVENTS:
        raise ValueError(f"{len(append.events)} events in one append; 1 to {MAX_EVENTS} are allowed")
    if (size := sum(map(len, append.events))) > MAX_BYTES:
        raise ValueError(f"{size} bytes of events in one append; {MAX_BYTES} are allowed")
    if append.seed is not None and append.expected.version != GENESIS_VERSION:
        raise ValueError("only the creating append gives a seed")


class Log(Protocol):
    def append(self, append: Append) -> Appended | Conflict | Reused:
        """Write one command's events, or nothing.

        Raises:
            ValueError: `check` refuses it.
            LogUnavailable: here and in every other method, if the log cannot answer.
        """
        ...

    def read(
        self, match: MatchId, *, first: Version | None = 1, last: Version | None = None, command: str | None = None
    ) -> Tail:
        """The events from version `first` to `last` (or the newest), and whether `command` is known, in one round trip.

        `first` None is the version of the newest snapshot that is not after `last`, or 1 where there is none.
        """
        ...

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        """Several matches as `read` gives them, each from its `first` on to the newest event, in one round trip."""
        ...

    def remember(self, match: MatchId, after: Version, snapshots: Mapping[Version, bytes]) -> None:
        """Put snapshots of versions after one in the place of all from there up to the last of these.

        No two are the same bytes. Where the log has no room for them, it does without.
        """
        ...

    def seed(self, match: MatchId) -> bytes | None:
        """The match's server seed. Never part of any state, view, log line or job."""
        ...

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        """At most `limit` entries of a kind due at `now` (milliseconds), the earliest first, with the time each was due.

        Each is due again `lease` milliseconds after `now`, so that another claimer leaves it alone until then.
        """
        ...

    def overdue(self, kind: str, now: int, limit: int) -> Sequence[Due]:
        """At most `limit` entries of a kind due at `now`, the earliest first; they stay until an append replaces them."""
        ...

    def scheduled(self, kind: str) -> Sequence[Due]:
        """All entries of a kind, due or not, the earliest first."""
        ...

    def next_due(self, kinds: Iterable[str]) -> int | None:
        """The earliest time at which an entry of these kinds is due, None if there is none."""
        ...

    def count_due(self, kind: str, until: int) -> int:
        """How many entries of a kind are due by a time (milliseconds)."""
        ...

    def rearm(self, match: MatchId, version: Version, due: Owed) -> bool:
        """Replace what the match is owed of the kinds in `due`, if its head is still `version`."""
        ...
