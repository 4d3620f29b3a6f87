"""The contract of a log of matches. Two classes implement it: one in Redis for the service, one in memory for local play
and as the model in tests.

A match is an append-only list of events with versions from 1. An append is atomic, and durable once it returns. A command
id that the match already knows gets the same answer again. An append whose expected head is not the newest gets a
conflict. Otherwise everything is written at once: the events, the command id, and the match's due times.

Lists with other ids than matches are possible, such as `ratings:ape_town`; they obey the same contract.

Beside its events a match has snapshots: opaque bytes that readers save for some versions, so that they can start from
there the next time. The log does not interpret or verify them, and may lose them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from events.due import Due, DueTimes
from events.record import Head, MatchId, Version, digest

GENESIS_VERSION = 0
MAX_EVENTS = 64
"""The largest number of events in one append."""
MAX_BYTES = 256 * 1024
"""The largest total size of the events in one append."""


class Append(msgspec.Struct, frozen=True):
    """The events of one command, with everything that is checked and written together with them.

    match: the match that the events belong to.
    command: the command's id; within a match it is carried out once.
    digest: distinguishes a repeated command from another command with the same id.
    expected: the head that the command was decided on; for a new match version 0 and the hash of its first line.
    events: stored bytes; the first has version `expected.version + 1`.
    due: replaces the due times of the kinds that it names.
    due_if_any: the same, but only of kinds of which the match has an entry: somebody waits for the next event.
    seed: the match's server seed, given only by the append that creates the match.
    snapshot: of the version of the last event; replaces snapshots of later versions.
    """

    match: MatchId
    command: str
    digest: str
    expected: Head
    events: tuple[bytes, ...]
    due: DueTimes = {}
    seed: bytes | None = None
    snapshot: bytes | None = None
    due_if_any: Mapping[str, int] = {}


class Appended(msgspec.Struct, frozen=True):
    """The command is in the log, its last event at `version`; `replayed` if it was there before this call."""

    version: Version
    replayed: bool


class Conflict(msgspec.Struct, frozen=True):
    """Nothing was written: the match's head differs from the expected one. `head` is None if the match does not exist."""

    head: Head | None


class Reused(msgspec.Struct, frozen=True):
    """Nothing was written: the command id belongs to another command, whose last event is at `version`."""

    version: Version


class Seen(msgspec.Struct, frozen=True):
    """The record of a command id: the version of the command's last event, and the digest of its request."""

    version: Version
    digest: str


class Tail(msgspec.Struct, frozen=True):
    """Part of a match: stored events in order, the result of the look-up of a command id, and a snapshot.

    If there is a snapshot, the first event is the one of the snapshot's version.
    """

    events: tuple[bytes, ...]
    seen: Seen | None = None
    snapshot: bytes | None = None

    @property
    def first_hash(self) -> str:
        """The hash of the first event; there must be one."""
        return digest(self.events[0])


Unavailability: TypeAlias = Literal["unavailable", "loading", "read-only", "disk", "full", "replicas"]


class LogUnavailable(Exception):
    """The log cannot answer now. An append may or may not have been written; repeating it is safe.

    `unavailable`: no answer in time. `loading`: the server is reading its files. `read-only`: it is a replica. `disk`: it
    cannot write its files. `full`: it has no memory left. `replicas`: too few replicas are connected.
    """

    def __init__(self, reason: Unavailability) -> None:
        super().__init__(reason)
        self.reason: Unavailability = reason


def check(append: Append) -> None:
    """Reject an invalid append before anything is sent.

    Raises:
        ValueError: no events, too many or too large ones, or a seed for a match that already exists.
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
            ValueError: `check` rejects it.
            LogUnavailable: the log cannot answer. Every other method may raise this too.
        """
        ...

    def read(
        self, match: MatchId, *, first: Version | None = 1, last: Version | None = None, command: str | None = None
    ) -> Tail:
        """Read the events from version `first` to `last` (None: the newest), and look `command` up, in one round trip.

        With `first` None it starts at the newest snapshot that is not after `last`, or at version 1 if there is none.
        """
        ...

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        """Read several matches in one round trip, each from its `first` (as in `read`) to its newest event."""
        ...

    def commands(self, match: MatchId, prefix: str) -> Mapping[str, Seen]:
        """The records of all command ids of a match that begin with `prefix`, by command id."""
        ...

    def save_snapshots(self, match: MatchId, after: Version, snapshots: Mapping[Version, bytes]) -> None:
        """Replace all snapshots after version `after` and up to the latest of `snapshots` by these.

        All are distinct bytes. If the log has no memory for them, they are not saved.
        """
        ...

    def seed(self, match: MatchId) -> bytes | None:
        """The match's server seed. It must never appear in any state, view, log line or job."""
        ...

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        """Claim at most `limit` entries of a kind that are due at `now` (milliseconds), the earliest first.

        They are returned with the time each was due. Each becomes due again `lease` milliseconds after `now`; until then
        no other process can claim it.
        """
        ...

    def overdue(self, kind: str, now: int, limit: int) -> Sequence[Due]:
        """At most `limit` entries of a kind that are due at `now`, the earliest first. It does not claim them."""
        ...

    def scheduled(self, kind: str) -> Sequence[Due]:
        """All entries of a kind, due or not, the earliest first."""
        ...

    def next_due(self, kinds: Iterable[str]) -> int | None:
        """The earliest time at which an entry of these kinds is due; None if there are no entries."""
        ...

    def count_due(self, kind: str, until: int) -> int:
        """The number of entries of a kind that are due by a time (milliseconds)."""
        ...

    def rearm(self, match: MatchId, version: Version, due: DueTimes) -> bool:
        """Replace the match's due times of the kinds in `due` if its head is still `version`. Returns whether it was."""
        ...
