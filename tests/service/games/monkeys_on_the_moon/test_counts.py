"""Numbers of states after each number of actions, from fixed deals. They change only if the rules change."""

import pytest

from service.games.monkeys_on_the_moon.state import State
from tests.service.games.monkeys_on_the_moon.builders import legal, play, table


def count(state: State, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(count(play(state, action), depth - 1) for action in legal(state))


def bid_turn(state: State) -> State:
    """The state after all seats have played their first legal card."""
    while state.turn == "civilization":
        state = play(state, legal(state)[0])
    return state


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("seats", "seed", "counts"), [(2, 1, [6, 36, 108, 936]), (3, 2, [6, 36, 216, 864]), (4, 3, [6, 36, 216, 1296])]
)
def test_the_start_has_a_fixed_number_of_openings(seats: int, seed: int, counts: list[int]) -> None:
    assert [count(table(seats, seed=seed), depth) for depth in range(1, 5)] == counts


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("seats", "seed", "counts"), [(2, 1, [3, 36, 318, 997]), (3, 2, [4, 52, 340, 828]), (4, 3, [5, 56, 180, 557])]
)
def test_the_first_bid_turn_has_a_fixed_number_of_openings(seats: int, seed: int, counts: list[int]) -> None:
    assert [count(bid_turn(table(seats, seed=seed)), depth) for depth in range(1, 5)] == counts
