"""MON-63, MON-64, MON-66: enclosed areas, who may build there, and their points."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import ChooseMission, EndTurn, PlaceCard, PlacePlate, PlaceSpaceship
from service.games.monsters_on_the_moon.areas import enclosed_areas
from service.games.monsters_on_the_moon.effects import AreaEnclosed, MissionRevealed, PointsScored
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.grid import Rotation, cell_at, coordinates_of
from service.games.monsters_on_the_moon.groups import Count, count, groups
from service.games.monsters_on_the_moon.missions import points
from service.games.monsters_on_the_moon.squares import Place
from service.games.monsters_on_the_moon.state import State, Wall, enclosed_cells, walled_edges
from service.games.visibility import Seat
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import (
    at_step,
    decide,
    legal,
    play,
    random_match,
    refusal_of,
    table,
    turn_of,
    with_cards,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.wall_tables import (
    WALLS,
    Pair,
    areas_enclosed_by,
    builder,
    built,
    networkx_areas,
    ring,
    wall,
    walls,
)
from tests.service.games.rng import ScriptedRng

pytestmark = pytest.mark.unmeasured  # many matches or positions; other tests cover the same lines


def areas(state: State) -> list[set[Pair]]:
    return [{coordinates_of(cell) for cell in area} for area in state.areas]


def counted(state: State) -> Count:
    return count(state.display, "werewolf", walled_edges(state), enclosed_cells(state))


def breakdown(state: State) -> dict[str, int]:
    return GAME.score(replace(state, step=None), ScriptedRng()).breakdown[0]


def test_mon_63_an_area_is_judged_at_the_end_of_the_turn() -> None:
    state = play(builder("W H\nH H"), *walls("h 0 0", "v 1 0", "h 0 1", "v 0 0"))
    assert not state.areas
    # the enclosed square has no free edge, but walls may still be laid beside it
    assert wall("v 1 1") in legal(state)
    assert decide(state, EndTurn())[0] == AreaEnclosed((Place(0, 0),))
    assert areas(play(state, EndTurn())) == [{(0, 0)}]


def test_mon_63_walls_may_still_be_laid_in_an_area_that_this_turn_has_closed() -> None:
    state = play(builder("W W\nW W", long=4, short=1), *walls("h 0 0 2", "v 2 0 2", "h 0 2 2", "v 0 0 2"))
    assert wall("h 0 1") in legal(state)
    effects = decide(state, wall("h 0 1"))
    assert [effect for effect in effects if isinstance(effect, AreaEnclosed)] == [
        AreaEnclosed((Place(0, 0), Place(1, 0), Place(0, 1), Place(1, 1)))
    ]


@pytest.mark.parametrize(
    ("picture", "before", "turn", "expected"),
    [
        # one edge is open: the rim of the display is not a wall
        ("W H", [], ["h 0 0", "v 1 0", "h 0 1"], []),
        ("W H", [], ["h 0 0", "v 1 0", "h 0 1", "v 0 0"], [{(0, 0)}]),
        # two areas at once
        ("W H", [], ["h 0 0 2", "v 1 0", "h 0 1 2", "v 0 0", "v 2 0"], [{(0, 0)}, {(1, 0)}]),
        # an area includes its hole, and bare table beside the rim
        ("W W W\nW . W\nW W W", ring(0, 0, 3, 3)[3:], ["h 0 0", "h 1 0", "h 2 0"], [{(x, y) for x in range(3) for y in range(3)}]),
        ("W W\nW .", ["h 0 0", "h 1 0", "v 0 0"], ["v 0 1", "h 0 2", "v 1 1", "h 1 1", "v 2 0"], [{(0, 0), (1, 0), (0, 1)}]),
        # the hole alone, without a card in it
        ("W W W\nW . W\nW W W", [], ["h 1 1", "v 1 1", "v 2 1", "h 1 2"], [{(1, 1)}]),
        # an area inside an area is an area of its own
        (
            "W W W\nW W W\nW W W",
            ring(1, 1, 1, 1) + ring(0, 0, 3, 3)[3:],
            ["h 0 0", "h 1 0", "h 2 0"],
            [{(x, y) for x in range(3) for y in range(3)} - {(1, 1)}],
        ),
        # a wall with a loose end encloses nothing
        ("W W\nW W", ring(0, 0, 2, 2)[2:], ["h 0 0", "h 1 0", "v 1 0"], [{(0, 0), (1, 0), (0, 1), (1, 1)}]),
        # nothing passes between walls that touch only at a corner
        ("W .\n. W", ring(0, 0, 1, 1), ["h 1 1", "v 1 1", "v 2 1", "h 1 2"], [{(1, 1)}]),
    ],
)  # fmt: skip
def test_mon_63_squares_that_no_path_leaves_are_an_area(
    picture: str, before: list[str], turn: list[str], expected: list[set[Pair]]
) -> None:
    assert areas_enclosed_by(built(builder(picture), *before), *turn) == expected


def test_mon_63_no_wall_is_laid_in_an_area() -> None:
    state = built(builder("W W H\nW W H"), *ring(0, 0, 2, 2))
    for text in ("h 0 1", "v 1 0", "v 1 0 2", "h 1 1 2"):
        assert wall(text) not in legal(state)
    assert refusal_of(state, wall("v 1 0")) == ("wall-in-an-area", "MON-63")
    assert refusal_of(state, wall("v 1 0 2")) == ("wall-in-an-area", "MON-63")
    assert wall("h 2 0") in legal(state)


def around_a_hole(seat: Seat, column: int | None) -> State:
    """A seat has to lay a card. The enclosed area is a hole of 3 × 2 squares and the square below one of its columns."""
    cards: list[tuple[str, int, int, Rotation]] = [("A11", 0, -2, 0), ("A08", -2, 0, 90), ("A09", 3, 0, 90)]
    state = turn_of(with_cards(table(options=WALLS), *cards, ("A07", 0, 2, 0)), seat, "A10")  # A07 is W H V twice
    below = [f"h {x} 2" for x in range(3) if x != column]
    square = [] if column is None else [f"v {column} 2", f"v {column + 1} 2", f"h {column} 3"]
    return built(state, "h 0 0 2", "h 2 0", "v 0 0 2", "v 3 0 2", *below, *square)


@pytest.mark.parametrize(
    ("column", "owner"), [(None, None), (0, 0), (1, 1), (2, None)], ids=["empty", "werewolf", "witch", "nobody's"]
)
@pytest.mark.parametrize("seat", [0, 1])
def test_mon_63_only_a_seat_that_has_a_monster_in_an_area_lays_cards_on_it(
    seat: Seat, column: int | None, owner: Seat | None
) -> None:
    state = around_a_hole(seat, column)
    assert len(areas(state)) == 1
    card = PlaceCard("A10", 0, 0, 0)
    assert (card in legal(state)) == (seat == owner)
    if seat == owner:
        decide(state, card)
    else:
        assert refusal_of(state, card) == ("closed-area", "MON-63")
    assert card in legal(replace(state, areas=()))


def test_mon_63_a_spaceship_lands_in_an_area_closed_to_its_player() -> None:
    state = turn_of(with_cards(table(options=WALLS), ("A09", 0, 0, 0)), 0, "A07")
    state = built(state, *ring(1, 0, 1, 1))
    assert PlaceSpaceship(1, 0) in legal(state)


@pytest.mark.parametrize(
    ("picture", "texts", "expected"),
    [
        ("W W W W", [], Count(0, 8, 4)),
        ("W W W W", ["v 1 0"], Count(1, 6, 3)),
        ("W W W W", ["v 2 0"], Count(0, 8, 2)),
        ("W W W W", ["v 1 0", "v 2 0", "v 3 0"], Count(4, 0, 0)),
        ("W W W W", ["h 1 0", "h 1 1"], Count(0, 8, 4)),
        ("WW W", ["v 1 0"], Count(1, 4, 2)),
        ("W W\nW W", ["v 1 0"], Count(0, 8, 4)),
        ("W W\nW W", ["v 1 0 2"], Count(0, 8, 2)),
        ("W\nW\nW", ["h 0 1"], Count(1, 4, 2)),
    ],
)
def test_mon_64_walls_separate_groups(picture: str, texts: list[str], expected: Count) -> None:
    assert counted(built(builder(picture), *texts)) == expected


def test_mon_64_walls_separate_groups_in_both_scorings() -> None:
    state = replace(built(builder("W W W"), "v 1 0"), pile=("A20",))
    assert (breakdown(state)["singles"], breakdown(state)["groups"]) == (1, 4)
    held = play(state, *walls("h 1 0", "h 2 0", "v 3 0"), EndTurn()).seats[0]
    assert (held.interim_singles, held.interim_groups) == (1, 4)


def test_mon_64_mon_72_walls_separate_groups_only_for_missions_three_and_four() -> None:
    open_board = builder("W W W W\nW W W W")
    divided = built(open_board, "v 2 0 2")
    monsters = ["werewolf", "witch"]
    scored = {
        mission: [points(state.display, monsters, 0, mission, walled_edges(state)) for state in (open_board, divided)]  # type: ignore[arg-type]  # literals
        for mission in range(1, 9)
    }
    assert {mission for mission, (before, now) in scored.items() if before != now} == {3}
    pairs = built(builder("W W\nW W\nW W\nW W\nW W"), "h 0 1 2", "h 0 2 2", "h 0 3 2", "h 0 4 2")
    assert points(pairs.display, ["werewolf", "witch"], 0, 4, walled_edges(pairs)) == 6
    chosen = with_holdings(divided, 0, mission=3)
    assert breakdown(chosen)["mission"] == 5
    assert breakdown(replace(chosen, walls=()))["mission"] == 0
    last = at_step(replace(chosen, open_missions=(1, 3, 4)), "choose_mission", None)
    assert MissionRevealed(0, 3, 5) in decide(last, ChooseMission(1), 1)
    assert MissionRevealed(0, 3, 0) in decide(replace(last, walls=()), ChooseMission(1), 1)


@pytest.mark.parametrize(("picture", "total"), [("W W W\nH V H\nW H W", 16), ("W W W\nH V H\nW H V", 14)])
def test_mon_66_worked_example_three_neighbours_and_single_monsters_in_an_area(picture: str, total: int) -> None:
    state = built(builder(picture), *ring(0, 0, 3, 3))
    found = counted(state)
    assert (found.singles, found.groups) == (0, 0)
    assert found.enclosed_singles + found.enclosed_groups == total
    assert breakdown(state)["singles"] + breakdown(state)["groups"] == total


def test_mon_66_only_enclosed_heads_count_double_and_a_nested_area_once() -> None:
    state = built(builder("W W W H W\nW W W H W\nW W W H W"), *ring(0, 0, 3, 3), *ring(1, 1, 1, 1))
    assert len(state.areas) == 2
    assert counted(state) == Count(0, 6, 8, enclosed_singles=2, enclosed_groups=32)


def test_mon_66_the_largest_group_scores_nothing_with_walls() -> None:
    assert breakdown(builder("W W W"))["largest_group"] == 0
    assert breakdown(replace(builder("W W W"), options=GAME.options(2, {})))["largest_group"] == 6


def test_mon_66_the_interim_scoring_reports_doubled_points_separately() -> None:
    state = replace(builder("W W W H W W\nH H H H W H\nW H W H H W\nH V V V"), pile=("A20",))
    state = play(built(state, *ring(0, 0, 3, 3)[3:]), *walls("h 0 0", "h 1 0", "h 2 0"))
    scored = [effect for effect in decide(state, EndTurn()) if isinstance(effect, PointsScored)]
    assert [effect for effect in scored if effect.seat == 0] == [
        PointsScored(0, 1, "interim_singles", "MON-30"),
        PointsScored(0, 6, "interim_groups", "MON-30"),
        PointsScored(0, 4, "interim_singles", "MON-66", 2),
        PointsScored(0, 12, "interim_groups", "MON-66", 2),
    ]
    held = play(state, EndTurn()).seats[0]
    assert (held.interim_singles, held.interim_groups) == (5, 18)


def test_mon_22_a_plate_goes_into_an_area_and_counts_there() -> None:
    state = turn_of(with_cards(table(options=WALLS), ("A07", 0, 0, 0)), 0, "A10")
    state = built(state, *ring(2, 0, 1, 1))
    state = replace(state, turn=replace(state.turn, card="A07", plates=1), step="place_plate")
    state = play(with_holdings(state, 0, plates=1), PlacePlate(2, 0))
    assert counted(state).enclosed_singles == 2


EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from("hv"), st.integers(1, 2)), max_size=36)


@settings(max_examples=120, deadline=None)
@given(EDGES)
def test_mon_63_areas_equal_those_of_a_flood_fill(edges: list[tuple[int, int, str, int]]) -> None:
    laid = tuple(Wall(x, y, "h" if way == "h" else "v", 2 if length == 2 else 1, 0) for x, y, way, length in edges)
    state = replace(builder("W"), walls=laid)
    found = [{coordinates_of(cell) for cell in area} for area in enclosed_areas(walled_edges(state))]
    assert sorted(map(sorted, found)) == sorted(map(sorted, networkx_areas(state)))
    assert [min(cell_at(*pair) for pair in area) for area in found] == sorted(
        min(cell_at(*pair) for pair in area) for area in found
    )


@pytest.mark.long
@settings(max_examples=8 * LENGTH if LONG else 3, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000))
def test_mon_63_mon_64_areas_of_matches_stay_whole_and_groups_never_leave_one(seats: int, seed: int) -> None:
    before: tuple[tuple[int, ...], ...] = ()
    for state, effects in random_match(seats, seed, WALLS):
        assert state.areas[: len(before)] == before
        if any(isinstance(effect, AreaEnclosed) for effect in effects):
            assert sorted(map(sorted, areas(state))) == sorted(map(sorted, networkx_areas(state)))
        before = state.areas
    inside = enclosed_cells(state)
    for held in state.seats:
        for group in groups(state.display, held.monster, walled_edges(state)):
            assert len({cell in inside for cell in group.cells}) == 1
