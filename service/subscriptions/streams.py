"""The open streams of a process: their number, and the loop that each of them runs.

No stream has a queue, so a slow client needs no memory. A subscription knows the last event that was sent and reads the
events after it. Events that many clients follow are read and encoded once (`match_watch`).
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import compress, count, repeat
from typing import Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from events.feed import Feed, Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId
from service.errors import Refused
from service.observability import metrics
from service.repository.limits import Limits
from service.repository.match_history import History
from service.subscriptions.frames import Reason
from service.subscriptions.match_watch import MatchWatch, StreamEnded

HEARTBEAT_S: Final = 5.0
"""Seconds between two heartbeats. Each heartbeat also checks the token and reads the log."""
MAX_AGE_S: Final = 15 * 60.0
"""A stream that is older than this is ended; its client connects again."""
MAX_STREAMS_PER_HOLDER: Final = 8
"""Open streams of one player, or of one address without a token, in all API processes together."""
MAX_STREAMS_PER_PROCESS: Final = 2000
HANG_UP_CHECK_S: Final = 1.0
"""Seconds between two checks whether clients have hung up or the server stops."""
_SHARED_READ_S: Final = 1.0
"""Age in seconds up to which a read of the log serves the heartbeats of all streams."""
_HEARTBEAT_SPREAD: Final = 0.382
"""The share of a heartbeat by which first heartbeats differ: streams that began together do not all read together.

Multiples of the golden ratio, modulo 1, are spread evenly.
"""


class Subscription(Protocol):
    """The matches that one client follows, and its progress in them."""

    heartbeat: bytes

    def begin(self, waiter: Waiter) -> bytes:
        """The first frame. From now on the waiter collects the wake-ups of everything that is followed."""
        ...

    def note_wakes(self, news: Mapping[str, Wake]) -> None:
        """Note that matches may have changed. Each wake-up leads to one read."""
        ...

    def request_check(self, since: float) -> None:
        """Request a check of all matches, as wake-ups may be lost. Reads before `since` (monotonic) do not count."""
        ...

    def next_piece(self) -> bytes | None:
        """The next frames to send; None if there are none before the next wake-up or check.

        Raises:
            StreamEnded: no more frames follow.
        """
        ...

    def end(self, reason: Reason) -> bytes:
        """The last frame."""
        ...


HungUp: TypeAlias = Callable[[], bool]
"""Whether the client of a stream closed its connection."""


def _each(checks: Sequence[HungUp]) -> Sequence[bool]:
    return [hung_up() for hung_up in checks]


class Slot:
    """The right to one open stream or waiting request, until `release`."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release: Callable[[], None] | None = release

    def release(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()


class Streams:
    """The open streams of this process. Create it after a fork."""

    def __init__(
        self,
        history: History,
        limits: Limits,
        feed: Feed,
        alive: Callable[[], bool],
        have_hung_up: Callable[[Sequence[HungUp]], Sequence[bool]] = _each,
    ) -> None:
        """`alive` returns whether the server still runs. `have_hung_up` returns the results of many checks at once."""
        self.feed = feed
        self._history = history
        self._limits = limits
        self._alive = alive
        self._have_hung_up = have_hung_up
        self._lock = threading.Lock()
        self._watches: WeakValueDictionary[MatchId, MatchWatch] = WeakValueDictionary()
        self.open = 0
        """How many slots are taken."""
        self._stream_numbers = count()
        self._waiters: dict[Waiter, HungUp] = {}
        self._hang_up_checker: threading.Thread | None = None

    @property
    def stopping(self) -> bool:
        return self.feed.closed or not self._alive()

    def enter(self, holder: str) -> Slot:
        """A slot for one more stream of a holder: a player or an address.

        Raises:
            Refused: `too-many-streams`.
        """
        with self._lock:
            if self.open >= MAX_STREAMS_PER_PROCESS:
                raise Refused("too-many-streams", "All streams of this server are taken; try again.")
            self._count(1)
        stream = None
        try:
            stream = self._limits.enter(holder, MAX_STREAMS_PER_HOLDER)
        finally:
            if stream is None:
                self._leave(None)
        if stream is None:
            raise Refused("too-many-streams", f"You have {MAX_STREAMS_PER_HOLDER} open streams; close one first.")
        return Slot(partial(self._leave, stream))

    def _leave(self, stream: str | None) -> None:
        with self._lock:
            self._count(-1)
        if stream is not None:
            self._limits.leave(stream)

    def _count(self, change: int) -> None:
        self.open += change
        metrics.STREAMS.set(self.open)

    def watch(self, match_id: MatchId) -> MatchWatch:
        """The watch that all subscriptions to a match share. It exists while one of them references it."""
        with self._lock:
            found = self._watches.get(match_id)
            if found is None:
                found = self._watches[match_id] = MatchWatch(self._history, match_id)
            return found

    def run(
        self,
        subscription: Subscription,
        authorize: Callable[[], object],
        hung_up: HungUp = lambda: False,
    ) -> Generator[bytes]:
        """All frames and heartbeats of a stream, until it ends or its client hangs up. It needs no request context.

        `authorize` raises Refused once the client's token is no longer valid. `hung_up` returns whether the client
        hung up.
        """
        with self._registered_waiter(hung_up) as waiter:
            yield subscription.begin(waiter)
            try:
                yield from self._pieces(subscription, waiter, authorize, hung_up)
            except StreamEnded as ended:
                yield subscription.end(ended.reason)

    def _pieces(
        self, subscription: Subscription, waiter: Waiter, authorize: Callable[[], object], hung_up: HungUp
    ) -> Iterator[bytes]:
        """All frames and heartbeats between the first frame and the last.

        Raises:
            StreamEnded: the last frame follows.
        """
        began = time.monotonic()
        next_heartbeat = began + HEARTBEAT_S * (1 - _HEARTBEAT_SPREAD * (next(self._stream_numbers) * 0.618 % 1))
        is_authorized = True
        while True:
            now = time.monotonic()
            if self.stopping:
                raise StreamEnded("restart")
            if now - began >= MAX_AGE_S:
                raise StreamEnded("max-age")
            if now >= next_heartbeat:
                yield subscription.heartbeat
                next_heartbeat = time.monotonic() + HEARTBEAT_S
                is_authorized = _is_authorized(authorize)
                subscription.request_check(now - _SHARED_READ_S)
            if wakes := waiter.take():
                subscription.note_wakes(wakes)
            if is_authorized and (piece := subscription.next_piece()) is not None:
                yield piece
            elif not waiter.wait(max(0.0, next_heartbeat - time.monotonic())) and hung_up():
                return

    @contextmanager
    def _registered_waiter(self, hung_up: HungUp) -> Iterator[Waiter]:
        """The waiter of a stream. It is interrupted when the client hangs up or the server stops."""
        with self.feed.waiter() as waiter:
            with self._lock:
                self._waiters[waiter] = hung_up
                if self._hang_up_checker is None:
                    self._hang_up_checker = threading.Thread(target=self._check_hang_ups, name="hang-ups", daemon=True)
                    self._hang_up_checker.start()
            try:
                yield waiter
            finally:
                with self._lock:
                    del self._waiters[waiter]

    def _check_hang_ups(self) -> None:
        """Check all streams in one thread while there are any. Checks in each stream would cost much more CPU time."""
        while True:
            time.sleep(HANG_UP_CHECK_S)
            with self._lock:
                waiters, checks = list(self._waiters), list(self._waiters.values())
                if not waiters:
                    self._hang_up_checker = None
                    return
            to_interrupt = repeat(True) if self.stopping else self._have_hung_up(checks)
            for waiter in compress(waiters, to_interrupt):
                waiter.interrupt()


def _is_authorized(authorize: Callable[[], object]) -> bool:
    """Whether the token is still valid; False also if that is unknown, because the log does not answer.

    Raises:
        StreamEnded: the token was revoked.
    """
    try:
        authorize()
    except LogUnavailable:
        return False
    except Refused:
        raise StreamEnded("token-revoked") from None
    return True
