"""Live streams of a match's events: server-sent events (WHATWG HTML 9.2) and NDJSON, each event exactly once, in order.

No stream has a queue. Each knows the last event that it sent and asks for what came after; all streams of a match in a
process share one read of the log and the bytes that they send, so that a slow client costs nobody memory.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from api.frames import Form, StreamEnd, StreamHello
from api.watch import Ended, Watch
from events.log import LogUnavailable
from events.record import Head, MatchId, Version
from service import metrics
from service.errors import Refused
from service.games.visibility import Seat
from service.history import History
from service.match import Match
from service.redaction import viewer_of

if TYPE_CHECKING:
    # It imports redis, which must not come before gevent's patches (api.server).
    from events.feed import Feed, Waiter

HEARTBEAT: Final = 5.0
"""Seconds between two signs of life, each with a look at the token and at the log."""
MAX_AGE: Final = 15 * 60.0
STREAMS_A_HOLDER: Final = 8
"""Open at once in one process, for a player, or for an address without a token."""
STREAMS_A_PROCESS: Final = 2000
GLANCE: Final = 1.0
"""Seconds after which a waiting stream sees that its client hung up, or that its server was told to stop."""
_SHARED: Final = 1.0
"""Seconds for which a read of the log, made at one stream's heartbeat, is news enough for the others' heartbeats."""
_PAUSE: Final = 0.25
"""Seconds before the next look after more than one wake-up in a row that brought nothing."""
_SPREAD: Final = 0.382
"""Of a heartbeat. Multiples of the golden ratio fall evenly, so that no crowd that came at once beats at once."""


class News(NamedTuple):
    """What a stream sends next, and whether more can be told without waiting."""

    body: bytes
    more: bool


class Place:
    """One of a process's open streams, or of its waiting requests, counted until `leave`."""

    def __init__(self, streams: "Streams", holder: str, match_id: MatchId | None) -> None:
        self._match_id = match_id
        self._streams = streams
        self._holder: str | None = holder

    def leave(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            self._streams.left(holder, self._match_id)


class Streams:
    """The open streams of this process. Make it after a fork."""

    def __init__(self, history: History, feed: "Feed", alive: Callable[[], bool]) -> None:
        self.feed = feed
        self._history = history
        self._alive = alive
        self._lock = threading.Lock()
        self._watches: dict[MatchId, Watch] = {}
        self._holders: Counter[str] = Counter()
        self._births = count()
        self._waiters: dict[Waiter, Callable[[], bool]] = {}
        self._watchman: threading.Thread | None = None

    @property
    def open(self) -> int:
        return self._holders.total()

    @property
    def stopping(self) -> bool:
        return self.feed.closed or not self._alive()

    def enter(self, match_id: MatchId | None, holder: str) -> Place:
        """A place for one more stream of a holder, who is a player or an address; of no match in particular with None.

        Raises:
            Refused: `too-many-streams`.
        """
        with self._lock:
            if self._holders[holder] >= STREAMS_A_HOLDER:
                raise Refused("too-many-streams", f"You have {STREAMS_A_HOLDER} open streams; close one first.")
            if self.open >= STREAMS_A_PROCESS:
                raise Refused("too-many-streams", "All streams of this server are taken; try again.")
            self._holders[holder] += 1
            if match_id is not None:
                self._watches.setdefault(match_id, Watch(self._history, match_id)).streams += 1
            metrics.STREAMS.set(self.open)
            return Place(self, holder, match_id)

    def left(self, holder: str, match_id: MatchId | None) -> None:
        with self._lock:
            self._holders -= Counter([holder])
            metrics.STREAMS.set(self.open)
            if match_id is not None:
                watch = self._watches[match_id]
                watch.streams -= 1
                if not watch.streams:
                    del self._watches[match_id]

    def follow(
        self,
        form: Form,
        *,
        match: Match,
        after: Head,
        player: str | None,
        seat: Seat | None,
        now: int,
        language: str | None = None,
        authorize: Callable[[], object],
        gone: Callable[[], bool] = lambda: False,
    ) -> Iterator[bytes]:
        """What a stream sends, from the event after `after` to its end frame; it has a place, and needs no request any more.

        `player` looks from `seat`, as `viewer_of` takes them, with the rights of the moment in which an event is sent.
        `now` is the time that it begins, `language` that of the events' texts, None for none.
        `authorize` raises Refused once the player's token is no longer valid. `gone` says that the client hung up.
        """
        hello = StreamHello(
            match=match.id,
            version=match.head.version,
            head=match.head.hash,
            status=match.status,
            viewer=viewer_of(match, player, seat),
            now=now,
            heartbeat_ms=int(HEARTBEAT * 1000),
        )
        # Not a generator itself: that would keep the match as it is now in memory for as long as the stream lasts.
        return _Stream(self, self._watches[match.id], form, after, player, seat, language).run(hello, authorize, gone)

    def live(
        self,
        heartbeat: bytes,
        news: Callable[[float], News | None],
        known: Callable[[], Mapping[str, Version]],
        authorize: Callable[[], object],
        gone: Callable[[], bool],
    ) -> Iterator[bytes]:
        """News and heartbeats, as long as the client is there.

        `news` gives what is new since a moment (monotonic), None if nothing is; `known` says which news to wait for.

        Raises:
            Ended: the client is to be told why no more comes.
        """
        with self._watched_over(gone) as waiter:
            since = born = time.monotonic()
            beat = born + HEARTBEAT * (1 - _SPREAD * (next(self._births) * 0.618 % 1))
            authorized, fruitless = True, 0
            while True:
                now = time.monotonic()
                if self.stopping:
                    raise Ended("restart")
                if now - born >= MAX_AGE:
                    raise Ended("max-age")
                if now >= beat:
                    yield heartbeat
                    beat = time.monotonic() + HEARTBEAT
                    since = max(since, now - _SHARED)
                    authorized = _holds(authorize)
                told = news(since) if authorized else None
                if told is not None:
                    yield told.body
                    fruitless = 0
                    if told.more:
                        continue
                elif fruitless > 1:
                    # The log does not answer, or the wake-ups were no true ones: looking again at once would be a loop.
                    time.sleep(_PAUSE)
                heard = waiter.wait(known(), max(0.0, beat - time.monotonic()))
                if heard is None:
                    fruitless = 0
                    if gone():
                        return
                else:
                    fruitless += 1
                    since = max(since, heard)

    @contextmanager
    def _watched_over(self, gone: Callable[[], bool]) -> "Iterator[Waiter]":
        """A stream's waiter, which is woken without news once its client is gone, and when the server stops."""
        with self.feed.waiter() as waiter:
            with self._lock:
                self._waiters[waiter] = gone
                if self._watchman is None:
                    self._watchman = threading.Thread(target=self._keep_watch, name="watchman", daemon=True)
                    self._watchman.start()
            try:
                yield waiter
            finally:
                with self._lock:
                    del self._waiters[waiter]

    def _keep_watch(self) -> None:
        """One thread for all streams, as long as there are any: were each to look for itself, they would do little else."""
        while True:
            time.sleep(GLANCE)
            with self._lock:
                waiters = list(self._waiters.items())
                if not waiters:
                    self._watchman = None
                    return
            for waiter, gone in waiters:
                if self.stopping or gone():
                    waiter.wake(None)


class _Stream:
    """One client's way through a match; `sent` is the last event that it was told."""

    def __init__(
        self,
        streams: Streams,
        watch: Watch,
        form: Form,
        sent: Head,
        player: str | None,
        seat: Seat | None,
        language: str | None,
    ) -> None:
        self._sent = sent
        self._streams = streams
        self._watch = watch
        self._form = form
        self._player = player
        self._seat = seat
        self._language = language

    def run(self, hello: StreamHello, authorize: Callable[[], object], gone: Callable[[], bool]) -> Iterator[bytes]:
        yield self._form.hello(hello)
        try:
            yield from self._streams.live(self._form.heartbeat, self._news, self._known, authorize, gone)
        except Ended as ended:
            yield self._form.end(StreamEnd(ended.reason, self._sent.version, self._sent.hash))

    def _known(self) -> Mapping[str, Version]:
        return {self._watch.match_id: self._sent.version}

    def _news(self, since: float) -> News | None:
        """The next events, None if there are none yet.

        Raises:
            Ended: the match is over, or not this client's to see, or no longer the one that it was told of.
        """
        match = self._watch.newest(since)
        if match is None:
            return None
        try:
            viewer = viewer_of(match, self._player, self._seat)
        except Refused as error:
            raise Ended("not-your-seat" if error.code == "not-your-seat" else "match-not-found") from None
        if self._sent == match.head:
            if match.server_seed is not None:
                raise Ended("finished" if match.status == "finished" else "aborted")
            return None
        if self._sent.version >= match.head.version:
            raise Ended("history-diverged")
        chunk = self._watch.after(match, viewer, self._sent.version, self._form, self._language)
        if chunk is None:
            return None
        if chunk.follows != self._sent.hash:
            raise Ended("history-diverged")
        self._sent = chunk.last
        return News(chunk.body, more=chunk.last != match.head or match.server_seed is not None)


def _holds(authorize: Callable[[], object]) -> bool:
    """Whether the token is still good; False if nobody knows, for the log does not answer.

    Raises:
        Ended: it was revoked.
    """
    try:
        authorize()
    except LogUnavailable:
        return False
    except Refused:
        raise Ended("token-revoked") from None
    return True
