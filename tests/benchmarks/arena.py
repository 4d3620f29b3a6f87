"""The speed of the arena, compared with the bare rules and bots: matches per second of two processes."""

import subprocess
import sys
import time
from contextlib import closing
from itertools import islice
from typing import Any, Final

from service.arena.deals import Contest, JobOrder
from service.arena.jobs import deals
from service.games.bots import bots_of
from service.games.protocol import Move, Task
from service.games.registry import GAMES
from service.match.randomness import Draws

GAME: Final = GAMES["ape_town"]
BOTS: Final = ("greedy", "random")
PROCESSES: Final = 2
DEALS: Final = 60
ROUNDS: Final = 3


def rates() -> tuple[float, float]:
    """Matches per second of the arena and of the bare rules in as many processes: the best of several alternating rounds."""
    pairs = [(_by_arena(), _by_rules()) for _ in range(ROUNDS)]
    return max(arena for arena, _ in pairs), max(bare for _, bare in pairs)


def _by_arena() -> float:
    """Measured over deals in the middle of a contest, while all jobs are busy."""
    contest = Contest(GAME.info.id, BOTS, {}, bytes(32).hex(), 1000)
    with closing(deals(JobOrder(contest), PROCESSES, None, {})) as played:
        for _ in range(2 * PROCESSES):
            next(played)
        began = time.perf_counter()
        matches = sum(len(deal.matches) for deal in islice(played, DEALS))
        return matches / (time.perf_counter() - began)


def _by_rules() -> float:
    share = 2 * DEALS // PROCESSES
    command = [sys.executable, "-m", "tests.benchmarks.arena", str(share)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(PROCESSES)]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()  # it has imported everything
    began = time.perf_counter()
    for process in running:
        assert process.stdin is not None
        process.stdin.close()  # all begin now; `communicate` would wait for the end of each before the next begins
    for process in running:
        process.wait()
    return PROCESSES * share / (time.perf_counter() - began)


def play_bare(number: int) -> None:
    """Play a match with only the rules and the bots."""
    key = number.to_bytes(32, "big")
    rng, chance = Draws(lambda: key, {}), Draws(lambda: key, {})
    bots = [bots_of(GAME)[BOTS[(seat + number) % 2]] for seat in range(2)]
    state: Any = None
    for effect in GAME.setup(2, GAME.options(2, {}), 0, rng):
        state = GAME.apply(state, effect)
    while decisions := GAME.decisions(state):
        seat = decisions[0].seat
        legal = tuple(GAME.legal_actions(state, seat))
        task = Task(seat, decisions[0].step, GAME.observation(state, seat), legal)
        for effect in GAME.decide(state, Move(seat, bots[seat](task, chance), 0), rng):
            state = GAME.apply(state, effect)
    GAME.score(state, rng)


def main() -> None:
    print(flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[1])):
        play_bare(number)


if __name__ == "__main__":
    main()
