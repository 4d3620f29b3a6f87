"""How long it takes to list the legal actions of the largest display."""

from collections.abc import Callable
from time import process_time

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import PlaceCard
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from service.games.protocol import Task
from tests.service.games.monsters_on_the_moon.builders import (
    legal,
    play,
    random_match,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.largest import largest_display, most_walls
from tests.service.games.monsters_on_the_moon.test_placing import literal_placements
from tests.service.games.monsters_on_the_moon.wall_tables import WALLS, listed
from tests.service.games.rng import ScriptedRng

LIST_MS = 10
BOT_MS = 50
ACTIONS_A_SECOND = 500
WALLS_MS = 15
DECISIONS_MS = 0.2
ACTIONS_A_SECOND_WITH_WALLS = 150
REFERENCE_MS = 3.5

pytestmark = pytest.mark.unmeasured  # a tracer makes everything slow


@pytest.fixture(scope="module")
def largest() -> State:
    return largest_display()


def best_ms(repeats: int, run: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        began = process_time()
        run()
        times.append(process_time() - began)
    return 1000 * min(times)


def slowness() -> float:
    """How many times slower this machine is now than the one on which the limits were set; at least 1."""
    return max(1.0, best_ms(10, reference_work) / REFERENCE_MS)


def reference_work() -> int:
    """Some work of the kind that rules do: tuples, sets and a dictionary of places."""
    places = {(x, y): frozenset({(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)}) for x in range(50) for y in range(50)}
    return sum(len(near & places.keys()) for near in places.values())


def test_the_largest_list_is_complete(largest: State) -> None:
    listed = [action for action in legal(largest) if isinstance(action, PlaceCard)]
    assert len(listed) == 4600
    assert listed == literal_placements(largest)


def test_the_largest_list_takes_ten_milliseconds_at_most(largest: State) -> None:
    assert best_ms(10, lambda: legal(largest)) <= LIST_MS * slowness()


def test_the_bot_is_quick_on_the_largest_list(largest: State) -> None:
    walls = with_holdings(replace(largest, options=GAME.options(4, WALLS)), 0, long_walls=3, short_walls=6)
    bot = GAME.bots["greedy"]
    for state in (largest, walls):
        task = Task(0, "place_card", GAME.observation(state, 0), tuple(legal(state)))
        assert best_ms(5, lambda task=task: bot(task, ScriptedRng())) <= BOT_MS * slowness()  # type: ignore[misc]  # a bound default


def test_a_random_match_is_played_at_five_hundred_actions_a_second() -> None:
    actions = sum(1 for _ in random_match(2, 1))
    assert 1000 * actions / best_ms(5, lambda: list(random_match(2, 1))) >= ACTIONS_A_SECOND / slowness()


def test_the_longest_list_of_walls_takes_fifteen_milliseconds_at_most() -> None:
    state = most_walls()
    assert len(listed(legal(state))) == len(legal(state)) == 667
    assert best_ms(10, lambda: legal(state)) <= WALLS_MS * slowness()


def test_decisions_do_not_compute_the_whole_list(largest: State) -> None:
    """Reading a match computes the decisions after every event."""
    walls = with_holdings(most_walls(), 0, short_walls=9)
    for state in (largest, play(walls, legal(walls)[0]), play(walls, legal(walls)[-1])):
        assert best_ms(10, lambda state=state: GAME.decisions(state)) <= DECISIONS_MS * slowness()  # type: ignore[misc]  # a bound default


def test_a_random_match_with_walls_is_played_at_a_hundred_and_fifty_actions_a_second() -> None:
    actions = sum(1 for _ in random_match(4, 1, WALLS))
    assert (
        1000 * actions / best_ms(3, lambda: list(random_match(4, 1, WALLS))) >= ACTIONS_A_SECOND_WITH_WALLS / slowness()
    )
