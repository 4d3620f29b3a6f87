"""The greedy bot."""

import pytest

from service.games.ape_town.actions import AnyAction, PlaceTile, TakeTile
from service.games.ape_town.bots import greedy
from service.games.ape_town.components import BOX
from service.games.ape_town.game import GAME
from service.games.ape_town.state import State
from service.games.protocol import Task
from tests.length import LENGTH
from tests.service.games.ape_town.builders import (
    DEAL,
    fields_of,
    filled,
    holding,
    laid,
    legal,
    lying,
    money_lies,
    play,
    table,
)
from tests.service.games.rng import ScriptedRng

CHUNK = 25
MATCHES = CHUNK * min(LENGTH, 8)
WINS_OF_A_CHUNK = 20
"""Four in five."""


def chosen(state: State) -> AnyAction:
    step = state.step
    assert step is not None
    seat = state.active
    task = Task(seat, step, GAME.observation(state, seat), tuple(GAME.legal_actions(state, seat)))
    return greedy(task, ScriptedRng())


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, MATCHES, CHUNK))
def test_it_wins_four_of_five_matches_against_chance(first: int) -> None:
    wins = 0
    for seed in range(first, first + CHUNK):
        rng = ScriptedRng(seed)
        state = table(2, first=seed // 2 % 2, tiles=rng.shuffle("tiles", DEAL))
        while actions := legal(state):
            own = state.active == seed % 2
            state = play(state, chosen(state) if own else rng.pick("action", actions))
        wins += GAME.score(state, rng).winners == (seed % 2,)
    assert wins >= WINS_OF_A_CHUNK


def test_it_takes_the_tile_that_brings_most_for_its_price() -> None:
    state = laid(table(tiles=lying("banana", "mandrill")), {"2-2": "banana"})
    assert chosen(state) == TakeTile(1)
    assert chosen(play(state, TakeTile(1))) == PlaceTile("2-3")


def test_it_takes_money_that_lies_there() -> None:
    assert chosen(money_lies(table(tiles=lying(*BOX.tiles[:10])), at_4=9)) == TakeTile(4)


def test_it_completes_a_district_for_itself_and_not_for_another() -> None:
    last = PlaceTile(fields_of("D8")[-1])
    mine = laid(table(), filled("D8", "orangutan 0", "mandrill", "mandrill", free=1))
    assert chosen(holding(mine, "tarsier", "black")) == last
    other = laid(table(), filled("D8", "orangutan 1", "lemur 1", "mandrill", "mandrill", free=1))
    assert chosen(holding(other, "tarsier", "black")) != last
    nobodys = laid(table(), filled("D8", "mandrill", free=1))
    assert chosen(holding(nobodys, "tarsier", "black")) == last  # the bananas beside it
    shared = laid(table(), {**filled("D8", "lemur 0", free=1), **filled("D5", "mandrill", "mandrill", free=1)})
    assert chosen(holding(shared, "tarsier", "black")) == last


def test_it_puts_a_disc_where_most_is_to_be_had() -> None:
    state = laid(table(), filled("D7", "mandrill", "mandrill", free=2))
    assert chosen(holding(state, "orangutan", "white")) == PlaceTile(fields_of("D7")[-2])
