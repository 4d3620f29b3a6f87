"""APE-1 and APE-2: the setup."""

from collections import Counter

import pytest

from service.games.ape_town.components import BOX
from service.games.ape_town.effects import DecisionOpened, SectionRevealed, TableSet, TilesShuffled
from service.games.ape_town.game import GAME
from service.games.ape_town.state import Options
from tests.service.games.ape_town.builders import DEAL, opening, table
from tests.service.games.rng import ScriptedRng


def test_the_draws_of_the_start_are_made_in_the_public_order() -> None:
    rng = ScriptedRng()
    GAME.setup(3, Options(), 0, rng)
    assert rng.drawn == ["tiles", "first_seat"]


def test_a_whole_setup() -> None:
    assert opening(3, first=1) == (
        TableSet(turn_order=(1, 2, 0), money_each=6, discs_each=15),
        TilesShuffled(40, 40, DEAL),
        SectionRevealed(0, (0, 1, 2, 3, 4), DEAL[0:5]),
        SectionRevealed(1, (5, 6, 7, 8, 9), DEAL[5:10]),
        DecisionOpened(1, "take_tile"),
    )


def test_ape_1_all_tiles_are_shuffled_and_lie_at_the_segments_or_in_the_supply() -> None:
    state = table()
    assert state.track == DEAL[:40]
    assert state.supply == DEAL[40:]
    tables = [GAME.setup(2, Options(), 0, ScriptedRng(seed))[1] for seed in range(5)]
    orders = {effect.tiles for effect in tables if isinstance(effect, TilesShuffled)}
    assert len(orders) == 5
    assert all(Counter(order) == Counter(BOX.tiles) for order in orders)


def test_ape_1_before_the_shuffle_the_tiles_lie_in_the_public_order() -> None:
    kinds = {"tarsier": 10, "chimpanzee": 10, "mandrill": 10, "banana": 24, "lemur": 14, "orangutan": 12}
    assert BOX.tiles == tuple(kind for kind, count in kinds.items() for _ in range(count))


def test_ape_1_face_down_tiles_and_the_supply_are_hidden_from_all() -> None:
    assert TilesShuffled.hidden.keys() == {"tiles"}
    assert TilesShuffled.hidden["tiles"].fields == ()


def test_ape_2_the_first_two_sections_lie_face_up() -> None:
    state = table()
    assert state.display == tuple(range(10))
    assert GAME.observation(state, 0).face_down == tuple(range(10, 40))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_ape_2_each_seat_has_six_money_fifteen_discs_and_no_points(seats: int) -> None:
    held = table(seats).seats
    assert [(one.money, one.discs) for one in held] == [(6, 15)] * seats
    assert [(one.placement, one.boss, one.neighbours) for one in held] == [(0, 0, 0)] * seats


def test_ape_2_the_starting_player_is_a_draw() -> None:
    firsts = [GAME.setup(3, Options(), 0, ScriptedRng(seed))[-1] for seed in range(20)]
    assert {effect.seat for effect in firsts if isinstance(effect, DecisionOpened)} == {0, 1, 2}
    assert table(3, first=2).active == 2
