"""Hosted bots that hang hold nothing but sockets: a bot of the game in another match is as fast as without them."""

import time
from secrets import token_hex
from statistics import median
from typing import Final

import msgspec
import pytest

from service.match.model import Match
from service.match.redaction import legal_actions
from service.usecases import play
from service.usecases.match_lifecycle import join
from service.usecases.play import ActionRequest
from tests.length import LONG
from tests.service.adapters.receivers import receiving
from tests.waiting import until
from tests.workers.hosting import hosted, match_of
from tests.workers.world import World
from workers.lane import IN_FLIGHT_BY_HOST

HANGING: Final = 200 if LONG else 10
MOVES: Final = 150 if LONG else 10
RATIO: Final = 1.2
"""How much slower a bot of the game may answer beside the hanging ones. On a busy machine a short run says little."""


def answer_ms(world: World, match: Match, moves: int) -> float:
    """The median time from a person's move to the answer of the bot of the game, in milliseconds."""
    ports, found = world.service.ports, list[float]()
    while len(found) < moves:
        newest = world.newest(match)
        if newest.status != "running":
            match = beside(world)
            continue
        seat = newest.seat_of("pl_a")
        if any(one.seat == seat for one in newest.decisions()):
            legal = msgspec.to_builtins(legal_actions(newest, seat)[0])
            after = play.act(ports, "pl_a", match.id, ActionRequest(legal), token_hex(8)).match
            if any(one.plays_at is not None for one in after.decisions()):
                began, version = time.monotonic(), after.head.version
                until(lambda: world.newest(match).head.version > version, 20, "the bot answers")  # noqa: B023
                found.append(1000 * (time.monotonic() - began))
        else:
            time.sleep(0.005)
    return median(found)


def beside(world: World) -> Match:
    """A match of a person and a bot of the game."""
    match = match_of(world, "random", seats=2)
    return join(world.service.ports, "pl_a", match.id, "join").match


@pytest.mark.long
def test_hanging_bots_slow_no_bot_of_another_match(world: World) -> None:
    world.worker("people")
    calls = world.calls()
    alone = answer_ms(world, beside(world), MOVES)
    with receiving() as receiver:
        receiver.answer = receiver.hang
        bots = [hosted(world, receiver.url, owner=f"pl_owner{number // 16}") for number in range(HANGING)]
        for bot, other in zip(bots, (*bots[1:], bots[0]), strict=True):
            match_of(world, bot, other)
        until(lambda: receiver.connections >= min(HANGING, IN_FLIGHT_BY_HOST), 20, "the bots hang")
        beside_them = answer_ms(world, beside(world), MOVES)
        calls.kill()
        alone = max(
            alone, answer_ms(world, beside(world), MOVES)
        )  # other work of this machine may have begun meanwhile
    assert beside_them < (RATIO if LONG else 10 * RATIO) * alone + 1
