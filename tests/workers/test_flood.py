"""Matches of bots alone do not slow down matches with people, however many there are."""

import signal
import time
from collections.abc import Sequence
from itertools import pairwise
from secrets import token_hex
from statistics import quantiles
from typing import Final

import pytest
from msgspec import to_builtins

from service.match.events import MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.usecases.match_lifecycle import create, join, leave
from service.usecases.play import ActionRequest, act
from tests.length import LENGTH, LONG
from tests.waiting import in_time, until
from tests.workers.world import GAME, World

FLOOD: Final = 75 * LENGTH
"""Matches of bots; TEST_LENGTH=40 makes 3,000, which the limits of an earlier release allowed one address."""
ANSWERS: Final = 10
TURNS: Final = 4 if LONG else 2
PAUSE_S: Final = 0.02
"""A person's thinking time before each action."""
NOISE_MS: Final = 10
"""What the scheduler of a busy machine may add to an answer."""


def flood(world: World) -> list[Match]:
    """Create matches of bots: plain ones, some with a clock that runs out while they wait, some whose only person left.

    Returns the plain ones.
    """
    plain = []
    ports = world.service.ports
    for number in range(FLOOD):
        clock = MatchClock(turn_seconds=5) if number % 3 == 1 else None
        bots = ("greedy",) * (1 if number % 3 == 2 else 2)
        match = create(ports, "pl_f", NewMatch(game=GAME, seats=2, bots=bots, clock=clock), token_hex(8)).match
        if len(bots) == 1:
            join(ports, "pl_f", match.id, "join")
            leave(ports, "pl_f", match.id, "leave")
        elif clock is None:
            plain.append(match)
    return plain


def waiting(world: World) -> int:
    ports = world.service.ports
    return ports.log.count_due("bots", ports.now())


def events(world: World, matches: Sequence[Match]) -> int:
    return sum(world.newest(match).head.version for match in matches)


def answers_ms(world: World, count: int) -> list[int]:
    """Milliseconds from each action of a person to the bot's event after it, by the times in the log."""
    ports = world.service.ports
    measured: list[int] = []
    while len(measured) < count:
        match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("greedy",)), token_hex(8)).match
        join(ports, "pl_a", match.id, "join")
        while (newest := world.newest(match)).status == "running" and len(measured) < count:
            if [decision.seat for decision in newest.decisions()] == [1]:
                time.sleep(PAUSE_S)
                action = ActionRequest(to_builtins(legal_actions(newest, 1)[0]))
                act(ports, "pl_a", match.id, action, str(newest.head.version))
            else:
                time.sleep(0.001)
        times = [(event.by, event.at) for event in world.events(match)]
        measured += [
            at - acted_at for (actor, acted_at), (by, at) in pairwise(times) if (actor, by) == ("seat:1", "bot:greedy")
        ]
    return measured


def slowest_quarter_ms(measured: list[int]) -> float:
    """A quarter of the answers took longer."""
    return quantiles(measured, n=4)[-1]


@pytest.mark.long
def test_a_bot_answers_a_person_as_fast_beside_a_flood_of_matches_of_bots(world: World) -> None:
    """The process that plays the flood is stopped and continued in turn, because the speed of a busy machine changes."""
    world.worker("people")
    floods = world.worker("bots")
    until(lambda: world.service.queue_client.scard("rq:workers") == 2, 60, "the workers wait for hints")
    answers_ms(world, 10)  # warm-up: a new process does some things once

    def slowdown() -> float:
        """How many times longer an answer takes while matches of the flood are played."""
        plain = flood(world)
        alone, beside = list[int](), list[int]()
        for _ in range(TURNS):
            floods.send_signal(signal.SIGSTOP)
            alone += answers_ms(world, ANSWERS // 2)
            before = events(world, plain)
            alone += answers_ms(world, ANSWERS // 2)
            assert events(world, plain) == before, "the process for people played matches of the flood"
            if waiting(world) < FLOOD:
                plain += flood(world)
            floods.send_signal(signal.SIGCONT)
            beside += answers_ms(world, ANSWERS)
            assert waiting(world) > 0, "the flood was over too soon"
        assert events(world, plain) > before, "no match of the flood was played"
        found = slowest_quarter_ms(alone), slowest_quarter_ms(beside)
        print(f"alone {found[0]} ms, beside the flood {found[1]} ms")
        return (found[1] - NOISE_MS) / found[0]

    in_time(slowdown, 2, "the answers take less than twice as long")
