"""A bot that hangs stops neither the other bots of its match nor other matches."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from service.container import Service, build
from service.games.registry import GAMES
from service.match.events import MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases.match_lifecycle import create
from tests.waiting import until
from tests.workers.world import World
from workers.time_limits import BOT_TIMEOUT_S, cpu_time_limit, wall_time_limit
from workers.turns import Turns


def asleep(*_: Any) -> Any:
    time.sleep(60)


def busy(*_: Any) -> Any:
    while True:
        pass


def ignores_timeout(*_: Any) -> Any:
    while True:
        with suppress(Exception):
            time.sleep(60)


HANGING = {"asleep": asleep, "busy": busy, "ignores_timeout": ignores_timeout}


def monkeys(service: Service, *bots: str) -> Match:
    wanted = NewMatch(
        game="four_monkeys",
        seats=len(bots),
        bots=bots,
        options={"countdown_seconds": 0},
        clock=MatchClock(bot_pace_ms=100),
    )
    return create(service.ports, "pl_a", wanted, "-".join(bots)).match


@pytest.mark.parametrize("hanging", HANGING)
def test_hanging_bots_stop_no_other_bots_and_no_other_matches(world: World, hanging: str) -> None:
    rules = GAMES["four_monkeys"]
    calls = count()

    def hang(*_: Any) -> Any:
        next(calls)
        return HANGING[hanging]()

    games = {**GAMES, "four_monkeys": replace(rules, bots={**rules.bots, hanging: hang})}
    service = build(read(world.environ), games=games, listen=False)
    turns = Turns(service.ports, bot_limit=wall_time_limit)
    with_hanging = monkeys(service, hanging, "greedy", hanging, "greedy")
    without = monkeys(service, "greedy", "greedy")

    def actions(match: Match, seat: int) -> int:
        return sum(
            event.by == "bot:greedy" and b'"seat":%d,' % seat in bytes(event.data) for event in world.events(match)
        )

    def played() -> bool:
        for match in (with_hanging, without):
            turns.play(match.id)
        return actions(with_hanging, 1) >= 5 and actions(with_hanging, 3) >= 5 and actions(without, 0) >= 5

    began = time.monotonic()
    until(played, 60, "the other bots play")
    # The others had at least ten turns. The two hanging bots were called less often: each is skipped for a while.
    assert next(calls) < 8
    assert time.monotonic() - began < 30 * BOT_TIMEOUT_S  # no bot hung for its full minute
    assert {event.by for event in world.events(with_hanging) if event.type == "action"} == {"bot:greedy"}
    service.close()


def test_the_time_limit_ends_a_block_and_its_timer_stops_afterwards() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"0\.3"), wall_time_limit(0.3):
        time.sleep(10)
    assert 0.25 < time.monotonic() - began < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_signal_after_the_block_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    disarm = signal.setitimer

    def late(timer: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        if seconds == 0:
            for _ in range(3):
                signal.raise_signal(signal.SIGALRM if timer == signal.ITIMER_REAL else signal.SIGPROF)
        return disarm(timer, seconds, interval)

    monkeypatch.setattr(signal, "setitimer", late)
    with wall_time_limit(10):
        pass
    with cpu_time_limit(10):
        pass
    assert [disarm(timer, 0) for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)] == [(0.0, 0.0)] * 2


FROZEN = """
import os, signal, subprocess
from workers.time_limits import wall_time_limit
with wall_time_limit(0.5):
    resumer = subprocess.Popen(["sh", "-c", f"sleep 1.5; kill -CONT {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)
resumer.wait()
"""


def test_time_in_which_the_process_is_stopped_does_not_count_against_a_bot() -> None:
    subprocess.run([sys.executable, "-c", FROZEN], check=True, timeout=60)
