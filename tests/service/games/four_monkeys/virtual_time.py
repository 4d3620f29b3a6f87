"""Matches of bots in virtual time: each seat acts every few seconds of match time, and timers ring when they are due."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from service.games.bots import bots_of
from service.games.protocol import CLOCK, AnyGame, Decision, Move, Ring, Task, fold
from service.games.visibility import Effect, Seat
from service.match.randomness import Draws
from tests.service.games.matches import draws

PACE_MS = range(2_000, 3_000)
"""The time that a seat takes for a decision."""


class Step(NamedTuple):
    """The effects of one move. The setup has no move."""

    move: Move[Any] | None
    effects: tuple[Effect, ...]
    after: Any


def match(game: AnyGame, bots: Sequence[str], options: Mapping[str, object], seed: str) -> Iterator[Step]:
    """Every step of a match. The same seed gives the same match."""
    rng, chance = draws(seed), draws("bots " + seed)
    state, effects = None, game.setup(len(bots), game.options(len(bots), options), 0, rng)
    ready = {seat: _pause(chance) for seat in range(len(bots))}
    move: Move[Any] | None = None
    while True:
        state = fold(game, state, effects)
        yield Step(move, effects, state)
        if not game.decisions(state):
            return
        action = None
        while action is None:  # a bot that returned None chooses again later
            at, decision = _next(game.decisions(state), ready)
            action = _action(game, bots, state, decision, chance)
            if decision.seat != CLOCK:
                ready[decision.seat] = at + _pause(chance)
        move = Move(decision.seat, action, at)
        effects = game.decide(state, move, rng)


def _next(decisions: Sequence[Decision[Any]], ready: Mapping[Seat, int]) -> tuple[int, Decision[Any]]:
    """The time and the decision of the next seat to act, or of the timer if it is due first."""
    due = [(_due(one, ready), one) for one in decisions]
    in_time = [(at, one) for at, one in due if one.seat == CLOCK or at < (one.deadline or 0)]
    return min(in_time, key=lambda pair: (pair[0], pair[1].seat))


def _pause(chance: Draws) -> int:
    return chance.pick("pause", PACE_MS)


def _due(decision: Decision[Any], ready: Mapping[Seat, int]) -> int:
    if decision.seat == CLOCK:
        return decision.deadline or 0
    return max(decision.opens_at or 0, ready[decision.seat])


def _action(game: AnyGame, bots: Sequence[str], state: Any, decision: Decision[Any], chance: Draws) -> Any:
    if decision.seat == CLOCK:
        return Ring(decision.step)
    seat = decision.seat
    task: Task[Any, Any] = Task(
        seat, decision.step, game.observation(state, seat), tuple(game.legal_actions(state, seat))
    )
    return bots_of(game)[bots[seat]](task, chance)
