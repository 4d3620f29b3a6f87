"""Whether this machine's clock agrees with that of the log's server.

Deadlines are judged by the clock of the process that takes the action or enforces them, so all clocks must agree. The log's
server is what all processes have in common: each compares its own clock with that one.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from redis import Redis, RedisCluster

from events.log import LogUnavailable
from events.redis_log import send
from service.adapters.clock import wall_clock

MAX_OFFSET_MS: Final = 1_000
"""Clocks that differ by more do not agree."""
_SECONDS: Final = 1.0
"""Between two looks."""
_REPEAT: Final = 60
"""After so many looks a warning comes again."""
_JOIN: Final = 0.5
"""Seconds."""

# As a script on a key, so that on a cluster all processes ask the same server.
_TIME: Final = "return redis.call('TIME')"
_KEY: Final = "beat"

_log = logging.getLogger("moonstone.clock")


def offset_ms(client: Redis | RedisCluster, now: Callable[[], int] = wall_clock) -> int:
    """By how much the clock `now` is ahead of the log server's at least, in milliseconds; behind it, if negative.

    However long the answer takes, that time counts as no difference: the server's clock was read in between.

    Raises:
        LogUnavailable: the server does not answer.
    """
    before = now()
    reply: tuple[bytes, bytes]
    (reply,) = send(client, ("EVAL", _TIME, 1, _KEY))
    after = now()
    seconds, micros = map(int, reply)
    there = seconds * 1000 + micros // 1000
    return before - there if there < before else min(after - there, 0)


def disagreement(offset: int) -> str | None:
    """What is wrong with a clock that is so many milliseconds ahead; None if nothing is."""
    if abs(offset) <= MAX_OFFSET_MS:
        return None
    side = "ahead of" if offset > 0 else "behind"
    return f"this machine's clock is {abs(offset) / 1000:.1f} s {side} the log server's; clocks must agree (NTP)"


class ClockWatch:
    """Warns in this process's log while its clock does not agree with the log server's. Make it after a fork.

    A sweeper that must not enforce deadlines then may ask for `offset_ms` itself.
    """

    def __init__(
        self, client: Redis | RedisCluster, seconds: float = _SECONDS, now: Callable[[], int] = wall_clock
    ) -> None:
        self._client = client
        self._seconds = seconds
        self._now = now
        self._looks_with_fault = 0
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="clock-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more. A look at a server that does not answer is not waited for."""
        self._stopped.set()
        self._thread.join(_JOIN)

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._report(disagreement(offset_ms(self._client, self._now)))
            except LogUnavailable:  # others report it
                continue
            except Exception:  # noqa: BLE001  (it may pass; nothing else depends on it)
                _log.exception("the clock cannot be compared")

    def _report(self, fault: str | None) -> None:
        if fault is None and self._looks_with_fault:
            _log.info("this machine's clock agrees with the log server's again")
        if fault is not None and self._looks_with_fault % _REPEAT == 0:
            _log.warning(fault)
        self._looks_with_fault = 0 if fault is None else self._looks_with_fault + 1
