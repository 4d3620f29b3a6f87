"""The sweeper: deadlines depend neither on the queue nor on one process.

Every worker process has one that plays matches with people. It enforces their deadlines, and finds out when the log was away:
`service.automation.deadlines` gives that time back before a deadline counts.
"""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final, TypeAlias

from events.log import LogUnavailable
from events.record import MatchId
from service.adapters.beat import BEAT_MS, DOUBT_MS, GAP_MS, Beat
from service.automation import deadlines
from service.automation.bot_turns import suspend
from service.errors import Corrupt, Refused
from service.repository.ports import Ports
from workers.retry_delays import RetryDelays

TICK_MS: Final = 200
BATCH: Final = 100
PAUSE_S: Final = 0.1
"""After a sweep that failed."""
HUNG_S: Final = 0.1
"""What takes longer waited for a log that hung, or for a busy machine: nobody's own time either way."""

LEASE_MS: Final = 2_000
"""For so long a claimed entry is left to who claimed it."""

Handler: TypeAlias = Callable[[Ports, MatchId], None]
HANDLERS: Final[Mapping[str, Handler]] = {}
"""What to do for a kind of `service.match.owed`, besides those that have threads of their own: `clock` here, all others in
`workers.player`. An entry is claimed, and handled again after the lease unless an append or a rearm has replaced it; so a
handler is idempotent, by a command id of its own.
"""

_log = logging.getLogger("moonstone.sweeper")


class Sweeper:
    """A thread from `start` to `stop`; `steady`: seconds by a clock that never jumps."""

    def __init__(
        self,
        ports: Ports,
        beat: Beat,
        steady: Callable[[], float] = time.monotonic,
        handlers: Mapping[str, Handler] = HANDLERS,
    ) -> None:
        self._ports = ports
        self._handlers = handlers
        self._beat = beat
        self._steady = steady
        self._beaten_at: int | None = None
        self._lead: int | None = None
        self._doubts = True
        """Whether the log may have been away since the last beat."""
        self._hung_ms = 0
        """How long the log took over its slowest answer since the last beat, if that was longer than `HUNG_S`."""
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
        away = False
        pause = 0.0
        while not self._stopped.wait(pause):
            try:
                pause = self.sweep()
                away = False
            except LogUnavailable as error:
                if not away:
                    _log.warning("the log is not available (%s); trying again", error.reason)
                away, pause = True, PAUSE_S
            except Exception:  # noqa: BLE001  (whatever it was, the other matches need the next sweep)
                _log.exception("a sweep failed")
                pause = PAUSE_S

    def sweep(self) -> float:
        """One round; the seconds until the next.

        Raises:
            LogUnavailable: nothing is lost by it.
        """
        try:
            return self._sweep()
        except LogUnavailable:
            self._doubts = True
            raise

    def _sweep(self) -> float:
        now = self._ports.now()
        self._keep_beating(now)
        for kind, handle in self._handlers.items():
            for due in self._ports.log.claim(kind, now, LEASE_MS, BATCH):
                self._attempt(handle, due.match)
        return self._enforce(now)

    def _keep_beating(self, now: int) -> None:
        # By the wall clock: a jump of it is found to be an outage, before a deadline is judged by it.
        if not self._hung_ms and self._beaten_at is not None and 0 <= now - self._beaten_at < BEAT_MS:
            return
        began = self._steady()
        lead = now - round(began * 1000)
        jump = 0 if self._lead is None else lead - self._lead
        beaten = self._beat.beat(DOUBT_MS if self._doubts else GAP_MS)
        ended = self._steady()
        hung_ms = max(self._hung_ms, _hung_ms(ended - began))
        outage_ms = beaten.silence_ms if beaten.found else 0
        if jump > GAP_MS and outage_ms < jump:  # unless the server's clock, or another process, showed the same jump
            outage_ms = jump
            self._beat.note(jump)
        elif not beaten.found and hung_ms:
            # Another sweeper may have written the beat right after the log came back: then the silence is too short.
            outage_ms = max(beaten.silence_ms, hung_ms)
            self._beat.note(outage_ms)
        if outage_ms:
            _log.warning("an outage of %d ms: players get back what it took of their time", outage_ms)
        self._doubts, self._hung_ms = False, 0
        self._beaten_at, self._lead = now, lead
        self._enforces_from = ended + beaten.returning_ms / 1000

    def _enforce(self, now: int) -> float:
        """Enforce the deadlines that passed; the seconds until the next one, or the next look."""
        # Looking one tick ahead tells the next deadline without another round trip.
        limit = BATCH + len(self._retry_delays)
        began = self._steady()
        found = self._ports.log.overdue("clock", now + TICK_MS, limit)
        self._hung_ms = _hung_ms(self._steady() - began)
        for due in found:
            if due.at > now:
                return (due.at - now) / 1000
            self._keep_beating(self._ports.now())
            if self._steady() < self._enforces_from:
                break  # who was told to come again while the log was away may be on the way
            self._attempt(_enforce_or_suspend, due.match)
        return 0.0 if len(found) == limit else TICK_MS / 1000

    def _attempt(self, handle: Handler, match_id: MatchId) -> None:
        """The failure of one match is not the others'; a match that failed is left alone for a while."""
        if self._retry_delays.is_delayed(match_id):
            return
        try:
            handle(self._ports, match_id)
        except LogUnavailable:
            raise
        except (Refused, Corrupt) as error:
            _log.error("match %s cannot go on: %s", match_id, error)
            self._retry_delays.failed(match_id)
        except Exception:  # noqa: BLE001  (whatever it was, the other matches are due too)
            _log.exception("what match %s is owed failed", match_id)
            self._retry_delays.failed(match_id)
        else:
            self._retry_delays.succeeded(match_id)


def _hung_ms(seconds: float) -> int:
    return round(seconds * 1000) if seconds > HUNG_S else 0


def _enforce_or_suspend(ports: Ports, match_id: MatchId) -> None:
    """A match whose rules failed is suspended, not stuck in silence."""
    try:
        deadlines.enforce(ports, match_id)
    except (LogUnavailable, Refused, Corrupt):
        raise
    except Exception as error:
        match, _ = ports.history.newest(match_id)
        suspend(ports, match, type(error).__name__)
        raise
