"""APE-30 to APE-32: the end, the winner and the points."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from service.games.ape_town.actions import PlaceTile, TakeTile
from service.games.ape_town.effects import BossFound, DecisionOpened, DistrictCompleted, MatchEnded, PointsScored
from service.games.ape_town.game import GAME
from service.games.ape_town.state import State
from service.games.protocol import IllegalAction, Outcome
from tests.service.games.ape_town.builders import (
    decide,
    full_except,
    legal,
    play,
    table,
    with_holdings,
    with_tile_to_place,
    with_tiles,
)
from tests.service.games.rng import ScriptedRng

LAST = PlaceTile("0-0")


def before_last_tile(seats: int = 2, active: int = 0) -> State:
    """The state in which the seat will fill the last free field."""
    state = with_tiles(table(seats), {**full_except("0-0"), "1-0": "orangutan 1", "1-1": "mandrill"})
    return with_tile_to_place(replace(state, active=active), "lemur", "grey")


def finished_match(*scores: int, active: int = 0) -> State:
    """A finished match with these points, in which this seat had the last turn."""
    state = replace(table(len(scores)), active=active, step=None)
    for seat, points in enumerate(scores):
        state = with_holdings(state, seat, placement=points, money=0)
    return state


def score(state: State) -> Outcome:
    return GAME.score(state, ScriptedRng())


def test_ape_30_the_match_ends_when_the_last_field_is_filled_and_its_district_is_scored() -> None:
    effects = decide(before_last_tile(), LAST)
    assert [effect for effect in effects if isinstance(effect, DistrictCompleted)] == [DistrictCompleted("D1", 1)]
    assert BossFound("D1", 1, "orangutan", 3) in effects
    assert PointsScored(1, 3, "boss", "APE-20") in effects
    assert effects[-1] == MatchEnded()
    assert not [effect for effect in effects if isinstance(effect, DecisionOpened)]


def test_ape_30_the_match_goes_on_while_a_field_is_free() -> None:
    state = with_tiles(table(), full_except("0-0", "0-1"))
    assert isinstance(decide(with_tile_to_place(state, "lemur", "grey"), LAST)[-1], DecisionOpened)


def test_ape_30_nobody_may_act_after_the_end() -> None:
    state = play(before_last_tile(), LAST)
    assert GAME.decisions(state) == ()
    assert legal(state) == []
    for seat in (0, 1):
        with pytest.raises(IllegalAction) as refused:
            decide(state, TakeTile(0), seat)
        assert (refused.value.code, refused.value.clause) == ("game-over", "APE-30")


def test_ape_30_each_money_is_a_point_at_the_end() -> None:
    outcome = score(with_holdings(with_holdings(finished_match(10, 12), 0, money=5), 1, money=2))
    assert outcome.scores == (15, 14)
    assert [parts["money"] for parts in outcome.breakdown] == [5, 2]


def test_ape_31_the_breakdown_adds_up() -> None:
    state = with_holdings(finished_match(0, 0), 0, placement=1, boss=20, neighbours=300, money=4000)
    outcome = score(state)
    assert outcome.breakdown[0] == {"placement": 1, "boss": 20, "neighbours": 300, "money": 4000}
    assert tuple(outcome.breakdown[0]) == GAME.info.breakdown
    assert outcome.scores == (4321, 0)


@pytest.mark.parametrize("points", list(permutations((3, 2, 1))))
def test_ape_31_the_most_points_win(points: tuple[int, ...]) -> None:
    outcome = score(finished_match(*points))
    assert outcome.ranks == tuple(4 - one for one in points)
    assert outcome.winners == (points.index(3),)


@pytest.mark.parametrize(
    ("scores", "active", "ranks"),
    [
        ((5, 5), 0, (2, 1)),
        ((5, 5), 1, (1, 2)),
        ((5, 5, 5, 5), 0, (4, 1, 2, 3)),
        ((5, 5, 5, 5), 2, (2, 3, 4, 1)),
        ((5, 5, 5, 5), 3, (1, 2, 3, 4)),
        ((7, 5, 7, 5), 1, (2, 4, 1, 3)),
        ((7, 5, 7, 5), 2, (1, 4, 2, 3)),
    ],
)
def test_ape_31_of_tied_players_the_one_whose_turn_would_come_next_ranks_first(
    scores: tuple[int, ...], active: int, ranks: tuple[int, ...]
) -> None:
    outcome = score(finished_match(*scores, active=active))
    assert outcome.ranks == ranks
    assert outcome.winners == (ranks.index(1),)


def test_ape_31_the_tie_break_depends_on_the_player_of_the_last_field() -> None:
    state = play(with_holdings(before_last_tile(3, active=2), 0, boss=3), LAST)
    outcome = score(state)
    assert outcome.scores == (9, 9, 6)
    assert outcome.ranks == (1, 2, 3)


def test_ape_31_no_draw_is_made() -> None:
    rng = ScriptedRng()
    GAME.score(finished_match(5, 5), rng)
    assert rng.drawn == []


def test_ape_32_points_above_99_count_on() -> None:
    state = with_holdings(with_holdings(before_last_tile(), 1, boss=98), 0, placement=250)
    state = play(state, LAST)
    assert state.seats[1].boss == 101
    assert score(state).scores == (256, 107)
