"""Waiting for new events of matches: one feed per process, any number of waiters. Plain threading, so it runs on gevent.

Each match has a pub/sub channel of its own. A process subscribes only to the channels of matches that have a waiter in
this process, so other matches cost it nothing. A wake-up is only a hint. It may be lost, so a stream also reads the log at
every heartbeat. It may be wrong, so each wake-up leads to one read of the log and no more.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import inf
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from events.record import MatchId, Version

UNSUBSCRIBE_AFTER_S: float = 30.0
"""How long a process stays subscribed to a match after its last waiter left."""


class Wake(NamedTuple):
    """A wake-up: the version that a match is reported to have reached, or None if messages may have been missed.

    `at` is the time of the report (monotonic, seconds): a read of the log that began then or later settles it.
    """

    version: Version | None
    at: float

    def may_exceed(self, known: Version) -> bool:
        """Whether the match may have a later version than `known`."""
        return self.version is None or self.version > known

    def merged_with(self, later: "Wake") -> "Wake":
        """One wake-up that stands for this one and a later one."""
        if self.version is None or later.version is None:
            return Wake(None, later.at)
        return Wake(max(self.version, later.version), later.at)


_NO_WAKES: Final[Mapping[MatchId, Wake]] = MappingProxyType({})


class Waiter:
    """Collects the wake-ups of some matches, merged per match. A context manager; misses nothing after `follow`."""

    def __init__(self, feed: "Feed") -> None:
        self._feed = feed
        self._woken = threading.Event()
        self.matches: frozenset[MatchId] = frozenset()
        self.wakes: dict[MatchId, Wake] = {}
        """Collected and not yet taken; guarded by the feed's lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.set_matches(self, frozenset())

    def follow(self, matches: Iterable[MatchId]) -> None:
        """Collect the wake-ups of these matches, and no longer of others.

        If the process is not yet subscribed to a match, the waiter is woken once more when the subscription is active,
        because messages may have been missed until then.
        """
        self._feed.set_matches(self, frozenset(matches))

    def take(self) -> Mapping[MatchId, Wake]:
        """Return and clear the wake-ups collected since the last call."""
        return self._feed.take_wakes(self) if self.wakes else _NO_WAKES

    def wait(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for a wake-up; whether there is one to take.

        Returns False early after `interrupt`, or when the feed is closed.
        """
        self._woken.clear()  # before the check, so that no wake-up is lost in between
        if not self.wakes and not self._feed.closed:
            self._woken.wait(timeout)
        return bool(self.wakes)

    def interrupt(self) -> None:
        """End the current wait without a wake-up."""
        self._woken.set()


class Feed:
    """Distributes wake-ups to the waiters of this process. An attached listener subscribes to channels and delivers them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[MatchId, set[Waiter]] = {}
        self._closed = False
        self._notify_listener: Callable[[], object] | None = None
        self._to_subscribe: list[MatchId] = []
        # When the last waiter of a match left.
        self._unused_since: dict[MatchId, float] = {}
        # Since when the process is subscribed to a match; infinity until the server has confirmed it.
        self._subscribed: dict[MatchId, float] = {}

    @property
    def closed(self) -> bool:
        return self._closed

    def waiter(self) -> Waiter:
        return Waiter(self)

    def set_matches(self, waiter: Waiter, matches: frozenset[MatchId]) -> None:
        """Let a waiter collect the wake-ups of these matches and of no others."""
        now = time.monotonic()
        with self._lock:
            for match in waiter.matches - matches:
                self._waiters[match].discard(waiter)
                waiter.wakes.pop(match, None)
                if not self._waiters[match]:
                    del self._waiters[match]
                    self._unused_since[match] = now
            added = matches - waiter.matches
            for match in added:
                self._waiters.setdefault(match, set()).add(waiter)
                self._unused_since.pop(match, None)
            new = [] if self._notify_listener is None else [match for match in added if match not in self._subscribed]
            waiter.matches = matches
            self._subscribed.update(dict.fromkeys(new, inf))
            self._to_subscribe += new
        if self._notify_listener is not None and new:
            self._notify_listener()

    def take_wakes(self, waiter: Waiter) -> Mapping[MatchId, Wake]:
        """Return and clear the wake-ups that a waiter has collected."""
        with self._lock:
            taken, waiter.wakes = waiter.wakes, {}
            return taken

    def is_subscribed(self, match: MatchId) -> bool:
        """Whether every later append to the match will be reported."""
        return self._notify_listener is None or self._subscribed.get(match, inf) != inf

    def wake(self, match: MatchId, version: Version) -> None:
        """Report that `match` has reached `version`."""
        with self._lock:
            self._wake(match, Wake(version, time.monotonic()))

    def attach(self, notify_listener: Callable[[], object]) -> None:
        """Let a listener deliver wake-ups from now on; `notify_listener` is called when `to_subscribe` has new matches."""
        self._notify_listener = notify_listener

    def to_subscribe(self) -> list[MatchId]:
        """Take the matches whose channels the listener must subscribe to."""
        with self._lock:
            taken, self._to_subscribe = self._to_subscribe, []
            return taken

    def to_unsubscribe(self) -> list[MatchId]:
        """Take the matches that have had no waiter for `UNSUBSCRIBE_AFTER_S`."""
        before = time.monotonic() - UNSUBSCRIBE_AFTER_S
        with self._lock:
            unused = [match for match, since in self._unused_since.items() if since <= before]
            for match in unused:
                del self._unused_since[match]
                self._subscribed.pop(match, None)
            return unused

    def receive(self, match: MatchId, message: bytes) -> None:
        """Take a message of a match's channel: its new version in decimal digits."""
        with suppress(ValueError):  # any client of the server may publish anything
            self.wake(match, int(message))

    def subscribed(self, match: MatchId) -> None:
        """The server has confirmed the subscription to a match. Earlier messages may have been missed."""
        now = time.monotonic()
        with self._lock:
            if match in self._subscribed:
                self._subscribed[match] = now
            self._wake(match, Wake(None, now))

    def resubscribe(self) -> None:
        """The connection is new: the listener must subscribe again to all matches, and each confirmation wakes its waiters."""
        with self._lock:
            matches = self._subscribed.keys() | self._waiters.keys()
            self._subscribed = dict.fromkeys(matches, inf) if self._notify_listener else {}
            self._to_subscribe = list(self._subscribed)

    def close(self) -> None:
        """End all waits, current and future."""
        with self._lock:
            self._closed = True
            for waiter in {waiter for waiters in self._waiters.values() for waiter in waiters}:
                waiter.interrupt()

    def _wake(self, match: MatchId, wake: Wake) -> None:
        for waiter in self._waiters.get(match, ()):
            known = waiter.wakes.get(match)
            waiter.wakes[match] = wake if known is None else known.merged_with(wake)
            waiter.interrupt()
