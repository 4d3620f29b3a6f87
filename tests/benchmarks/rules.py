"""The speed of one process that plays, rebuilds and verifies matches: rules, fold and audit, without a server."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from events.memory_log import MemoryLog
from service.audit.match_file import export
from service.audit.verify import verify
from service.games.bots import RANDOM
from service.games.kit.patterns import sample_action
from service.games.protocol import CLOCK, AnyGame, Decision, Move, Ring
from service.match.fold import begin, fold
from service.match.randomness import Draws
from service.ops.simulate import play

REPEATS = 5
NO_OPTIONS: Final[Mapping[str, object]] = {}
PACE_MS: Final = 600
"""Match time (ms) between two actions in a timed game, over all seats."""


def timed(run: Callable[[], int]) -> float:
    """Units per second of processor time, as the median of several runs. Each run returns its number of units."""
    rates = []
    for _ in range(REPEATS):
        began = time.process_time()
        units = run()
        rates.append(units / (time.process_time() - began))
    return median(rates)


def random_play(game: AnyGame, seats: int, matches: int, options: Mapping[str, object] = NO_OPTIONS) -> float:
    """Actions per second of uniformly random matches. Every legal list is consumed completely."""
    seeds = iter(range(1_000_000))

    def run() -> int:
        actions = 0
        for _ in range(matches):
            key = next(seeds).to_bytes(32, "big")
            rng, chance = Draws(lambda key=key: key, {}), Draws(lambda key=key: key, {})  # type: ignore[misc]  # a bound default
            state = None
            for effect in game.setup(seats, game.options(seats, options), 0, rng):
                state = game.apply(state, effect)
            at = 0
            while decisions := game.decisions(state):
                at = max(at + PACE_MS, min(one.opens_at or 0 for one in decisions))
                able = [one for one in decisions if one.seat != CLOCK and (one.deadline is None or at < one.deadline)]
                move = _move(game, state, able[actions % len(able)], at, chance) if able else _bell(decisions)
                for effect in game.decide(state, move, rng):
                    state = game.apply(state, effect)
                actions += 1
        return actions

    return timed(run)


def _move(game: AnyGame, state: Any, decision: Decision[Any], at: int, chance: Draws) -> Move[Any]:
    seat = decision.seat
    listed = chance.pick("action", tuple(game.legal_actions(state, seat)))
    return Move(seat, sample_action(listed, "part", chance), at)


def _bell(decisions: Sequence[Decision[Any]]) -> Move[Any]:
    clock = next(one for one in decisions if one.seat == CLOCK)
    return Move(CLOCK, Ring(clock.step), clock.deadline or 0)


def rebuild(game: AnyGame, seats: int, events: int, options: Mapping[str, object] = NO_OPTIONS) -> tuple[int, float]:
    """Milliseconds to read the first events of a match from a log and fold them, with the chain checked and nothing
    cached.
    """
    ports, match = play(game, [RANDOM] * seats, options, bytes(31) + b"\x01")
    stored = ports.log.read(match.id, last=events).events
    runs = 20

    def run() -> int:
        for _ in range(runs):
            read = ports.log.read(match.id, last=events).events
            fold(begin(match.id, read[0], {game.info.id: game}), read[1:])
        return runs

    assert isinstance(ports.log, MemoryLog)
    return len(stored), 1000 / timed(run)


def verify_rate(game: AnyGame, seats: int) -> float:
    """Events per second through all checks of the audit."""
    ports, match = play(game, [RANDOM] * seats, {}, bytes(31) + b"\x01")
    lines = list(export(ports, match))
    games = {game.info.id: game}

    def run() -> int:
        for _ in range(3):
            verify(lines, games)
        return 3 * (len(lines) - 1)

    return timed(run)
