"""Public and hidden information, and sampled states."""

import msgspec
import pytest

from service.games.ape_town.actions import TakeTile
from service.games.ape_town.game import GAME
from service.games.ape_town.state import Taken
from service.games.ape_town.view import OpenTile
from service.games.protocol import Decision
from tests.service.games.ape_town.builders import DEAL, legal, pieces, play, random_match, table, with_money, with_tiles
from tests.service.games.ape_town.follower import Follower
from tests.service.games.following import as_json
from tests.service.games.rng import ScriptedRng


def test_public_information_is_shown() -> None:
    state = play(with_money(table(3, first=1), at_2=1), TakeTile(2))
    seen = GAME.observation(with_tiles(state, {"0-0": "lemur 2", "0-1": "banana"}), None)
    assert (seen.active, seen.step) == (1, "place_tile")
    assert seen.display[:3] == (OpenTile(0, DEAL[0]), OpenTile(1, DEAL[1]), OpenTile(3, DEAL[3]))
    assert seen.face_down == tuple(range(10, 40))
    assert seen.track_money == (1, 1, *(0,) * 38)
    assert seen.turned_up == (0, 1)
    assert seen.supply == 40
    assert seen.taken == Taken(2, "white", DEAL[2])
    assert (seen.board, seen.discs) == ({"0-0": "lemur", "0-1": "banana"}, {"0-0": 2})
    assert [held.money for held in seen.seats] == [6, 5, 6]


def test_all_viewers_see_the_same() -> None:
    state = play(table(4), TakeTile(3))
    assert len({msgspec.json.encode(GAME.observation(state, viewer)) for viewer in (None, 0, 1, 2, 3)}) == 1


def test_hidden_tiles_do_not_affect_observations() -> None:
    other = table(tiles=(*DEAL[:10], *reversed(DEAL[10:])))
    assert other != table()
    assert GAME.observation(other, 0) == GAME.observation(table(), 0)


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_an_observation_can_be_kept_up_to_date_from_effects_only(seats: int) -> None:
    followers = {viewer: Follower(viewer) for viewer in (None, *range(seats))}
    for state, effects in random_match(seats, seats):
        for viewer, follower in followers.items():
            follower.follow(effects)
            assert follower.table == as_json(GAME.observation(state, viewer))


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_sampled_state_has_the_same_observation_and_pieces(seats: int) -> None:
    for state, _ in random_match(seats, seats):
        seen = GAME.observation(state, 0)
        imagined = GAME.sample_state(seen, ScriptedRng(1))
        assert GAME.observation(imagined, 0) == seen
        assert pieces(imagined) == pieces(state)


def test_sampled_states_differ_in_hidden_data() -> None:
    seen = GAME.observation(table(), 0)
    assert len({GAME.sample_state(seen, ScriptedRng(seed)).supply for seed in range(5)}) == 5


def test_a_seat_that_does_not_answer_takes_the_free_tile_and_fills_the_first_free_field() -> None:
    state = table(3, first=2)
    assert GAME.decisions(state) == (Decision(2, "take_tile", TakeTile(0)),)
    state = play(state, TakeTile(0))
    assert GAME.decisions(state) == (Decision(2, "place_tile", legal(state)[0]),)
