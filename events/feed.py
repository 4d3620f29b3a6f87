"""Waiting for news of matches: one feed a process, any number of waiters. Only plain threading, so it runs on gevent.

Each match has a channel of its own, and a process hears those of the matches that somebody waits for in it: what goes on
in all others costs it nothing. A wake-up is a hint. It may get lost, and so a stream reads the log at every heartbeat
anyway; it may be wrong, and so each is good for one look at the log and no more.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import inf
from typing import NamedTuple, Self

from events.record import MatchId, Version

KEPT: float = 30.0
"""Seconds for which a channel is heard after the last wait for it."""


class Wake(NamedTuple):
    """A wake-up: the version that a match is said to have reached, None where messages may have been missed, and when.

    `at` is a moment (monotonic): a read of the log that began then or later shows whether it is so.
    """

    version: Version | None
    at: float

    def brings(self, known: Version) -> bool:
        """Whether the match may have got past a version."""
        return self.version is None or self.version > known

    def and_then(self, later: "Wake") -> "Wake":
        """Both in one."""
        if self.version is None or later.version is None:
            return Wake(None, later.at)
        return Wake(max(self.version, later.version), later.at)


class Waiter:
    """Collects the wake-ups of some matches, each once: a context, in which nothing is missed after `follow`."""

    def __init__(self, feed: "Feed") -> None:
        self._feed = feed
        self._woken = threading.Event()
        self.matches: frozenset[MatchId] = frozenset()
        self.news: dict[MatchId, Wake] = {}
        """Collected and not taken yet; under the feed's lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.enter(self, frozenset())

    def follow(self, matches: Iterable[MatchId]) -> None:
        """Collect the wake-ups of these matches, and of no others any more.

        A match that nobody followed in this process yet wakes once more when its channel is open, for messages may have
        been missed until then.
        """
        self._feed.enter(self, frozenset(matches))

    def take(self) -> Mapping[MatchId, Wake]:
        """What was collected since the last time."""
        return self._feed.collected(self)

    def wait(self, timeout: float) -> bool:
        """Whether there is something to take, at once or within `timeout` seconds; False when nudged, or the feed closes."""
        self._woken.clear()  # before the look at what is there, so that no wake-up falls between
        if not self.news and not self._feed.closed:
            self._woken.wait(timeout)
        return bool(self.news)

    def nudge(self) -> None:
        """End the wait without news."""
        self._woken.set()


class Feed:
    """Where streams wait for new events of their matches; a listener that is attached to it brings them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[MatchId, set[Waiter]] = {}
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

    def enter(self, waiter: Waiter, matches: frozenset[MatchId]) -> None:
        """Let a waiter collect the wake-ups of these matches and of no others."""
        now = time.monotonic()
        with self._lock:
            for match in waiter.matches - matches:
                self._waiters[match].discard(waiter)
                waiter.news.pop(match, None)
                if not self._waiters[match]:
                    del self._waiters[match]
                    self._left[match] = now
            for match in matches - waiter.matches:
                self._waiters.setdefault(match, set()).add(waiter)
                self._left.pop(match, None)
            fresh = [] if self._ring is None else [one for one in matches - waiter.matches if one not in self._heard]
            waiter.matches = matches
            self._heard.update(dict.fromkeys(fresh, inf))
            self._asked += fresh
        if self._ring is not None and fresh:
            self._ring()

    def collected(self, waiter: Waiter) -> Mapping[MatchId, Wake]:
        """What a waiter has collected, which it has no more then."""
        with self._lock:
            collected, waiter.news = waiter.news, {}
            return collected

    def hears(self, match: MatchId) -> bool:
        """Whether what happens in a match from now on is told."""
        return self._ring is None or self._heard.get(match, inf) != inf

    def wake(self, match: MatchId, version: Version) -> None:
        """Tell that `match` is at `version`."""
        with self._lock:
            self._wake(match, Wake(version, time.monotonic()))

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
        before = time.monotonic() - KEPT
        with self._lock:
            left = [match for match, last in self._left.items() if last <= before]
            for match in left:
                del self._left[match]
                self._heard.pop(match, None)
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
            self._wake(match, Wake(None, now))

    def lapse(self) -> None:
        """Nothing is told any more until `asked` is heard again, which wakes everyone."""
        with self._lock:
            self._heard = dict.fromkeys(self._heard.keys() | self._waiters.keys(), inf) if self._ring else {}
            self._asked = list(self._heard)

    def close(self) -> None:
        """End all waits, now and later."""
        with self._lock:
            self._closed = True
            for waiter in {waiter for waiters in self._waiters.values() for waiter in waiters}:
                waiter.nudge()

    def _wake(self, match: MatchId, wake: Wake) -> None:
        for waiter in self._waiters.get(match, ()):
            known = waiter.news.get(match)
            waiter.news[match] = wake if known is None else known.and_then(wake)
            waiter.nudge()
