"""The sweeper: a thread that enforces deadlines, so that they depend neither on the queue nor on a single process.

Every worker process that plays matches with people has one. It also detects outages of the log:
`service.automation.deadlines` gives the lost time back before a deadline counts.
"""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final, TypeAlias

from events.log import LogUnavailable
from events.record import MatchId
from service.adapters.beat import BEAT_MS, DOUBT_MS, GAP_MS, Beat
from service.automation import deadlines, expiry, rating
from service.automation.bot_turns import suspend
from service.errors import Corrupt, Refused
from service.repository.ports import Ports
from workers.clock_check import ClockCheck, ClockFault
from workers.retry_delays import RetryDelays

TICK_MS: Final = 200
BATCH: Final = 100
"""Maximum number of entries that one read returns."""
RETRY_DELAY_S: Final = 0.1
"""Pause after a failed sweep."""
SLOW_CALL_S: Final = 0.1
"""A call that takes longer waited for a log that hung or for a busy machine. Its time is given back."""
REPORTED_OUTAGE_MS: Final = 1_000
"""An outage of this length is logged as a warning, a shorter one, usual on a busy machine, at level INFO."""

HANDLED: Final = 10
"""Maximum number of entries of a further kind in one round, so that deadlines do not wait long."""
LEASE_MS: Final = 2_000
"""How long a claimed entry is reserved for the sweeper that claimed it."""

Handler: TypeAlias = Callable[[Ports, MatchId], None]
HANDLERS: Final[Mapping[str, Handler]] = {"open": expiry.expire, "rating": rating.rate}
"""Handlers for further kinds of due entries. `clock` is handled here, all others in `workers.player`.

An entry is claimed, and handled again after the lease unless an append or a rearm has replaced it. So a handler has to
be idempotent, with a command id of its own.
"""

_log = logging.getLogger("moonstone.sweeper")


class Sweeper:
    """A thread that runs from `start` to `stop`.

    `steady` is a monotonic clock in seconds. `clock_fault` says how the wall clock differs from that of the log's
    server; while it does, the thread does nothing, as if the process did not run: it would enforce deadlines too early
    or too late.
    """

    def __init__(
        self,
        ports: Ports,
        beat: Beat,
        steady: Callable[[], float] = time.monotonic,
        clock_fault: ClockFault = lambda: None,
        handlers: Mapping[str, Handler] = HANDLERS,
    ) -> None:
        self._ports = ports
        self._handlers = handlers
        self._beat = beat
        self._clock = ClockCheck(clock_fault, "deadlines are enforced")
        self._steady = steady
        self._last_beat_at: int | None = None
        self._wall_lead_ms: int | None = None
        """How far the wall clock was ahead of `steady` at the last beat, in milliseconds."""
        self._has_doubt = True
        """Whether the log may have failed since the last beat."""
        self._slow_ms = 0
        """How long the slowest call since the last beat took, if longer than `SLOW_CALL_S`."""
        self._enforces_from = 0.0
        self._retry_delays = RetryDelays()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        is_away = False
        pause = 0.0
        while not self._stopped.wait(pause):
            try:
                pause = self.sweep()
                is_away = False
            except LogUnavailable as error:
                if not is_away:
                    _log.warning("the log is not available (%s); trying again", error.reason)
                is_away, pause = True, RETRY_DELAY_S
            except Exception:  # noqa: BLE001  (the other matches need the next sweep)
                _log.exception("a sweep failed")
                pause = RETRY_DELAY_S

    def sweep(self) -> float:
        """Do one round. Returns the seconds until the next one.

        Raises:
            LogUnavailable: the log does not answer; nothing is lost.
        """
        try:
            return self._sweep()
        except LogUnavailable:
            self._has_doubt = True
            raise

    def _sweep(self) -> float:
        if self._clock.is_off():
            return TICK_MS / 1000
        now = self._ports.now()
        self._beat_if_due(now)
        for kind, handle in self._handlers.items():
            for due in self._ports.log.claim(kind, now, LEASE_MS, HANDLED):
                self._attempt(handle, due.match)
        return self._enforce(now)

    def _beat_if_due(self, now: int) -> None:
        # The interval is measured by the wall clock, so that a jump of this clock is found before a deadline is judged by it.
        if not self._slow_ms and self._last_beat_at is not None and 0 <= now - self._last_beat_at < BEAT_MS:
            return
        began = self._steady()
        lead = now - round(began * 1000)
        jump = 0 if self._wall_lead_ms is None else lead - self._wall_lead_ms
        beaten = self._beat.beat(DOUBT_MS if self._has_doubt else GAP_MS)
        ended = self._steady()
        slow_ms = max(self._slow_ms, _slow_ms(ended - began))
        outage_ms = beaten.silence_ms if beaten.found else 0
        if jump > GAP_MS and outage_ms < jump:  # neither the server's clock nor another process showed this jump
            outage_ms = jump
            self._beat.note(jump)
        elif not beaten.found and slow_ms:
            # Another sweeper may have written the beat right after the log came back: then the silence is too short.
            outage_ms = max(beaten.silence_ms, slow_ms)
            self._beat.note(outage_ms)
        if outage_ms:
            level = logging.WARNING if outage_ms >= REPORTED_OUTAGE_MS else logging.INFO
            _log.log(level, "players get back the time that they lost in an outage of %d ms", outage_ms)
        self._has_doubt, self._slow_ms = False, 0
        self._last_beat_at, self._wall_lead_ms = now, lead
        self._enforces_from = ended + beaten.returning_ms / 1000

    def _enforce(self, now: int) -> float:
        """Enforce the deadlines that have passed. Returns the seconds until the next one, or until the next read."""
        # Reading one tick ahead also finds the next deadline, without another round trip.
        limit = BATCH + len(self._retry_delays)
        began = self._steady()
        found = self._ports.log.overdue("clock", now + TICK_MS, limit)
        self._slow_ms = _slow_ms(self._steady() - began)
        for due in found:
            if due.at > now:
                return (due.at - now) / 1000
            if self._clock.is_off():
                break
            self._beat_if_due(self._ports.now())
            if self._steady() < self._enforces_from:
                break  # clients that got `Retry-After` in the outage may be about to come back
            self._attempt(_enforce_or_suspend, due.match)
        return 0.0 if len(found) == limit else TICK_MS / 1000

    def _attempt(self, handle: Handler, match_id: MatchId) -> None:
        """Handle one match. Its failure does not affect other matches; a match that failed is skipped for a while."""
        if self._retry_delays.is_delayed(match_id):
            return
        try:
            handle(self._ports, match_id)
        except LogUnavailable:
            raise
        except (Refused, Corrupt) as error:
            _log.error("match %s cannot continue: %s", match_id, error)
            self._retry_delays.failed(match_id)
        except Exception:  # noqa: BLE001  (the other matches are due too)
            _log.exception("the handler failed for match %s", match_id)
            self._retry_delays.failed(match_id)
        else:
            self._retry_delays.succeeded(match_id)


def _slow_ms(seconds: float) -> int:
    return round(seconds * 1000) if seconds > SLOW_CALL_S else 0


def _enforce_or_suspend(ports: Ports, match_id: MatchId) -> None:
    """Enforce the deadlines of a match. If its rules fail, suspend it, so that an operator notices."""
    try:
        deadlines.enforce(ports, match_id)
    except (LogUnavailable, Refused, Corrupt):
        raise
    except Exception as error:
        match, _ = ports.history.newest(match_id)
        suspend(ports, match, type(error).__name__)
        raise
