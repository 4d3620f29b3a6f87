"""Compares this machine's clock with that of the log's server.

The process that takes an action or enforces a deadline uses its own clock, so all clocks must agree. All processes use the
same log, so each compares its clock with the clock of the log's server.
"""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from redis import Redis, RedisCluster

from events.log import LogUnavailable
from events.redis_log import send
from service.adapters.clock import wall_clock
from service.observability import metrics

MAX_OFFSET_MS: Final = 1_000
"""A larger difference is reported."""
_INTERVAL_S: Final = 1.0
_CHECKS_PER_WARNING: Final = 60
"""While the clocks differ, the warning is repeated after this many checks."""
_STOP_TIMEOUT_S: Final = 0.5

# A script with a key, so that on a cluster all processes ask the same server.
_TIME: Final = "return redis.call('TIME')"
_KEY: Final = "beat"

_log = logging.getLogger("moonstone.clock")


def offset_ms(client: Redis | RedisCluster, now: Callable[[], int] = wall_clock) -> int:
    """The difference in milliseconds between the clock `now` and the server's: positive if `now` is ahead.

    The server reads its clock at an unknown moment between the request and the reply. This is the smallest difference that
    is possible.

    Raises:
        LogUnavailable: the server does not answer.
    """
    before = now()
    reply: tuple[bytes, bytes]
    (reply,) = send(client, ("EVAL", _TIME, 1, _KEY))
    after = now()
    seconds, micros = map(int, reply)
    server_ms = seconds * 1000 + micros // 1000
    return before - server_ms if server_ms < before else min(after - server_ms, 0)


def disagreement(offset: int) -> str | None:
    """A message if a clock that is `offset` milliseconds ahead differs too much, else None."""
    if abs(offset) <= MAX_OFFSET_MS:
        return None
    side = "ahead of" if offset > 0 else "behind"
    return f"this machine's clock is {abs(offset) / 1000:.1f} s {side} the log server's; clocks must agree (NTP)"


class ClockWatch:
    """Compares the clocks every second, and reports a difference in the log and the metrics. Create it after a fork."""

    def __init__(
        self, client: Redis | RedisCluster, seconds: float = _INTERVAL_S, now: Callable[[], int] = wall_clock
    ) -> None:
        self._client = client
        self._seconds = seconds
        self._now = now
        self._checks_with_fault = 0
        self._fault: str | None = None
        self._lead_ms: int | None = None
        """How far the clock was ahead of the monotonic clock at the last check; None before the first."""
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="clock-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop checking. If a check is waiting for the server, this returns after `_STOP_TIMEOUT_S`."""
        self._stopped.set()
        self._thread.join(_STOP_TIMEOUT_S)

    def fault(self) -> str | None:
        """How the clocks differ too much, by the newest check. A clock that was set since then is checked at once.

        Raises:
            LogUnavailable: the server does not answer a check that is needed at once.
        """
        if self._lead_ms is None or abs(self._lead() - self._lead_ms) > MAX_OFFSET_MS // 2:
            self._check()
        return self._fault

    def _lead(self) -> int:
        return self._now() - round(time.monotonic() * 1000)

    def _check(self) -> None:
        lead = self._lead()
        offset = offset_ms(self._client, self._now)
        metrics.CLOCK_OFFSET.set(abs(offset) / 1000)
        self._fault, self._lead_ms = disagreement(offset), lead

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._check()
                self._report(self._fault)
            except LogUnavailable:  # reported elsewhere
                continue
            except Exception:  # noqa: BLE001  (the next check may work; nothing else depends on this thread)
                _log.exception("the clock cannot be compared")

    def _report(self, fault: str | None) -> None:
        if fault is None and self._checks_with_fault:
            _log.info("this machine's clock agrees with the log server's again")
        if fault is not None and self._checks_with_fault % _CHECKS_PER_WARNING == 0:
            _log.warning(fault)
        self._checks_with_fault = 0 if fault is None else self._checks_with_fault + 1
