"""A log in this process's memory: for local play, and as the model that the Redis log is tested against."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from events.due import Due, DueTimes
from events.log import GENESIS_VERSION, Append, Appended, Conflict, Reused, Seen, Tail, check
from events.record import Head, MatchId, Version, digest


@dataclass(slots=True)
class _Match:
    events: list[bytes] = field(default_factory=list)
    commands: dict[str, Seen] = field(default_factory=dict)
    seed: bytes | None = None
    head: Head | None = None


def _ignore(_match: MatchId, _version: Version) -> None:
    pass


class MemoryLog:
    """Implements `Log` for the lifetime of the process; safe to share between threads.

    `wake` is called after each append, in order, with the match and its new version. It must not call the log.
    """

    def __init__(self, wake: Callable[[MatchId, Version], None] = _ignore) -> None:
        self._lock = Lock()
        self._wake = wake
        self._matches: dict[MatchId, _Match] = {}
        self._due: dict[tuple[str, MatchId], int] = {}
        self._snapshots: dict[MatchId, dict[Version, bytes]] = {}

    def append(self, append: Append) -> Appended | Conflict | Reused:
        check(append)
        with self._lock:
            match = self._matches.get(append.match) or _Match()
            if seen := match.commands.get(append.command):
                if seen.digest != append.digest:
                    return Reused(seen.version)
                return Appended(seen.version, replayed=True)
            if not _follows(match.head, append.expected):
                return Conflict(match.head)
            version = append.expected.version + len(append.events)
            match.events.extend(append.events)
            match.head = Head(version, digest(append.events[-1]))
            match.commands[append.command] = Seen(version, append.digest)
            if append.seed is not None:
                match.seed = append.seed
            self._matches[append.match] = match
            known = {kind: at for kind, at in append.due_if_any.items() if (kind, append.match) in self._due}
            self._replace_due(append.match, {**append.due, **known})
            if append.snapshot is not None:
                self._replace_snapshots(append.match, append.expected.version, None, {version: append.snapshot})
            self._wake(append.match, version)
            return Appended(version, replayed=False)

    def read(
        self, match: MatchId, *, first: Version | None = 1, last: Version | None = None, command: str | None = None
    ) -> Tail:
        with self._lock:
            return self._tail(match, first, last, command)

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        with self._lock:
            return {match: self._tail(match, first, None, None) for match, first in firsts.items()}

    def commands(self, match: MatchId, prefix: str) -> Mapping[str, Seen]:
        with self._lock:
            known = self._matches.get(match) or _Match()
            return {command: seen for command, seen in known.commands.items() if command.startswith(prefix)}

    def save_snapshots(self, match: MatchId, after: Version, snapshots: Mapping[Version, bytes]) -> None:
        with self._lock:
            self._replace_snapshots(match, after, max(snapshots), snapshots)

    def seed(self, match: MatchId) -> bytes | None:
        with self._lock:
            return known.seed if (known := self._matches.get(match)) else None

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        with self._lock:
            claimed = self._entries(kind, until=now)[:limit]
            self._due.update({(kind, due.match): now + lease for due in claimed})
            return claimed

    def overdue(self, kind: str, now: int, limit: int) -> Sequence[Due]:
        with self._lock:
            return self._entries(kind, until=now)[:limit]

    def scheduled(self, kind: str) -> Sequence[Due]:
        with self._lock:
            return self._entries(kind)

    def next_due(self, kinds: Iterable[str]) -> int | None:
        wanted = set(kinds)
        with self._lock:
            return min((at for (kind, _), at in self._due.items() if kind in wanted), default=None)

    def count_due(self, kind: str, until: int) -> int:
        with self._lock:
            return len(self._entries(kind, until))

    def rearm(self, match: MatchId, version: Version, due: DueTimes) -> bool:
        with self._lock:
            known = self._matches.get(match)
            if known is None or known.head is None or known.head.version != version:
                return False
            self._replace_due(match, due)
            return True

    def set_due(self, match: MatchId, due: DueTimes) -> None:
        """As `rearm`, but whatever the version is, and also without a match."""
        with self._lock:
            self._replace_due(match, due)

    def _tail(self, match: MatchId, first: Version | None, last: Version | None, command: str | None) -> Tail:
        known = self._matches.get(match) or _Match()
        seen = None if command is None else known.commands.get(command)
        snapshot = None
        if first is None:
            saved = self._snapshots.get(match, {})
            found = {at: snapshot for at, snapshot in saved.items() if last is None or at <= last}
            first = max(found, default=1)
            snapshot = found.get(first)
        return Tail(tuple(known.events[max(first, 1) - 1 : last]), seen, snapshot)

    def _replace_snapshots(
        self, match: MatchId, after: Version, last: Version | None, new: Mapping[Version, bytes]
    ) -> None:
        """Replace the snapshots after version `after` and up to `last` (None: all later ones) by new ones."""
        known = self._snapshots.get(match, {}).items()
        kept = {at: snapshot for at, snapshot in known if at <= after or (last is not None and at > last)}
        self._snapshots[match] = kept | dict(new)

    def _entries(self, kind: str, until: int | None = None) -> tuple[Due, ...]:
        entries = (
            Due(match, k, at) for (k, match), at in self._due.items() if k == kind and (until is None or at <= until)
        )
        return tuple(sorted(entries, key=lambda due: (due.at, due.match)))

    def _replace_due(self, match: MatchId, due: DueTimes) -> None:
        for kind, at in due.items():
            if at is None:
                self._due.pop((kind, match), None)
            else:
                self._due[kind, match] = at


def _follows(head: Head | None, expected: Head) -> bool:
    """Whether an append that expects `expected` fits a match with this head (None: the match does not exist)."""
    return expected.version == GENESIS_VERSION if head is None else expected == head
