"""Numbers of states after each number of actions, from fixed deals. They change only if the rules change."""

from collections.abc import Mapping

import pytest

from service.games.monsters_on_the_moon.components import BOX
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State, awaited_seats
from tests.length import LONG
from tests.service.games.monsters_on_the_moon.builders import after, before_gifts, decide, legal, play, table

pytestmark = pytest.mark.unmeasured  # many matches or positions; other tests cover the same lines


def count(state: State, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(
        count(after(state, decide(state, action, seat)), depth - 1)
        for seat in awaited_seats(state)
        for action in legal(state, seat)
    )


def after_plies(seats: int, plies: int, options: Mapping[str, object]) -> State:
    """The state after this many actions, each the 97th legal one (cyclically), and then up to the next card."""
    state = table(seats, options=options)
    ply = 0
    while ply < plies or state.step != "place_card":
        ply += 1
        actions = legal(state)
        state = play(state, actions[97 * ply % len(actions)])
    return state


@pytest.mark.long
@pytest.mark.parametrize(
    ("seats", "counts"), [(1, [108, 16208]), (2, [4, 8, 8992]), (3, [6, 24, 48, 32400]), (4, [8, 48, 192, 384])]
)
def test_the_start_has_a_fixed_number_of_openings(seats: int, counts: list[int]) -> None:
    """In the short form, up to ten thousand states."""
    counts = [number for number in counts if LONG or number < 10_000]
    assert [count(before_gifts(seats), depth) for depth in range(1, len(counts) + 1)] == counts


def test_each_layout_has_a_fixed_number_of_openings() -> None:
    widths = {layout: len(legal(table(2, options={"layout": layout}))) for layout in BOX.layouts}
    assert widths == {
        "just_landed": 1124,
        "neighbourhood": 1144,
        "confrontation": 784,
        "new_settlement": 944,
        "long_ways": 1424,
    }


@pytest.mark.parametrize(
    ("seats", "plies", "width"), [(1, 10, 516), (2, 12, 1890), (2, 21, 588), (3, 15, 1350), (4, 30, 1212)]
)
def test_the_middle_of_a_match_has_a_fixed_number_of_continuations(seats: int, plies: int, width: int) -> None:
    assert len(legal(after_plies(seats, plies, {}))) == width


@pytest.mark.parametrize(("seats", "missions", "counts"), [(2, "secret", [4, 8]), (2, "open", [6, 18])])
def test_missions_have_a_fixed_number_of_choices(seats: int, missions: str, counts: list[int]) -> None:
    state = after_plies(seats, 0, {"missions": missions})
    while state.step != "choose_mission":
        state = play(state, legal(state)[0])
    assert [count(state, depth) for depth in range(1, 3)] == counts
    assert GAME.decisions(state)
