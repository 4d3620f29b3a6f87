"""Records what clients sent and received, and checks it against the matches in the log at the end.

Every answer names the command's version, so no search is needed. Each acknowledged command is at its version, once (I1, I2).
Versions have no gap (I3). A command that ended before another one began has a lower version. A version that a client saw
never disappears.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from events.record import Event, Version

HASH_PREFIX: Final = 16


class Command(NamedTuple):
    """A command, with the times in seconds of its first try and its answer; `version` and `head` are None without an answer."""

    match: str
    kind: str
    by: str
    began: float
    ended: float
    version: Version | None
    head: str | None


class Seen(NamedTuple):
    """A version of a match that a client saw as the newest; `head` is the start of its hash."""

    client: str
    match: str
    began: float
    version: Version
    head: str


Stored: TypeAlias = Mapping[str, Sequence[tuple[Event, str]]]
"""The events of each match with their hashes."""


class History:
    def __init__(self) -> None:
        self._lock = Lock()
        self.commands: list[Command] = []
        self.reads: list[Seen] = []
        self.violations: list[str] = []
        """Answers and results that must never occur."""
        self.retries = 0
        self.replays = 0

    def record_command(self, command: Command) -> None:
        with self._lock:
            self.commands.append(command)

    def record_read(self, read: Seen) -> None:
        with self._lock:
            self.reads.append(read)

    def report(self, violation: str) -> None:
        with self._lock:
            self.violations.append(violation)

    def retried(self) -> None:
        with self._lock:
            self.retries += 1

    def replayed(self) -> None:
        with self._lock:
            self.replays += 1

    @property
    def acknowledged(self) -> int:
        with self._lock:
            return sum(command.version is not None for command in self.commands)

    def faults(self, stored: Stored) -> list[str]:
        """All contradictions; empty if every promise was kept."""
        return [
            *self.violations,
            *_gaps(stored),
            *self._lost(stored),
            *self._doubled(stored),
            *self._out_of_order(),
            *self._gone(stored),
        ]

    def _lost(self, stored: Stored) -> Iterator[str]:
        for command in self.commands:
            if command.version is None:
                continue
            found = stored.get(command.match, ())[command.version - 1 : command.version]
            if [(event.type, event.by, hash_) for event, hash_ in found] != [(command.kind, command.by, command.head)]:
                yield f"I1: acknowledged but missing: {command}"

    def _doubled(self, stored: Stored) -> Iterator[str]:
        versions = Counter((command.match, command.version) for command in self.commands if command.version is not None)
        yield from (f"I2: two commands at one version: {version}" for version, count in versions.items() if count > 1)
        sent = Counter((command.match, command.kind, command.by) for command in self.commands)
        for match, events in stored.items():
            kinds = Counter((match, event.type, event.by) for event, _ in events)
            sent_kinds = {kind for _, kind, _ in sent}
            for key, count in kinds.items():
                if key[1] in sent_kinds and count > sent[key] and not key[2].startswith("bot:"):
                    yield f"I2: {key} was stored {count} times and sent {sent[key]} times"

    def _out_of_order(self) -> Iterator[str]:
        latest: dict[str, float] = {}
        for command in sorted(self.commands, key=lambda one: one.version or 0):
            if command.version is None:
                continue
            if command.ended < latest.get(command.match, 0):
                yield f"order: a command that began after this one ended has a lower version: {command}"
            latest[command.match] = max(latest.get(command.match, 0), command.began)

    def _gone(self, stored: Stored) -> Iterator[str]:
        newest: dict[tuple[str, str], Version] = {}
        for read in self.reads:  # reads of one client are in order, since it sends one request at a time
            before = newest.get((read.client, read.match), 0)
            if read.version < before:
                yield f"I1: the version fell from {before}: {read}"
            newest[read.client, read.match] = read.version
            found = stored.get(read.match, ())[read.version - 1 : read.version]
            if [hash_[:HASH_PREFIX] for _, hash_ in found] != [read.head]:
                yield f"I1: seen but missing: {read}"


def _gaps(stored: Stored) -> Iterator[str]:
    for match, events in stored.items():
        if [event.version for event, _ in events] != list(range(1, len(events) + 1)):
            yield f"I3: match {match} has a gap"
