"""A bot that hangs, whatever it hangs in, stops neither the other bots of its match nor other matches."""

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
from workers.alarm import BOT_SECONDS, alarm, processor_limit
from workers.turns import Turns


def asleep(*_: Any) -> Any:
    time.sleep(60)


def busy(*_: Any) -> Any:
    while True:
        pass


def stubborn(*_: Any) -> Any:
    while True:
        with suppress(Exception):
            time.sleep(60)


HANGING = {"asleep": asleep, "busy": busy, "stubborn": stubborn}


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
def test_bots_that_hang_stop_nobody_else(world: World, hanging: str) -> None:
    rules = GAMES["four_monkeys"]
    asked = count()

    def hang(*_: Any) -> Any:
        next(asked)
        return HANGING[hanging]()

    games = {**GAMES, "four_monkeys": replace(rules, bots={**rules.bots, hanging: hang})}
    service = build(read(world.environ), games=games, listen=False)
    turns = Turns(service.ports, bot_limit=alarm)
    sick = monkeys(service, hanging, "greedy", hanging, "greedy")
    well = monkeys(service, "greedy", "greedy")

    def actions(match: Match, seat: int) -> int:
        return sum(
            event.by == "bot:greedy" and b'"seat":%d,' % seat in bytes(event.data) for event in world.events(match)
        )

    def played() -> bool:
        for match in (sick, well):
            turns.play(match.id)
        return actions(sick, 1) >= 5 and actions(sick, 3) >= 5 and actions(well, 0) >= 5

    began = time.monotonic()
    until(played, 60, "the other bots play")
    # Each of the two that hang is asked once in a while, not at every turn of the others, of which there were ten at least.
    assert next(asked) < 8
    assert time.monotonic() - began < 30 * BOT_SECONDS  # none hangs for its minute
    assert {event.by for event in world.events(sick) if event.type == "action"} == {"bot:greedy"}
    service.close()


def test_an_alarm_ends_what_takes_too_long_and_rings_no_more_afterwards() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"0\.3"), alarm(0.3):
        time.sleep(10)
    assert 0.25 < time.monotonic() - began < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_ring_that_comes_as_the_time_is_up_ends_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    disarm = signal.setitimer

    def late(timer: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        if seconds == 0:
            for _ in range(3):
                signal.raise_signal(signal.SIGALRM if timer == signal.ITIMER_REAL else signal.SIGPROF)
        return disarm(timer, seconds, interval)

    monkeypatch.setattr(signal, "setitimer", late)
    with alarm(10):
        pass
    with processor_limit(10):
        pass
    assert [disarm(timer, 0) for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)] == [(0.0, 0.0)] * 2


FROZEN = """
import os, signal, subprocess
from workers.alarm import alarm
with alarm(0.5):
    waker = subprocess.Popen(["sh", "-c", f"sleep 1.5; kill -CONT {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)
waker.wait()
"""


def test_a_bot_is_not_blamed_for_the_time_in_which_its_process_stood_still() -> None:
    subprocess.run([sys.executable, "-c", FROZEN], check=True, timeout=60)
