"""The points of a round and the outcome (FOU-23, FOU-24, FOU-33)."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from service.games.four_monkeys.effects import (
    MatchEnded,
    RoundOpened,
    RoundScored,
)
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.scoring import smartest
from service.games.four_monkeys.state import State, Tile
from service.games.visibility import Seat
from tests.service.games.four_monkeys.builders import (
    DEADLINE,
    GOLD,
    SIX,
    after,
    cards,
    legal,
    of_type,
    points,
    ring,
    state_with_tiles,
    table,
    tile,
    tiles,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng


@pytest.mark.parametrize(
    ("used", "received", "expected"),
    [
        (False, 0, {"tiles": 6, "set_aside": 0, "skins": 0, "points": 6}),
        (True, 0, {"tiles": 5, "set_aside": 0, "skins": 0, "points": 5}),
        (True, 2, {"tiles": 5, "set_aside": 0, "skins": -6, "points": -1}),
    ],
)
def test_fou_23_a_round_scores_the_values_of_tiles_and_received_skins_cost_three(
    used: bool, received: int, expected: dict[str, int]
) -> None:
    state = state_with_tiles(tiles("K07-1", "K02-1"), (tile("K10-2", *SIX), tile("K05-2", *GOLD)))
    state = with_holdings(state, 0, replenish_used=used, received_skins=received)
    scored = of_type(ring(state), RoundScored)[0]
    assert isinstance(scored, RoundScored)
    assert {name: getattr(scored, name) for name in expected} == expected
    assert (scored.clause, scored.smartest) == ("FOU-23", 0)


def test_fou_13_the_orange_side_of_the_hand_replenish_tile_is_worth_one_point_less() -> None:
    state = with_holdings(state_with_tiles(tiles("K02-1"), (tile("K10-2", *SIX),)), 0, replenish_used=True)
    assert points(after(state, ring(state))) == [2 - 1, 6]


def test_fou_23_a_burned_tile_scores_the_value_of_its_orange_side() -> None:
    state = state_with_tiles((tile("K07-1", burned=True), tile("K02-1")), (tile("K10-2", *SIX), tile("K05-2", *GOLD)))
    assert points(after(state, ring(state))) == [3 + 2, 6 + 3]


def test_fou_23_each_tile_set_aside_costs_two_points() -> None:
    state = state_with_tiles((tile("K02-1", *SIX), *tiles("K05-1", "K05-2"), tile("K10-1", *SIX)))
    scored = of_type(ring(state), RoundScored)[0]
    assert scored == RoundScored(0, tiles=6, set_aside=-6, skins=0, smartest=0, points=0, clause="FOU-23")


@pytest.mark.parametrize(("seats", "rounds"), [(2, 3), (6, 3), (7, 4), (8, 4)])
def test_fou_24_a_match_has_three_rounds_and_four_in_two_areas(seats: int, rounds: int) -> None:
    state = table(seats)
    for number in range(1, rounds + 1):
        assert state.round == number
        effects = ring(state, at=state.deadline)
        assert (effects[-1] == MatchEnded()) == (number == rounds)
        assert any(isinstance(effect, RoundOpened) for effect in effects) == (number < rounds)
        state = after(state, effects)
    assert state.phase == "over"
    assert GAME.decisions(state) == ()
    assert legal(state) == []
    outcome = GAME.score(state, ScriptedRng())
    names = [f"round_{number}" for number in range(1, rounds + 1)]
    assert list(outcome.breakdown[0]) == [*names, "false_stops"]


def test_fou_24_the_next_round_starts_after_a_countdown_from_the_event_that_dealt_it() -> None:
    state = table()
    state = after(state, ring(state, at=DEADLINE + 123))
    assert (state.starts_at, state.deadline) == (DEADLINE + 5_123, DEADLINE + 245_123)


@pytest.mark.parametrize(
    ("rounds", "stops", "ranks", "winners"),
    [
        (((5, 1), (2, 2), (9, 0)), (0, 0, 0), (2, 3, 1), (2,)),
        (((5, 1), (2, 4), (0, 1)), (0, 0, 0), (2, 1, 3), (1,)),
        (((5, 1), (5, 1), (9, 3)), (0, 0, 1), (1, 1, 3), (0, 1)),
        (((5, 1), (4, 2), (14, 2)), (0, 0, 1), (3, 1, 1), (1, 2)),
    ],
)
def test_fou_24_most_points_win_then_most_in_the_last_round_then_the_rank_is_shared(
    rounds: tuple[tuple[int, int], ...], stops: tuple[int, ...], ranks: tuple[int, ...], winners: tuple[Seat, ...]
) -> None:
    state = replace(table(3), points=rounds, false_stops=stops, phase="over")
    outcome = GAME.score(state, ScriptedRng())
    assert (outcome.ranks, outcome.winners) == (ranks, winners)
    assert outcome.breakdown[2] == {"round_1": rounds[2][0], "round_2": rounds[2][1], "false_stops": -10 * stops[2]}
    assert outcome.scores[2] == sum(rounds[2]) - 10 * stops[2]


def family(*owned: Sequence[Tile], ahead: tuple[int, ...] = (), **held: object) -> State:
    state = state_with_tiles(*owned, family=True)
    state = replace(state, points=tuple((points,) for points in ahead) or state.points)
    return with_holdings(state, 0, **held)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (family(tiles("K10-1"), tiles("K01-1", "K02-1")), (1,)),
        (family(tiles("K10-1"), (tile("K02-1", burned=True),)), (0,)),
        (family(tiles("K02-1"), tiles("K01-1"), replenish_used=True), (1,)),
        (family(tiles("K10-1", "K01-1"), tiles("K08-1", "K09-1")), (0,)),
        (family(tiles("K10-1", "K01-1"), tiles("K10-2", "K02-1")), (1,)),
        (family(tiles("K02-1"), tiles("K03-1"), ahead=(4, 5)), (1,)),
        (family(tiles("K02-1"), tiles("K03-1"), ahead=(5, 5)), (0, 1)),
        (replace(family(tiles("K02-1"), tiles("K03-1"), ahead=(5, 5)), false_stops=(0, 1)), (0,)),
        # visible values: the burned K09 shows less than the green K08
        (
            family((tile("K09-1", burned=True), tile("K01-1")), (tile("K08-1"), tile("K02-1", burned=True))),
            (1,),
        ),
        (family((), ()), (0, 1)),
    ],
)
def test_fou_33_the_smartest_monkey_has_most_tiles_then_fewest_burned_then_the_highest_values_then_the_score(
    state: State, expected: tuple[Seat, ...]
) -> None:
    assert smartest(state) == expected


@pytest.mark.parametrize(
    ("burned", "used", "scored"),
    [
        (0, False, RoundScored(0, 4, 0, 0, 1, 5, "FOU-33")),
        (0, True, RoundScored(0, 3, 0, 0, 1, 4, "FOU-33")),
        (1, False, RoundScored(0, 3, 0, 0, 1, 4, "FOU-33")),
        (1, True, RoundScored(0, 3, 0, 0, 1, 4, "FOU-33")),
        (3, True, RoundScored(0, 2, 0, 0, 1, 3, "FOU-33")),
    ],
)
def test_fou_33_green_tiles_score_one_point_and_every_two_orange_ones(
    burned: int, used: bool, scored: RoundScored
) -> None:
    under = {"K02-1": cards(0, "ct", "sp"), "K05-1": GOLD, "K10-1": SIX}
    own = [tile(combo, *those, burned=index < burned) for index, (combo, those) in enumerate(under.items())]
    state = family(own, (), replenish_used=used)
    assert of_type(ring(state, at=state.deadline), RoundScored)[0] == scored


def test_fou_33_wrong_combos_cost_one_and_repeated_ones_nothing_and_skins_the_same() -> None:
    four = cards(1, "ct", "ct", "cs", "cs")
    state = family((tile("K02-1"), *tiles("K05-1", "K05-2"), tile("K10-1")), (tile("K01-1", *four),), received_skins=1)
    effects = ring(state, at=state.deadline)
    assert of_type(effects, RoundScored) == [
        RoundScored(0, tiles=1, set_aside=-2, skins=-3, smartest=0, points=-4, clause="FOU-33"),
        RoundScored(1, tiles=2, set_aside=0, skins=0, smartest=1, points=3, clause="FOU-33"),
    ]


def test_fou_33_every_smartest_monkey_at_the_start_of_step_4_scores_for_it() -> None:
    state = family((), ())
    effects = ring(state, at=state.deadline)
    assert [effect.points for effect in effects if isinstance(effect, RoundScored)] == [2, 2]
