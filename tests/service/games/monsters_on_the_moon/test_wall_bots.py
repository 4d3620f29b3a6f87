"""The greedy bot with walls: it encloses its own monsters, keeps its groups together, and wins."""

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import EndTurn, PlaceCard, PlaceWall
from service.games.monsters_on_the_moon.effects import WallPlaced
from service.games.monsters_on_the_moon.grid import coordinates_of
from service.games.monsters_on_the_moon.state import State
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import after, decide, legal, play, random_match, with_cards
from tests.service.games.monsters_on_the_moon.test_bots import choice, match
from tests.service.games.monsters_on_the_moon.wall_tables import WALLS, Pair, builder, built, ring, wall, walls

CHUNK = 25 if LONG else 5
MATCHES = CHUNK * min(LENGTH, 8)
WINS_OF_A_CHUNK = 19 if LONG else 4
"""A little more than three in four."""


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, MATCHES, CHUNK))
def test_it_wins_three_of_four_matches_with_walls_against_a_random_bot(first: int) -> None:
    wins = sum(match(2, seed, {seed % 2}, WALLS).winners == (seed % 2,) for seed in range(first, first + CHUNK))
    assert wins >= WINS_OF_A_CHUNK


def after_greedy_turn(state: State) -> State:
    """The state after the greedy bot has played a whole turn of seat 0."""
    state = play(state, choice(state))
    while state.step is not None and state.active == 0:
        state = play(state, choice(state))
    return state


def areas(state: State) -> list[set[Pair]]:
    return [{coordinates_of(cell) for cell in area} for area in state.areas]


@pytest.mark.parametrize(
    ("picture", "before", "expected"),
    [
        ("W W H\nW W V\nH V H", [], {(0, 0), (1, 0), (0, 1), (1, 1)}),
        ("H H H\nH WW H\nH H H", [], {(1, 1)}),
        # the middle of an earlier long wall is in the way of a new long one, so two short ones are used
        ("H WW W H\nV V V V", ["v 2 -1 2"], {(1, 0)}),
        # existing walls make more areas possible
        ("W W W H\nW W W V", ["h 0 0", "h 1 0", "h 2 0"], {(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)}),
    ],
)
def test_it_encloses_its_own_monsters(picture: str, before: list[str], expected: set[Pair]) -> None:
    state = after_greedy_turn(built(builder(picture, hand=()), *before))
    assert expected in areas(state)


def test_it_builds_an_area_if_that_is_worth_more_than_a_card() -> None:
    assert {(0, 0), (1, 0), (0, 1), (1, 1)} in areas(after_greedy_turn(builder("W W H\nW W V\nH V H")))


def test_it_encloses_an_existing_area() -> None:
    picture = "W W W H\nW W W V\nW W W H"
    state = built(builder(picture), *ring(1, 1, 1, 1), *ring(0, 0, 3, 3)[3:])
    assert areas(after_greedy_turn(state)) == [{(1, 1)}, {(x, y) for x in range(3) for y in range(3)} - {(1, 1)}]


@pytest.mark.parametrize("picture", ["H V H\nV H V", "H W H\nV H V"])
def test_it_lays_a_card_if_no_area_is_worth_its_walls(picture: str) -> None:
    state = with_cards(builder(picture), ("A07", 0, 0, 0))
    assert isinstance(choice(replace(state, display=builder(picture).display)), PlaceCard)


def test_it_ends_a_turn_with_walls_once_nothing_better_follows() -> None:
    state = play(builder("H V H V\nV H V H"), *walls("h 0 0", "h 1 0", "h 2 0"))
    assert choice(state) == EndTurn()


def test_it_lays_a_third_wall_that_separates_monsters_of_others() -> None:
    state = play(builder("W W H H\nV V V V"), *walls("h 2 0", "h 1 0"))
    assert choice(state) in walls("v 3 0", "v 3 0 2")


def test_without_a_card_it_separates_no_group_of_its_own() -> None:
    state = builder("W W W W W W W W", hand=(), long=0, short=3)
    assert isinstance(choice(state), PlaceWall)
    assert choice(state) not in [wall(f"v {x} 0") for x in range(1, 8)]


@pytest.mark.unmeasured
def test_it_uses_its_walls() -> None:
    laid = 0
    state = list(random_match(2, 7, WALLS))[20][0]
    while state.step is not None:
        effects = decide(state, choice(state) if state.awaited == 0 else legal(state)[0])
        laid += sum(isinstance(effect, WallPlaced) and effect.seat == 0 for effect in effects)
        state = after(state, effects)
    assert laid >= 3
