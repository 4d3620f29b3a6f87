"""The greedy bot."""

import pytest

from service.games.ape_town.actions import AnyAction, PlaceTile, TakeTile
from service.games.ape_town.bots import greedy
from service.games.ape_town.components import BOX
from service.games.ape_town.game import GAME
from service.games.ape_town.state import State
from service.games.protocol import Task
from tests.length import LENGTH, LONG
from tests.service.games.ape_town.builders import (
    DEAL,
    deal_starting_with,
    district_tiles,
    fields_of,
    legal,
    play,
    table,
    with_money,
    with_tile_to_place,
    with_tiles,
)
from tests.service.games.rng import ScriptedRng

CHUNK = 25 if LONG else 10
MATCHES = CHUNK * min(LENGTH, 8)
WINS_OF_A_CHUNK = 20 if LONG else 8
"""Four in five."""


def chosen(state: State) -> AnyAction:
    step = state.step
    assert step is not None
    seat = state.active
    task = Task(seat, step, GAME.observation(state, seat), tuple(GAME.legal_actions(state, seat)))
    return greedy(task, ScriptedRng())


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, MATCHES, CHUNK))
def test_it_wins_four_of_five_matches_against_a_random_bot(first: int) -> None:
    wins = 0
    for seed in range(first, first + CHUNK):
        rng = ScriptedRng(seed)
        state = table(2, first=seed // 2 % 2, tiles=rng.shuffle("tiles", DEAL))
        while actions := legal(state):
            own = state.active == seed % 2
            state = play(state, chosen(state) if own else rng.pick("action", actions))
        wins += GAME.score(state, rng).winners == (seed % 2,)
    assert wins >= WINS_OF_A_CHUNK


def test_it_takes_the_tile_with_the_most_points_for_its_price() -> None:
    state = with_tiles(table(tiles=deal_starting_with("banana", "mandrill")), {"2-2": "banana"})
    assert chosen(state) == TakeTile(1)
    assert chosen(play(state, TakeTile(1))) == PlaceTile("2-3")


def test_it_takes_money_on_a_segment() -> None:
    assert chosen(with_money(table(tiles=deal_starting_with(*BOX.tiles[:10])), at_4=9)) == TakeTile(4)


def test_it_completes_a_district_for_itself_and_not_for_another() -> None:
    last = PlaceTile(fields_of("D8")[-1])
    own = with_tiles(table(), district_tiles("D8", "orangutan 0", "mandrill", "mandrill", free=1))
    assert chosen(with_tile_to_place(own, "tarsier", "black")) == last
    other = with_tiles(table(), district_tiles("D8", "orangutan 1", "lemur 1", "mandrill", "mandrill", free=1))
    assert chosen(with_tile_to_place(other, "tarsier", "black")) != last
    unowned = with_tiles(table(), district_tiles("D8", "mandrill", free=1))
    assert chosen(with_tile_to_place(unowned, "tarsier", "black")) == last  # for the bananas beside the field
    shared = with_tiles(
        table(), {**district_tiles("D8", "lemur 0", free=1), **district_tiles("D5", "mandrill", "mandrill", free=1)}
    )
    assert chosen(with_tile_to_place(shared, "tarsier", "black")) == last


def test_it_puts_a_disc_where_it_scores_most() -> None:
    state = with_tiles(table(), district_tiles("D7", "mandrill", "mandrill", free=2))
    assert chosen(with_tile_to_place(state, "orangutan", "white")) == PlaceTile(fields_of("D7")[-2])
