"""MOM-41 to MOM-46 and MOM-50: ranks of the tribes, titles, ships, Scorn and the winner."""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.components import TRIBES
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.scoring import rank_tribes, status_points
from service.games.monkeys_on_the_moon.state import State
from service.games.protocol import Outcome
from tests.service.games.monkeys_on_the_moon.builders import table, with_holdings, with_scorn_holders, with_stones
from tests.service.games.rng import ScriptedRng

NINE = ("red-5-1", "red-4-1")
OTHER_NINE = ("red-5-2", "red-4-2")
FOUR = ("red-4-1",)


def end(*piles: tuple[str, ...], maximum_scorn: bool = False) -> State:
    """A finished match in which red ranks first, with these launched monkeys."""
    state = with_stones(table(len(piles), maximum_scorn=maximum_scorn), red=9, purple=8, blue=7, green=6, black=5)
    for seat, pile in enumerate(piles):
        state = with_holdings(state, seat, launched=pile, aboard=())
    return replace(state, awaited=None)


def score(state: State, ties: tuple[str, ...] = TRIBES) -> Outcome:
    return GAME.score(state, ScriptedRng(outcomes={"finish_ties": ties}))


def titles(state: State) -> list[int]:
    """The points that each seat gets for red. All other tribes are tied, and score nothing with two seats."""
    return [parts["titles"] for parts in score(state).breakdown]


def even_share(seats: int) -> int:
    """The points that each seat gets from all other ranks while nobody has a monkey of them (MOM-43)."""
    return sum(award // seats for award in (9, 8, 6, 5, 3))


def red(*piles: tuple[str, ...]) -> list[int]:
    return [points - even_share(len(piles)) for points in titles(end(*piles))]


def test_mom_41_finish_circles_keep_their_rank_and_the_others_follow_by_spaces() -> None:
    state = with_stones(table(), "green", "brown", red=3, purple=11, black=7)
    assert rank_tribes(state, TRIBES) == ("green", "brown", "purple", "black", "red", "blue")


@pytest.mark.parametrize(
    "ties", [("purple", "red", "blue", "green", "black", "brown"), ("brown", "red", "black", "purple", "green", "blue")]
)
def test_mom_41_ties_are_in_drawn_order_and_a_stone_that_never_moved_ranks_too(ties: tuple[str, ...]) -> None:
    assert rank_tribes(with_stones(table()), ties) == ties
    assert rank_tribes(with_stones(table(), blue=1), ties) == ("blue", *(tribe for tribe in ties if tribe != "blue"))


def test_mom_41_the_draw_is_made_whether_needed_or_not_and_changes_the_titles() -> None:
    rng = ScriptedRng()
    GAME.score(with_stones(end(FOUR, ()), *TRIBES), rng)
    assert rng.drawn == ["finish_ties"]
    state = with_stones(end(("brown-3-1",), ()))
    assert score(state, ("brown", "red", "black", "purple", "green", "blue")).scores == (7, 0)
    assert score(state, ("red", "black", "purple", "green", "blue", "brown")).scores == (2, 0)


def test_mom_42_the_most_status_points_lead_and_the_second_most_follow() -> None:
    assert red(NINE, ("red-5-2",), ("red-3-1",)) == [7, 4, 0]
    assert red((), ("red-5-2",), NINE) == [0, 4, 7]


def test_mom_42_awards_are_those_of_the_tribes_rank() -> None:
    pile = tuple(f"{tribe}-4-1" for tribe in TRIBES)
    state = end((*pile, *(f"{tribe}-4-2" for tribe in TRIBES)), pile, ())
    assert titles(state) == [7 + 6 + 5 + 4 + 3 + 2, 4 + 3 + 3 + 2 + 2 + 1, 0]


def test_mom_42_worked_example_red_monkeys_of_5_4_and_3_make_12_status_points() -> None:
    assert status_points(("red-5-1", "red-4-1", "red-3-1"))["red"] == 12


def test_mom_43_worked_example_two_leaders_split_7_and_4() -> None:
    assert red(NINE, OTHER_NINE, ("red-3-1",)) == [5, 5, 0]
    assert red(NINE, OTHER_NINE, ()) == [5, 5, 0]


def test_mom_43_worked_example_three_undersecretaries_split_4() -> None:
    assert red(NINE, FOUR, ("red-4-2",), ("red-4-3",)) == [7, 1, 1, 1]


def test_mom_43_zero_status_points_can_tie_for_a_title() -> None:
    assert red(FOUR, (), ()) == [7, 2, 2]
    assert red((), (), ()) == [3, 3, 3]


def test_mom_44_of_two_players_only_the_leader_scores() -> None:
    assert titles(end(NINE, FOUR)) == [7, 0]
    assert titles(end(FOUR, NINE)) == [0, 7]


def test_mom_44_of_two_players_a_tie_scores_nothing() -> None:
    assert titles(end(NINE, OTHER_NINE)) == [0, 0]


def test_mom_45_full_ships_score_and_each_scorn_costs_two() -> None:
    state = with_holdings(end((), ()), 0, full_ships=("red-2", "blue-3", "green-4"))
    outcome = score(with_scorn_holders(state, red=1, blue=1, green=0))
    assert outcome.breakdown == (
        {"titles": 0, "ships": 1 + 2 + 3, "scorn": -2},
        {"titles": 0, "ships": 0, "scorn": -4},
    )
    assert outcome.scores == (4, -4)
    assert tuple(outcome.breakdown[0]) == GAME.info.breakdown


@pytest.mark.parametrize(
    ("piles", "scores", "ranks"),
    [
        ((NINE, (*FOUR, "green-3-1")), (7, 4), (1, 2)),  # points
        ((("red-5-1", "red-5-2"), ("red-4-1", "red-3-1", "red-3-2")), (0, 0), (2, 1)),  # the most monkeys
        ((("red-4-1", "green-5-1"), ("red-4-2", "green-4-1", "green-3-1")), (0, 4), (2, 1)),  # points first
        ((("red-4-1", "black-5-1"), ("red-4-2", "black-5-2")), (0, 0), (1, 1)),  # shared
    ],
)
def test_mom_46_most_points_win_then_most_monkeys(
    piles: tuple[tuple[str, ...], ...], scores: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    outcome = score(end(*piles))
    assert (outcome.scores, outcome.ranks) == (scores, ranks)
    assert outcome.winners == tuple(seat for seat, rank in enumerate(ranks) if rank == 1)


def test_mom_46_most_monkeys_count_before_most_status_points() -> None:
    state = end(("red-5-1", "red-5-2", "blue-5-1"), ("red-4-1", "red-3-1", "red-3-2", "green-3-1"))
    outcome = score(with_holdings(state, 1, full_ships=("red-2",)))
    assert outcome.scores == (5, 5)
    assert outcome.ranks == (2, 1)


def test_mom_46_then_most_status_points_win() -> None:
    outcome = score(with_holdings(end(("red-5-1", "blue-5-1"), ("red-5-2", "green-4-1")), 1, full_ships=("red-2",)))
    assert outcome.scores == (5, 5)
    assert outcome.ranks == (1, 2)


def test_mom_46_shared_ranks_skip_the_next() -> None:
    assert score(end(FOUR, ("red-4-2",), ())).ranks == (1, 1, 3)


def test_mom_50_a_scorns_tribe_leaves_the_score_pile_before_scoring() -> None:
    state = with_scorn_holders(end(NINE, FOUR, maximum_scorn=True), red=0)
    outcome = score(with_holdings(state, 0, full_ships=("red-4",)))
    assert outcome.breakdown[0] == {"titles": 0, "ships": 3, "scorn": -2}
    assert outcome.breakdown[1] == {"titles": 7, "ships": 0, "scorn": 0}


def test_mom_50_the_tie_breaks_count_the_remaining_ships_and_monkeys() -> None:
    pile = ("red-5-1", "red-4-1", "red-3-1")
    state = with_scorn_holders(end(pile, ("blue-3-1",), maximum_scorn=True), red=0)
    state = with_holdings(state, 0, full_ships=("red-4", "blue-4", "green-2"))
    assert score(state).scores == (5, 5)
    assert score(state).winners == (1,)


def test_mom_50_anothers_scorn_and_other_tribes_do_not_matter() -> None:
    state = end(NINE, FOUR, maximum_scorn=True)
    assert score(with_scorn_holders(state, red=1, blue=0)).breakdown[0]["titles"] == 7


def test_mom_50_is_off_by_default() -> None:
    assert score(with_scorn_holders(end(NINE, FOUR), red=0)).breakdown[0] == {"titles": 7, "ships": 0, "scorn": -2}
