"""What clients did and were told, and whether that can be true of the matches that the log holds in the end.

Every command names the version that it got, so no search is needed: each acknowledged one stands at its version, once
(I1, I2), versions have no gap (I3), a command that ended before another began comes before it, and what a client was
shown is never gone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from events.record import Event, Version

HASH_SHOWN: Final = 16


class Done(NamedTuple):
    """A command from its first try to its answer, in seconds; `version` and `head` are None if it never got one."""

    match: str
    kind: str
    by: str
    began: float
    ended: float
    version: Version | None
    head: str | None


class Shown(NamedTuple):
    """What a client saw as the newest version of a match; `head` is the start of its hash."""

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
        self.commands: list[Done] = []
        self.looks: list[Shown] = []
        self.surprises: list[str] = []
        """What a client was told that it should never be told."""
        self.retries = 0
        self.replays = 0

    def did(self, command: Done) -> None:
        with self._lock:
            self.commands.append(command)

    def saw(self, look: Shown) -> None:
        with self._lock:
            self.looks.append(look)

    def wonder(self, surprise: str) -> None:
        with self._lock:
            self.surprises.append(surprise)

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
        """All that cannot be; empty if every promise was kept."""
        return [
            *self.surprises,
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
                yield f"I1: acknowledged and not there: {command}"

    def _doubled(self, stored: Stored) -> Iterator[str]:
        places = Counter((command.match, command.version) for command in self.commands if command.version is not None)
        yield from (f"I2: two commands at one place: {place}" for place, count in places.items() if count > 1)
        sent = Counter((command.match, command.kind, command.by) for command in self.commands)
        for match, events in stored.items():
            kinds = Counter((match, event.type, event.by) for event, _ in events)
            asked = {kind for _, kind, _ in sent}
            for key, count in kinds.items():
                if key[1] in asked and count > sent[key] and not key[2].startswith("bot:"):
                    yield f"I2: {key} stands there {count} times and was sent {sent[key]} times"

    def _out_of_order(self) -> Iterator[str]:
        latest: dict[str, float] = {}
        for command in sorted(self.commands, key=lambda one: one.version or 0):
            if command.version is None:
                continue
            if command.ended < latest.get(command.match, 0):
                yield f"order: ended before one began that has a lower version: {command}"
            latest[command.match] = max(latest.get(command.match, 0), command.began)

    def _gone(self, stored: Stored) -> Iterator[str]:
        newest: dict[tuple[str, str], Version] = {}
        for look in self.looks:  # a client's own in their order, since it looks at one thing at a time
            before = newest.get((look.client, look.match), 0)
            if look.version < before:
                yield f"I1: went back from version {before}: {look}"
            newest[look.client, look.match] = look.version
            found = stored.get(look.match, ())[look.version - 1 : look.version]
            if [hash_[:HASH_SHOWN] for _, hash_ in found] != [look.head]:
                yield f"I1: shown and not there: {look}"


def _gaps(stored: Stored) -> Iterator[str]:
    for match, events in stored.items():
        if [event.version for event, _ in events] != list(range(1, len(events) + 1)):
            yield f"I3: match {match} has a gap"
