"""Plays the turns that one match owes: the one use case of a worker's main thread."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from events.record import MatchId
from service.adapters.beat import GAP_MS
from service.adapters.jobs import LANES, NullJobs
from service.automation import deadlines
from service.automation.bot_limits import Limit, Patience
from service.automation.bot_turns import BUDGET_MS, MOVES, advance
from service.match.model import Match
from service.match.owed import owed
from service.repository.ports import Lane, Ports

NO_LIMIT: Final = nullcontext
TIME_TO_PLAY_MS: Final = 1_000
TIMED_BUDGET_MS: Final = 30
"""How long a job takes of a game that keeps its own time: bots play on there though no person acts, while others wait."""
MOVES_BESIDE: Final = 2
"""Moves in one job of a match of bots, in a process that a person may wait for."""


class Turns:
    """For one process that plays the matches of some lanes.

    `bot_limit` ends what a bot takes too long for, `rules_limit` the rules. Both may need the main thread.
    """

    def __init__(
        self,
        ports: Ports,
        lanes: Collection[Lane] = LANES,
        *,
        bot_limit: Limit = NO_LIMIT,
        rules_limit: Callable[[], AbstractContextManager[object]] = NO_LIMIT,
    ) -> None:
        # Who calls plays on by itself as long as there is more, so that nobody else need be told.
        self._ports = replace(ports, jobs=NullJobs())
        self._lanes = lanes
        self._bot_moves = MOVES_BESIDE if len(lanes) > 1 else MOVES
        self._patience = Patience(bot_limit)
        self._rules_limit = rules_limit

    def play(self, match_id: MatchId) -> Lane | None:
        """Play on until a person is next, or the time of a job is used up; then the lane in which the match goes on.

        Safe to run twice or to lose.

        Raises:
            Refused: there is no such match, or it cannot be played by this release.
            Corrupt: its events are damaged.
            LogUnavailable: it may be repeated.
        """
        with self._rules_limit():
            match, _ = self._ports.history.newest(match_id)
            lane: Lane = "turns" if match.has_people else "bots"
            if lane not in self._lanes:
                # A person left, or an older process wrote what is due: from now on it is due where it belongs.
                self._ports.log.rearm(match_id, match.head.version, owed(match))
                return None
            if lane == "bots":
                self._enforce(match)
            moves = self._bot_moves if lane == "bots" else MOVES
            budget_ms = TIMED_BUDGET_MS if match.game.info.keeps_time else BUDGET_MS
            has_more = advance(self._ports, match_id, moves=moves, budget_ms=budget_ms, patience=self._patience)
            return lane if has_more else None

    def _enforce(self, match: Match) -> None:
        """Enforce the deadlines of a match without people, which no sweeper does.

        A match that waited long for its turn in the lane gets that time back, as after an outage: bots lose no turn by it.
        Once for each decision, so that a lane that stays behind stops no bell.
        """
        now, first = self._ports.now(), match.first_due()
        if first is None or first.enforced_at is None or first.enforced_at > now:
            return
        late = now - first.enforced_at
        if late > GAP_MS:
            deadlines.extend(self._ports, match.id, f"lane:{first.id}:{first.step}", late + TIME_TO_PLAY_MS)
        deadlines.enforce(self._ports, match.id)
