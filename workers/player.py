"""The main thread of a worker: plays the matches that are due, one after the other.

Hints arrive through the queue without delay. Several times a second the thread also claims due matches from the log, so
that a fault of the queue delays a turn by half a second, but never loses it. This thread never waits for the queue's
server.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event
from typing import Final, Literal, TypeAlias

from events.due import Due
from events.log import LogUnavailable
from events.record import MatchId
from service.errors import Corrupt, Refused
from service.match.due_times import HINT_MS
from service.observability import failpoints, metrics
from service.repository.ports import Lane, Ports
from workers.clock_check import ClockCheck, ClockFault
from workers.retry_delays import RetryDelays

KINDS: Final[dict[Lane, Sequence[str]]] = {"turns": ("job",), "bots": ("bots", "abandoned")}
"""The kinds of due entries that a lane claims. A later kind is claimed only if nothing of an earlier kind is due."""
CLAIM_INTERVAL_S: Final = 0.2
"""Seconds between two claims of due matches from the log."""
LEASE_MS: Final = 2_000
"""How long a claimed match is reserved for the process that claimed it."""
MAX_CLAIMED: Final = 8
"""Maximum number of matches claimed at once. Most are played within the lease."""
RETRY_DELAY_S: Final = 0.5

Source: TypeAlias = Literal["queue", "log", "deadline", "more"]
"""Why a worker plays a match.

`queue`: a hint arrived. `log`: the match was due, and its hint was late or lost. `deadline`: the sweeper of this
process enforced a deadline of it. `more`: its last job used up its time.
"""

_log = logging.getLogger("moonstone.player")


@dataclass(frozen=True, slots=True)
class _Job:
    match: MatchId
    source: Source
    until: float = math.inf
    """Monotonic time in seconds after which another process may claim the match."""
    done: Event = field(default_factory=Event)


class Player:
    """Plays the matches of some lanes. `run` belongs in the main thread; other methods may be called in any thread.

    `play` plays a match for the time of one job. It returns the lane in which the match has more to do, or None.
    Claimed matches, hints, and matches that used up a job's time take turns, so that a hint does not wait for many jobs
    of matches in which bots play without a pause. Matches without people come last.

    While the clock is wrong nothing is played, since every event has the time of its process. Other processes play what
    is due.
    """

    def __init__(
        self,
        ports: Ports,
        lanes: Sequence[Lane],
        play: Callable[[MatchId], Lane | None],
        clock_fault: ClockFault = lambda: None,
    ) -> None:
        self._ports = ports
        self._lanes = lanes
        self._play = play
        self._clock = ClockCheck(clock_fault, "matches are played")
        self._retry_delays = RetryDelays()
        self._changed = Condition()
        self._stopping = False
        self._hinted: deque[_Job] = deque()
        self._late: dict[Lane, deque[_Job]] = {lane: deque() for lane in lanes}
        self._more: dict[Lane, deque[_Job]] = {lane: deque() for lane in lanes}
        # Hints are for the first lane. It is `turns` if the process has both lanes.
        first, *others = lanes
        self._groups = [
            [self._late[first], self._hinted, self._more[first]],
            *([self._late[lane], self._more[lane]] for lane in others),
        ]
        self._next_claim_at = 0.0

    def run(self) -> None:
        """Play until `stop`."""
        is_away = False
        while not self._stopping:
            try:
                self._claim_due()
                job = self._next()
                if job is not None:
                    self._do(job)
                is_away = False
            except LogUnavailable as error:
                if not is_away:
                    _log.warning("the log is not available (%s); trying again", error.reason)
                is_away = True
                time.sleep(RETRY_DELAY_S)
            except Exception:  # noqa: BLE001  (the other matches need the next claim)
                _log.exception("due matches cannot be claimed")
                time.sleep(RETRY_DELAY_S)

    def stop(self) -> None:
        """End `run` after the current job. Safe in a signal handler: it takes no lock."""
        self._stopping = True

    def play(self, match_id: MatchId) -> None:
        """Wait until the main thread has played a match; for the thread that takes hints from the queue."""
        job = _Job(match_id, "queue")
        self._put(self._hinted, job)
        while not (job.done.wait(1.0) or self._stopping):
            pass

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        """Implements `Jobs` for the sweeper of this process. A hint above the limit is dropped; the match stays due."""
        if lane in self._late and len(self._late[lane]) < MAX_CLAIMED:
            self._put(self._late[lane], _Job(match_id, "deadline"))

    def _put(self, jobs: deque[_Job], job: _Job) -> None:
        with self._changed:
            jobs.append(job)
            self._changed.notify()

    def _claim_due(self) -> None:
        """Claim due matches from the log, if the interval has passed."""
        if time.monotonic() < self._next_claim_at:
            return
        if self._clock.is_off():
            self._next_claim_at = time.monotonic() + CLAIM_INTERVAL_S
            return
        has_more = False
        for lane, late in self._late.items():
            if late or has_more:
                continue
            claimed = self._claim(lane)
            until = time.monotonic() + LEASE_MS / 1000
            late.extend(_Job(due.match, "log", until) for due in claimed)
            has_more = len(claimed) == MAX_CLAIMED
        self._next_claim_at = time.monotonic() + (0.0 if has_more else CLAIM_INTERVAL_S)

    def _claim(self, lane: Lane) -> Sequence[Due]:
        for kind in KINDS[lane]:
            if claimed := self._ports.log.claim(kind, self._ports.now(), LEASE_MS, MAX_CLAIMED):
                failpoints.point("job-claimed")
                return claimed
        return ()

    def _next(self) -> _Job | None:
        """The next job; None if there is none before the next claim."""
        with self._changed:
            if not any(jobs for group in self._groups for jobs in group):
                self._changed.wait(max(self._next_claim_at - time.monotonic(), 0.0))
            for group in self._groups:
                for position, jobs in enumerate(group):
                    if jobs:
                        group.append(group.pop(position))
                        return jobs.popleft()
            return None

    def _do(self, job: _Job) -> None:
        try:
            is_delayed = self._retry_delays.is_delayed(job.match)
            if time.monotonic() < job.until and not is_delayed and not self._clock.is_off():
                metrics.JOBS.labels(job.source).inc()
                self._do_one(job.match)
        finally:
            job.done.set()

    def _do_one(self, match_id: MatchId) -> None:
        """Play one match; its failure does not affect other matches."""
        try:
            lane = self._play(match_id)
        except LogUnavailable:
            raise
        except (Refused, Corrupt) as error:
            _log.error("match %s cannot continue: %s", match_id, error)
            self._retry_delays.failed(match_id)
        except Exception:  # noqa: BLE001
            _log.exception("the job of match %s failed", match_id)
            self._retry_delays.failed(match_id)
        else:
            self._retry_delays.succeeded(match_id)
            if lane is not None:
                self._put(self._more[lane], _Job(match_id, "more", time.monotonic() + HINT_MS / 1000))
