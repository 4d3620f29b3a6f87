"""Waiting for news of a match: one listener a process, any number of waiters. Only plain threading, so it runs on gevent.

Each match has a channel of its own, and a process hears those of the matches that somebody waits for in it: what goes on
in all others costs it nothing. A wake-up is a hint that may get lost: a waiter reads the log at every heartbeat anyway.
"""

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import inf
from threading import Event, Lock, Thread
from types import MappingProxyType
from typing import Protocol, Self

from redis import Redis, RedisCluster
from redis.client import PubSub
from redis.exceptions import RedisClusterException, RedisError

from events.record import MatchId, Version
from events.redis_log import WAKE_CHANNEL

_log = logging.getLogger("moonstone.feed")

_REMEMBERED = 4096
_KEPT = 30.0
"""Seconds for which a channel is heard after the last wait for it."""
_POLL = 0.25
_PAUSE = 0.5


class Hearer(Protocol):
    """Takes the messages of one channel, in the listener's thread: quickly, and without raising."""

    def hear(self, message: bytes) -> None: ...

    def lapse(self) -> None:
        """Messages may have been missed until now; called before the first one too."""
        ...


class Waiter:
    """One who waits for news of some matches again and again: a context, from before the first read of any of them."""

    def __init__(self, feed: "Feed") -> None:
        self._feed = feed
        self._born = time.monotonic()
        self._woken = Event()
        self._since: float | None = None
        self.matches: frozenset[MatchId] = frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.enter(self, frozenset())

    def wait(self, known: Mapping[MatchId, Version], timeout: float) -> float | None:
        """Wait until a match may have got past its `known` version: the moment (monotonic) since which a read may tell so.

        At once if it has already, and when a match begins to be heard, for messages may have been missed.
        None after `timeout` seconds without news, and once the feed is closed.
        """
        self._since = None
        self._woken.clear()  # before the look at what is known, so that no wake-up falls between
        if known.keys() != self.matches:
            heard = self._feed.enter(self, frozenset(known))
            if heard > self._born:
                self._born = heard
                return heard
        if self._feed.closed:
            return None
        told = self._feed.past(known)
        if told is None:
            self._woken.wait(timeout)
            return self._since
        return told

    def wake(self, since: float | None) -> None:
        self._since = since
        self._woken.set()


class Feed:
    """Where streams wait for new events of their matches; a listener that is attached to it brings them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiters: dict[MatchId, set[Waiter]] = {}
        # Remembered, so that an event between a waiter's last read and its wait is no lost one.
        self._newest: OrderedDict[MatchId, tuple[Version, float]] = OrderedDict()
        self._closed = False
        self._ring: Callable[[], object] | None = None
        self._asked: list[MatchId] = []
        self._left: dict[MatchId, float] = {}
        # By match, since when; infinity until its channel is open.
        self._heard: dict[MatchId, float] = {}

    @property
    def closed(self) -> bool:
        return self._closed

    def waiter(self) -> Waiter:
        return Waiter(self)

    def wait(self, known: Mapping[MatchId, Version], timeout: float) -> float | None:
        """As a `Waiter` waits, once."""
        with Waiter(self) as waiter:
            return waiter.wait(known, timeout)

    def enter(self, waiter: Waiter, matches: frozenset[MatchId]) -> float:
        """Let a waiter wait for these matches and no others: the moment since which all are heard that are heard at all."""
        now = time.monotonic()
        with self._lock:
            for match in waiter.matches - matches:
                self._waiters[match].discard(waiter)
                if not self._waiters[match]:
                    del self._waiters[match]
                    self._left[match] = now
            for match in matches - waiter.matches:
                self._waiters.setdefault(match, set()).add(waiter)
                self._left.pop(match, None)
            waiter.matches = matches
            fresh = [] if self._ring is None else [match for match in matches if match not in self._heard]
            self._heard.update(dict.fromkeys(fresh, inf))
            self._asked += fresh
            opened = [since for match in matches if (since := self._heard.get(match, 0.0)) != inf]
        if self._ring is not None and fresh:
            self._ring()
        return max(opened, default=0.0)

    def past(self, known: Mapping[MatchId, Version]) -> float | None:
        """When it was told that one of these matches is past its version; None if no message says so."""
        for match, version in known.items():
            newest, since = self._newest.get(match, (0, 0.0))
            if newest > version:
                return since
        return None

    def newest(self, match: MatchId) -> Version:
        """The version that was told last of a match, as far as it is remembered; else 0."""
        return self._newest.get(match, (0, 0.0))[0]

    def hears(self, match: MatchId) -> bool:
        """Whether what happens in a match from now on is told."""
        return self._ring is None or self._heard.get(match, inf) != inf

    def wake(self, match: MatchId, version: Version) -> None:
        """Tell that `match` is at `version`; what is told last counts."""
        now = time.monotonic()
        with self._lock:
            self._newest[match] = version, now
            self._newest.move_to_end(match)
            if len(self._newest) > _REMEMBERED:
                self._newest.popitem(last=False)
            self._wake([match], now)

    def attach(self, ring: Callable[[], object]) -> None:
        """From now on a listener brings the news; `ring` tells it that `asked` has something for it."""
        self._ring = ring

    def asked(self) -> list[MatchId]:
        """The matches that are to be heard from now on, each told once."""
        with self._lock:
            asked, self._asked = self._asked, []
            return asked

    def left(self) -> list[MatchId]:
        """The matches that nobody has waited for in a while; they need not be heard any more."""
        before = time.monotonic() - _KEPT
        with self._lock:
            left = [match for match, last in self._left.items() if last <= before]
            for match in left:
                del self._left[match]
                self._heard.pop(match, None)
                self._newest.pop(match, None)
            return left

    def hear(self, match: MatchId, message: bytes) -> None:
        with suppress(ValueError):  # anyone who reaches the server may publish anything
            self.wake(match, int(message))

    def hearing(self, match: MatchId) -> None:
        """What happens in a match is told from now on; until now it may have been missed."""
        now = time.monotonic()
        with self._lock:
            if match in self._heard:
                self._heard[match] = now
            self._newest.pop(match, None)  # a store that lost its past must not wake its waiters for ever
            self._wake([match], now)

    def lapse(self) -> None:
        """Nothing is told any more until `asked` is heard again."""
        with self._lock:
            self._newest.clear()
            self._heard = dict.fromkeys(self._heard.keys() | self._waiters.keys(), inf) if self._ring else {}
            self._asked = list(self._heard)
            self._wake(self._waiters, time.monotonic())

    def close(self) -> None:
        """End all waits, now and later."""
        with self._lock:
            self._closed = True
            self._wake(self._waiters, None)

    def _wake(self, matches: Iterable[MatchId], since: float | None) -> None:
        for match in matches:
            for waiter in self._waiters.get(match, ()):
                waiter.wake(since)


class Listener:
    """Brings the messages of some channels to their hearers, from a thread of its own, across restarts of the server.

    It holds one connection of the client's pool. Make it after a fork.
    """

    def __init__(
        self,
        client: Redis | RedisCluster,
        hearers: Mapping[str, Hearer] = MappingProxyType({}),
        feed: Feed | None = None,
    ) -> None:
        self._client = client
        self._hearers = hearers
        self._feed = feed
        self._bell = f"bell:{secrets.token_hex(8)}"
        self._looked = time.monotonic()
        self._stopped = Event()
        if feed is not None:
            feed.attach(self._ring)
        self._thread = Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; takes up to the client's time-outs where the server does not answer."""
        self._stopped.set()
        self._thread.join()

    def _ring(self) -> None:
        """Wake the thread, which waits for messages: only it may use its connection. Where that fails it looks soon anyway."""
        with suppress(RedisError, RedisClusterException):
            self._client.publish(self._bell, b"")

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (RedisError, RedisClusterException):
                self._stopped.wait(_PAUSE)
            except Exception:  # noqa: BLE001  (all streams depend on this thread; subscribed again, they look anew)
                _log.exception("news were not understood; listening anew")
                self._stopped.wait(_PAUSE)

    def _listen(self) -> None:
        subscription: PubSub = self._client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        with subscription:
            subscription.subscribe(self._bell, *self._hearers)
            if self._feed is not None:
                self._feed.lapse()
            while not self._stopped.is_set():
                if self._feed is not None:
                    self._tune(subscription, self._feed)
                message = subscription.get_message(timeout=_POLL)
                if message is not None:
                    self._pass_on(message["channel"].decode(), message["type"], message["data"])

    def _tune(self, subscription: PubSub, feed: Feed) -> None:
        if asked := feed.asked():
            subscription.subscribe(*(WAKE_CHANNEL + match for match in asked))
        if time.monotonic() - self._looked > _KEPT / 3:
            self._looked = time.monotonic()
            if left := feed.left():
                subscription.unsubscribe(*(WAKE_CHANNEL + match for match in left))  # type: ignore[no-untyped-call]

    def _pass_on(self, channel: str, kind: str, message: bytes) -> None:
        # redis-py subscribes again by itself on a new connection.
        if (hearer := self._hearers.get(channel)) is not None:
            if kind == "subscribe":
                hearer.lapse()
            else:
                hearer.hear(message)
        elif self._feed is not None and channel.startswith(WAKE_CHANNEL):
            match = channel.removeprefix(WAKE_CHANNEL)
            if kind == "subscribe":
                self._feed.hearing(match)
            elif kind == "message":
                self._feed.hear(match, message)
