"""The open streams of a process: how many there may be, and the loop that each of them runs.

No stream has a queue. A subscription knows what its client was sent last and asks for what came after; what many clients
follow is read and encoded once (`match_watch`), so that a slow client costs nobody memory.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Final, Protocol
from weakref import WeakValueDictionary

from events.feed import Feed, Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId
from service.errors import Refused
from service.observability import metrics
from service.repository.match_history import History
from service.subscriptions.frames import Reason
from service.subscriptions.match_watch import Ended, MatchWatch

HEARTBEAT: Final = 5.0
"""Seconds between two signs of life, each with a look at the token and at the log."""
MAX_AGE: Final = 15 * 60.0
"""Seconds."""
STREAMS_A_HOLDER: Final = 8
"""Open at once in one process, for a player, or for an address without a token."""
STREAMS_A_PROCESS: Final = 2000
GLANCE: Final = 1.0
"""Seconds after which a waiting stream notices that its client hung up, or that its server stops."""
_SHARED: Final = 1.0
"""Seconds. A read of the log that is no older answers the heartbeats of all streams."""
_SPREAD: Final = 0.382
"""Of a heartbeat. Multiples of the golden ratio fall evenly, so that no crowd that came at once beats at once."""


class Subscription(Protocol):
    """What one client follows, and how far it has come with it."""

    heartbeat: bytes

    def begin(self, waiter: Waiter) -> bytes:
        """The first frame; from now on the waiter collects the wake-ups of all that is followed."""
        ...

    def hear(self, news: Mapping[str, Wake]) -> None:
        """Note what there is to look at: each wake-up is good for one look."""
        ...

    def look_again(self, since: float) -> None:
        """Note that all is to be looked at, in reads that began at `since` (monotonic) or later: wake-ups may get lost."""
        ...

    def next_piece(self) -> bytes | None:
        """What is to be sent next; None once all that there was to look at was looked at.

        Raises:
            Ended: no more follows, for a reason that the client is told.
        """
        ...

    def end(self, reason: Reason) -> bytes:
        """The last frame."""
        ...


class Slot:
    """The right to one open stream or waiting request, until `release`."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release: Callable[[], None] | None = release

    def release(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()


class Streams:
    """The open streams of this process. Make it after a fork."""

    def __init__(self, history: History, feed: Feed, alive: Callable[[], bool]) -> None:
        """`alive` says whether the server still runs."""
        self.feed = feed
        self._history = history
        self._alive = alive
        self._lock = threading.Lock()
        self._watches: WeakValueDictionary[MatchId, MatchWatch] = WeakValueDictionary()
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

    def enter(self, holder: str) -> Slot:
        """A slot for one more stream of a holder: a player or an address.

        Raises:
            Refused: `too-many-streams`.
        """
        with self._lock:
            if self._holders[holder] >= STREAMS_A_HOLDER:
                raise Refused("too-many-streams", f"You have {STREAMS_A_HOLDER} open streams; close one first.")
            if self.open >= STREAMS_A_PROCESS:
                raise Refused("too-many-streams", "All streams of this server are taken; try again.")
            self._holders[holder] += 1
            metrics.STREAMS.set(self.open)
        return Slot(lambda: self._left(holder))

    def _left(self, holder: str) -> None:
        with self._lock:
            self._holders -= Counter([holder])
            metrics.STREAMS.set(self.open)

    def watch(self, match_id: MatchId) -> MatchWatch:
        """What all subscriptions to a match share, for as long as one of them keeps it."""
        with self._lock:
            found = self._watches.get(match_id)
            if found is None:
                found = self._watches[match_id] = MatchWatch(self._history, match_id)
            return found

    def run(
        self,
        subscription: Subscription,
        authorize: Callable[[], object],
        gone: Callable[[], bool] = lambda: False,
    ) -> Generator[bytes]:
        """All that a stream sends, heartbeats too, as long as its client is there. It needs no request any more.

        `authorize` raises Refused once the client's token is no longer valid. `gone` says that the client hung up.
        """
        with self._watched_over(gone) as waiter:
            yield subscription.begin(waiter)
            try:
                yield from self._pieces(subscription, waiter, authorize, gone)
            except Ended as ended:
                yield subscription.end(ended.reason)

    def _pieces(
        self, subscription: Subscription, waiter: Waiter, authorize: Callable[[], object], gone: Callable[[], bool]
    ) -> Iterator[bytes]:
        """What comes between the first frame and the last.

        Raises:
            Ended: no more follows, for a reason that the client is told.
        """
        born = time.monotonic()
        beat = born + HEARTBEAT * (1 - _SPREAD * (next(self._births) * 0.618 % 1))
        authorized = True
        while True:
            now = time.monotonic()
            if self.stopping:
                raise Ended("restart")
            if now - born >= MAX_AGE:
                raise Ended("max-age")
            if now >= beat:
                yield subscription.heartbeat
                beat = time.monotonic() + HEARTBEAT
                authorized = _holds(authorize)
                subscription.look_again(now - _SHARED)
            subscription.hear(waiter.take())
            if authorized and (piece := subscription.next_piece()) is not None:
                yield piece
            elif not waiter.wait(max(0.0, beat - time.monotonic())) and gone():
                return

    @contextmanager
    def _watched_over(self, gone: Callable[[], bool]) -> Iterator[Waiter]:
        """A stream's waiter, which is nudged once the client is gone, and when the server stops."""
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
                    waiter.nudge()


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
