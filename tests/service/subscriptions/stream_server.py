"""Use cases in memory, and the streams of one process that follow their matches."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import msgspec
import pytest

from events.chain import genesis
from events.feed import Feed, Waiter
from events.log import LogUnavailable, Tail
from events.memory_log import MemoryLog
from events.record import Head, MatchId, Version
from service.adapters.memory import local_ports
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.repository.match_history import History
from service.repository.ports import Player, Ports
from service.subscriptions.frames import NDJSON, Form
from service.subscriptions.match_stream import MatchSubscription
from service.subscriptions.situation import NOTHING, Include
from service.subscriptions.streams import Streams
from service.usecases import accounts
from tests.api.table import Table

HEARTBEAT_S = 0.05


class WatchedLog(MemoryLog):
    """Counts reads, which may take time or fail."""

    def __init__(self, wake: Callable[[MatchId, Version], None]) -> None:
        super().__init__(wake)
        self.reads = 0
        self.seconds = 0.0
        self.fails: Callable[[int | None], bool] = lambda _: False
        """Whether a read up to a version (None: the newest) fails."""

    def read(
        self, match: MatchId, *, first: int | None = 1, last: int | None = None, command: str | None = None
    ) -> Tail:
        self.reads += 1
        time.sleep(self.seconds)
        if self.fails(last):
            raise LogUnavailable("unavailable")
        return super().read(match, first=first, last=last, command=command)

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        self.reads += 1
        if self.fails(None):
            raise LogUnavailable("unavailable")
        return super().read_each(firsts)


class StreamServer:
    """Use cases in memory, and the streams of one process that follow their matches."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.drops_wakes = False
        self.alive = True
        self.log = WatchedLog(self.wake)
        self.ports: Ports = local_ports(GAMES, log=self.log)
        self.streams = Streams(self.ports.history, self.ports.limits, self.feed, lambda: self.alive)
        log = MemoryLog()
        log.__dict__ = self.log.__dict__
        self.other_process: Ports = replace(self.ports, log=log, history=History(log, GAMES, self.ports.secret))
        """The use cases of another process on the same log. Its reads are not counted."""

    def wake(self, match: MatchId, version: Version) -> None:
        if not self.drops_wakes:
            self.feed.wake(match, version)

    def follow(
        self,
        match_id: MatchId,
        *,
        player: Player | None = None,
        token: str = "",
        after: Head | None = None,
        form: Form = NDJSON,
        include: Include = NOTHING,
    ) -> Iterator[bytes]:
        match, _ = self.ports.history.newest(match_id)
        subscription = MatchSubscription(
            self.streams.watch(match_id),
            form,
            match=match,
            sent=after or genesis(match_id, match.created.game, match.created.ruleset)[1],
            player=player.id if player else None,
            seat=None,
            now=self.ports.now(),
            include=include,
        )
        authorize = partial(accounts.authenticate, self.ports, token) if player else lambda: None
        stream = self.streams.run(subscription, authorize)
        return in_time(stream)

    def expected(self, table: Table, viewer: Viewer) -> list[bytes]:
        match, _ = self.ports.history.newest(table.match_id)
        return [msgspec.json.encode(event) for event in self.ports.history.events(match, viewer, 0, 10_000)]


def idle_waiters(monkeypatch: pytest.MonkeyPatch) -> set[Waiter]:
    """The set of waiters that wait at the moment."""
    waiting: set[Waiter] = set()
    wait = Waiter.wait

    def noted(waiter: Waiter, timeout: float) -> bool:
        waiting.add(waiter)
        try:
            return wait(waiter, timeout)
        finally:
            waiting.discard(waiter)

    monkeypatch.setattr(Waiter, "wait", noted)
    return waiting


def in_time(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The stream; it fails after a minute."""
    deadline = time.monotonic() + 60
    for piece in stream:
        assert time.monotonic() < deadline
        yield piece


def lines(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The events and the end of an NDJSON stream, without its hello and its heartbeats."""
    for piece in stream:
        yield from (line for line in piece.split(b"\n") if line and not line.startswith(b'{"type":"hello"'))


def end(stream: Iterator[bytes]) -> str:
    """The reason in the end frame, which must be the next frame."""
    found = msgspec.json.decode(next(lines(stream)))
    assert found["type"] == "end"
    assert list(stream) == []
    return str(found["reason"])


def up_to_date(stream: Iterator[bytes], head: Head) -> Iterator[bytes]:
    """The stream, after it has sent the event at `head`."""
    for line in lines(stream):
        if msgspec.json.decode(line)["version"] == head.version:
            return stream
    raise AssertionError("the stream ended")
