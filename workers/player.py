"""The main thread of a worker: plays matches one after the other, whoever found that they are owed something.

Hints come through the queue and are the fast way. What the log says is due is looked for several times a second and
claimed here, so that a queue that is lost, wrong or full costs half a second and never a turn. Nothing here waits for the
queue's server.
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
from service.match.model import HINT_MS
from service.observability import failpoints, metrics
from service.repository.ports import Lane, Ports
from workers.rests import Rests

KINDS: Final[dict[Lane, Sequence[str]]] = {"turns": ("job",), "bots": ("bots", "abandoned")}
"""What a lane claims; of a later kind only where nothing of an earlier one is due. Nobody waits for abandoned matches."""
LOOK_S: Final = 0.2
LEASE_MS: Final = 2_000
CLAIMED: Final = 8
"""Matches claimed at a time; most are played within the lease."""
PAUSE_S: Final = 0.5

Source: TypeAlias = Literal["queue", "log", "deadline", "more"]
"""What brought a worker to a match: a hint through the queue; the log, for its hint was late or lost; a deadline that the
sweeper of the same process enforced; that the time of its last job was used up."""

_log = logging.getLogger("moonstone.player")


@dataclass(frozen=True, slots=True)
class _Job:
    match: MatchId
    source: Source
    until: float = math.inf
    """By the steady clock: from then on another process may find the match in the log."""
    done: Event = field(default_factory=Event)


class Player:
    """Make it for the lanes of a process, `run` it in the main thread; all else may be called by any thread.

    `play` plays a match for the time of one job; it returns the lane in which the match has more to do, None for no more.
    What is late, hints, and matches that used up a job's time take turns, so that a hint never waits for many jobs of
    matches in which bots play on by themselves. Matches of bots alone come last of all.
    """

    def __init__(self, ports: Ports, lanes: Sequence[Lane], play: Callable[[MatchId], Lane | None]) -> None:
        self._ports = ports
        self._lanes = lanes
        self._play = play
        self._rests = Rests()
        self._changed = Condition()
        self._stopping = False
        self._asked: deque[_Job] = deque()
        self._late: dict[Lane, deque[_Job]] = {lane: deque() for lane in lanes}
        self._more: dict[Lane, deque[_Job]] = {lane: deque() for lane in lanes}
        # Hints are for the first lane, that of people where the process has both.
        first, *others = lanes
        self._groups = [
            [self._late[first], self._asked, self._more[first]],
            *([self._late[lane], self._more[lane]] for lane in others),
        ]
        self._look_at = 0.0

    def run(self) -> None:
        """Play until `stop`."""
        is_away = False
        while not self._stopping:
            try:
                self._look()
                job = self._next()
                if job is not None:
                    self._do(job)
                is_away = False
            except LogUnavailable as error:
                if not is_away:
                    _log.warning("the log is not available (%s); trying again", error.reason)
                is_away = True
                time.sleep(PAUSE_S)
            except Exception:  # noqa: BLE001  (whatever it was, the other matches need the next look)
                _log.exception("a look at what is due failed")
                time.sleep(PAUSE_S)

    def stop(self) -> None:
        """End `run` after the job that is under way. Safe in a signal handler: it takes no lock."""
        self._stopping = True

    def play(self, match_id: MatchId) -> None:
        """Wait until the main thread has played a match; for the thread that takes hints from the queue."""
        job = _Job(match_id, "queue")
        self._put(self._asked, job)
        while not (job.done.wait(1.0) or self._stopping):
            pass

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        """`Jobs` for the sweeper of the same process. The log has what finds no room."""
        if lane in self._late and len(self._late[lane]) < CLAIMED:
            self._put(self._late[lane], _Job(match_id, "deadline"))

    def _put(self, jobs: deque[_Job], job: _Job) -> None:
        with self._changed:
            jobs.append(job)
            self._changed.notify()

    def _look(self) -> None:
        """Claim what is due in the log, if it is time for that."""
        if time.monotonic() < self._look_at:
            return
        is_more = False
        for lane, late in self._late.items():
            if late or is_more:
                continue
            claimed = self._claim(lane)
            until = time.monotonic() + LEASE_MS / 1000
            late.extend(_Job(due.match, "log", until) for due in claimed)
            is_more = len(claimed) == CLAIMED
        self._look_at = time.monotonic() + (0.0 if is_more else LOOK_S)

    def _claim(self, lane: Lane) -> Sequence[Due]:
        for kind in KINDS[lane]:
            if claimed := self._ports.log.claim(kind, self._ports.now(), LEASE_MS, CLAIMED):
                failpoints.point("job-claimed")
                return claimed
        return ()

    def _next(self) -> _Job | None:
        """The next job; None if there is none until the next look at the log."""
        with self._changed:
            if not any(jobs for group in self._groups for jobs in group):
                self._changed.wait(max(self._look_at - time.monotonic(), 0.0))
            for group in self._groups:
                for position, jobs in enumerate(group):
                    if jobs:
                        group.append(group.pop(position))
                        return jobs.popleft()
            return None

    def _do(self, job: _Job) -> None:
        try:
            if time.monotonic() < job.until and not self._rests.is_resting(job.match):
                metrics.JOBS.labels(job.source).inc()
                self._do_one(job.match)
        finally:
            job.done.set()

    def _do_one(self, match_id: MatchId) -> None:
        """The failure of one match is not the others'."""
        try:
            lane = self._play(match_id)
        except LogUnavailable:
            raise
        except (Refused, Corrupt) as error:
            _log.error("match %s cannot be played on: %s", match_id, error)
            self._rests.begin(match_id)
        except Exception:  # noqa: BLE001
            _log.exception("the job of match %s failed", match_id)
            self._rests.begin(match_id)
        else:
            self._rests.end(match_id)
            if lane is not None:
                self._put(self._more[lane], _Job(match_id, "more", time.monotonic() + HINT_MS / 1000))
