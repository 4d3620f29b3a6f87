"""Plays the turns that are due in one match: the only use case of a worker's main thread."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from events.record import MatchId
from service.adapters.beat import GAP_MS
from service.adapters.jobs import LANES, NullJobs
from service.automation import deadlines
from service.automation.bot_limits import CircuitBreaker, Limit
from service.automation.bot_turns import BUDGET_MS, MOVES, advance
from service.match.due_times import due_times
from service.match.model import Match
from service.repository.ports import Lane, Ports

NO_LIMIT: Final = nullcontext
TIME_TO_PLAY_MS: Final = 1_000
"""Milliseconds added to the time that a match gets back after it waited in its lane, so that its bots are in time."""
TIMED_BUDGET_MS: Final = 30
"""Time limit of a job in a game with its own timer. Its bots play without pause, and other matches wait meanwhile."""
MOVES_BESIDE_PEOPLE: Final = 2
"""Maximum moves in one job of a match without people, in a process that also plays matches with people."""


class Turns:
    """Plays the matches of some lanes, in one process.

    `bot_limit` is the time limit for bots, `rules_limit` the one for rules. Both may need the main thread.
    """

    def __init__(
        self,
        ports: Ports,
        lanes: Collection[Lane] = LANES,
        *,
        bot_limit: Limit = NO_LIMIT,
        rules_limit: Callable[[], AbstractContextManager[object]] = NO_LIMIT,
    ) -> None:
        # No hints: the caller of `play` continues by itself while there is more to play.
        self._ports = replace(ports, jobs=NullJobs())
        self._lanes = lanes
        self._bot_moves = MOVES_BESIDE_PEOPLE if len(lanes) > 1 else MOVES
        self._breaker = CircuitBreaker(bot_limit)
        self._rules_limit = rules_limit

    def play(self, match_id: MatchId) -> Lane | None:
        """Play until a person is next or the time of a job is used up; returns the lane of what is left, or None.

        It is safe to run it twice or not at all.

        Raises:
            Refused: there is no such match, or it cannot be played by this release.
            Corrupt: its events are damaged.
            LogUnavailable: the log does not answer; the call may be repeated.
        """
        with self._rules_limit():
            match, _ = self._ports.history.newest(match_id)
            lane: Lane = "turns" if match.has_players else "bots"
            if lane not in self._lanes:
                # The last person left, or an older release wrote the due entry: move it to the right lane.
                self._ports.log.rearm(match_id, match.head.version, due_times(match))
                return None
            if lane == "bots":
                self._enforce(match)
            moves = self._bot_moves if lane == "bots" else MOVES
            budget_ms = TIMED_BUDGET_MS if match.game.info.keeps_time else BUDGET_MS
            has_more = advance(self._ports, match_id, moves=moves, budget_ms=budget_ms, breaker=self._breaker)
            return lane if has_more else None

    def _enforce(self, match: Match) -> None:
        """Enforce the deadlines of a match without people, which sweepers do not.

        If the match waited long in its lane, it gets that time back, as after an outage, so that its bots lose no
        turns. This happens once per decision, so that timers still ring if the lane stays behind.
        """
        now, first = self._ports.now(), match.first_due()
        if first is None or first.enforced_at is None or first.enforced_at > now:
            return
        late = now - first.enforced_at
        if late > GAP_MS:
            deadlines.extend(self._ports, match.id, f"lane:{first.id}:{first.step}", late + TIME_TO_PLAY_MS)
        deadlines.enforce(self._ports, match.id)
