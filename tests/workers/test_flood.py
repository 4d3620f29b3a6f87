"""Matches of bots alone do not slow down matches with people, however many there are."""

import time
from itertools import pairwise
from secrets import token_hex
from statistics import quantiles
from typing import Final

import pytest
from msgspec import to_builtins

from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.usecases.match_lifecycle import create, join, leave
from service.usecases.play import ActionRequest, act
from tests.length import LENGTH
from tests.waiting import until
from tests.workers.world import GAME, World

FLOOD: Final = 75 * LENGTH
"""Matches of bots; TEST_LENGTH=40 makes 3,000, which the limits of an earlier release allowed one address."""
ANSWERS: Final = 40
PAUSE_S: Final = 0.02
"""A person's thinking time before each action."""
NOISE_MS: Final = 10
"""What the scheduler of a busy machine may add to an answer."""
TRIES: Final = 4


def flood(world: World) -> None:
    """Create matches of bots: plain ones, some with a clock that runs out while they wait, some whose only person left."""
    ports = world.service.ports
    for number in range(FLOOD):
        clock = MatchClock(turn_seconds=5) if number % 3 == 1 else None
        bots = ("greedy",) * (1 if number % 3 == 2 else 2)
        match = create(ports, "pl_f", NewMatch(game=GAME, seats=2, bots=bots, clock=clock), token_hex(8)).match
        if len(bots) == 1:
            join(ports, "pl_f", match.id, "join")
            leave(ports, "pl_f", match.id, "leave")


def waiting(world: World) -> int:
    ports = world.service.ports
    return ports.log.count_due("bots", ports.now())


def answer_ms(world: World, count: int = ANSWERS) -> float:
    """Milliseconds from a person's action to the bot's event after it, by the times in the log; 95th percentile."""
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
    return quantiles(measured, n=20)[-1]


@pytest.mark.long
def test_a_bot_answers_a_person_as_fast_beside_a_flood_of_matches_of_bots(world: World) -> None:
    world.worker("people")
    world.worker("bots")
    until(lambda: world.service.queue_client.scard("rq:workers") == 2, 60, "the workers wait for hints")
    answer_ms(world, 10)  # warm-up: a new process does some things once
    without_flood = answer_ms(world)
    with_flood: list[float] = []
    while not with_flood or (with_flood[-1] > 2 * without_flood + NOISE_MS and len(with_flood) < TRIES):
        flood(world)
        with_flood.append(answer_ms(world))
        assert waiting(world) > 0, "the flood was over too soon"
    assert with_flood[-1] <= 2 * without_flood + NOISE_MS, (without_flood, with_flood)
