"""MON-60 to MON-62: walls, and where they may lie."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import EndTurn, PlaceCard, PlaceSpaceship
from service.games.monsters_on_the_moon.effects import CardDrawn, DecisionOpened, TurnOpened, WallPlaced
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.start_effects import WallsTaken
from service.games.monsters_on_the_moon.state import State, Turn
from service.games.protocol import Decision
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import (
    decide,
    legal,
    opening,
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
    builder,
    built,
    listed,
    literal_walls,
    ring,
    wall,
    walls,
)

FOUR = "W W W W\nW W W W\nW W W W\nW W W W"


@pytest.mark.parametrize(("seats", "short"), [(2, 9), (3, 7), (4, 6)])
def test_mon_60_each_seat_has_three_long_walls_and_short_ones_by_seats(seats: int, short: int) -> None:
    assert opening(seats, options=WALLS)[1] == WallsTaken(3, short)
    assert {(held.long_walls, held.short_walls) for held in table(seats, options=WALLS).seats} == {(3, short)}
    assert {(held.long_walls, held.short_walls) for held in table(seats).seats} == {(0, 0)}


def test_mon_60_a_laid_wall_is_one_of_the_seats_own() -> None:
    state = play(builder(FOUR), *walls("h 0 0 2", "h 2 0"))
    assert (state.seats[0].long_walls, state.seats[0].short_walls) == (2, 8)
    assert refusal_of(builder(FOUR, long=0), wall("h 0 0 2")) == ("no-such-wall-left", "MON-60")
    assert refusal_of(builder(FOUR, short=0), wall("h 0 0")) == ("no-such-wall-left", "MON-60")
    assert {action.length for action in listed(legal(builder(FOUR, long=0)))} == {1}
    assert {action.length for action in listed(legal(builder(FOUR, short=0)))} == {2}


def test_mon_60_without_the_option_there_are_no_walls() -> None:
    assert not listed(legal(table()))
    assert refusal_of(table(), wall("h 0 0")) == ("no-such-wall-left", "MON-60")


def test_mon_61_walls_are_laid_one_by_one_and_a_turn_with_five_ends() -> None:
    state = builder(FOUR)
    five = walls("h 0 0", "h 1 0", "h 2 0", "h 3 0", "v 4 0")
    for number, action in enumerate(five, 1):
        effects = decide(state, action)
        assert effects[0] == WallPlaced(0, action.x, action.y, "v" if number == 5 else "h", 1)
        opened = (DecisionOpened(0, "place_wall"),) if number < 5 else (TurnOpened(1), DecisionOpened(1, "place_card"))
        assert effects[1:] == opened
        state = play(state, action)
        assert state.turn.walls == number % 5


@pytest.mark.parametrize(("laid", "may_end"), [(1, False), (2, False), (3, True), (4, True)])
def test_mon_61_a_turn_with_walls_has_three_at_least(laid: int, may_end: bool) -> None:
    state = play(builder(FOUR), *walls("h 0 0", "h 1 0", "h 2 0", "h 3 0")[:laid])
    assert (legal(state)[0] == EndTurn()) == may_end
    assert (EndTurn() in legal(state)) == may_end
    if may_end:
        assert decide(state, EndTurn()) == (TurnOpened(1), DecisionOpened(1, "place_card"))
    else:
        assert refusal_of(state, EndTurn()) == ("three-walls-at-least", "MON-61")


def test_mon_61_no_card_and_no_spaceship_in_a_turn_with_walls() -> None:
    state = with_holdings(builder("W W c\nW W c"), 0, ships=2)
    assert PlaceSpaceship(2, 0) in legal(state)
    state = play(state, wall("h 0 0"))
    assert {type(action) for action in legal(state)} == {type(wall("h 0 0"))}
    assert refusal_of(state, PlaceCard("A07", -3, 0, 0)) == ("wrong-step", "MON-61")
    assert refusal_of(state, PlaceSpaceship(2, 0)) == ("wrong-step", "MON-61")


def test_mon_23_mon_61_no_wall_in_a_turn_with_a_card_or_a_spaceship() -> None:
    state = turn_of(with_cards(table(options=WALLS), ("A09", 0, 0, 0)), 0, "A07")
    landed = play(state, PlaceSpaceship(1, 0))
    assert {type(action) for action in legal(landed)} == {PlaceCard}
    assert refusal_of(landed, wall("h 0 0")) == ("turn-is-for-a-card", "MON-61")
    laid = replace(landed, step="place_spaceship", turn=Turn(card="A07"))
    assert refusal_of(laid, wall("h 0 0")) == ("wrong-step", "MON-23")


def test_mon_61_a_spaceship_needs_a_card_in_hand() -> None:
    state = with_holdings(builder("W W c\nW W c", hand=()), 0, ships=2)
    assert refusal_of(state, PlaceSpaceship(2, 0)) == ("no-card-to-lay", "MON-61")
    assert legal(state) == listed(legal(state))


@pytest.mark.parametrize(
    ("picture", "long", "short", "actions", "refused"),
    [
        ("W", 0, 3, ["h 0 0"], None),
        ("W", 0, 2, ["h 0 0"], "three-walls-out-of-reach"),
        # around two squares, the long walls above and below do not touch each other
        ("W W", 2, 1, ["h 0 0 2"], None),
        ("W W", 2, 1, ["v 1 0"], None),
        ("W W", 2, 1, ["v 0 0", "h 0 1 2"], None),
        ("W W", 2, 1, ["h 0 0"], "three-walls-out-of-reach"),
        ("W W", 2, 1, ["h 0 1"], "three-walls-out-of-reach"),
        ("W W", 1, 2, ["h 0 0"], None),
        ("W W", 1, 2, ["h 0 0", "h 1 0"], "three-walls-out-of-reach"),
        ("W W", 1, 2, ["v 0 0", "v 1 0"], "wall-touches-none"),
        ("W W\nW W", 3, 0, ["h 0 0 2", "v 1 0 2"], None),
        ("W W\nW W", 2, 9, ["h 0 0 2", "v 1 0 2"], None),
        ("W W\nW W", 2, 0, ["h 0 0 2"], "three-walls-out-of-reach"),
    ],
)
def test_mon_61_a_first_or_second_wall_leaves_three_within_reach(
    picture: str, long: int, short: int, actions: list[str], refused: str | None
) -> None:
    state = builder(picture, long=long, short=short)
    *before, last = walls(*actions)
    state = play(state, *before)
    assert listed(legal(state)) == literal_walls(state)
    assert (last in legal(state)) == (refused is None)
    if refused is not None:
        assert refusal_of(state, last)[0] == refused


def test_mon_61_without_more_room_the_end_of_the_turn_is_still_a_decision() -> None:
    state = play(builder("W", long=0), *walls("h 0 0", "v 0 0", "v 1 0"))
    assert legal(state) == [EndTurn(), wall("h 0 1")]
    state = play(state, wall("h 0 1"))
    assert legal(state) == [EndTurn()]
    assert GAME.decisions(state) == (Decision(0, "place_wall", EndTurn()),)


def test_mon_61_one_card_is_drawn_at_the_end_of_a_turn_with_walls() -> None:
    state = table(options=WALLS)
    hand, top = state.seats[0].hand, state.pile[0]
    while state.turn.walls < 3:
        state = play(state, listed(legal(state))[0])
        assert state.seats[0].hand == hand
    effects = decide(state, EndTurn())
    assert effects == (CardDrawn(0, top, "MON-10"), TurnOpened(1), DecisionOpened(1, "place_card"))
    assert play(state, EndTurn()).seats[0].hand == (*hand, top)


@pytest.mark.parametrize(
    ("texts", "refused"),
    [
        (["h 0 -1"], "wall-beside-no-square"),
        (["h 0 5"], "wall-beside-no-square"),
        (["h 4 0"], "wall-beside-no-square"),
        (["h 3 0 2"], "wall-beside-no-square"),
        (["h -1 0 2"], "wall-beside-no-square"),
        (["v 0 -1"], "wall-beside-no-square"),
        (["v 0 -1 2"], "wall-beside-no-square"),
        (["v 4 3 2"], "wall-beside-no-square"),
        (["h 1 1", "h 1 1"], "wall-on-a-wall"),
        (["h 1 1", "h 0 1 2"], "wall-on-a-wall"),
        (["h 1 1 2", "h 2 1"], "wall-on-a-wall"),
        (["v 1 1 2", "v 1 2 2"], "wall-on-a-wall"),
        (["h 1 2 2", "v 2 1 2"], "walls-cross"),
        (["v 2 1 2", "h 1 2 2"], "walls-cross"),
        (["h 1 1", "h 3 1"], "wall-touches-none"),
        (["h 1 1", "v 3 1"], "wall-touches-none"),
        (["h 1 1", "h 2 1", "v 0 0"], "wall-touches-none"),
        (["h 1 1", "h 2 1", "v 3 1", "v 0 0"], "wall-touches-none"),
    ],
)
def test_mon_62_a_wall_may_not_lie(texts: list[str], refused: str) -> None:
    *before, last = walls(*texts)
    state = play(builder(FOUR), *before)
    assert last not in legal(state)
    assert refusal_of(state, last) == (refused, "MON-62")


@pytest.mark.parametrize(
    "texts",
    [
        ["h 0 0"],
        ["h 0 4"],
        ["v 0 0"],
        ["v 4 3"],
        ["h 0 0 2"],
        ["v 4 2 2"],
        ["h 1 1", "h 2 1"],
        ["h 1 1", "v 1 0"],
        ["h 1 2 2", "v 2 1"],
        ["h 1 2 2", "v 2 2"],
        ["h 1 2 2", "v 2 2 2"],
        ["h 1 2", "h 2 2", "v 2 1 2"],
        ["h 1 1", "h 2 1", "v 3 1 2", "h 0 1"],
    ],
)
def test_mon_62_a_wall_may_lie_on_the_rim_and_end_at_the_middle_of_another(texts: list[str]) -> None:
    *before, last = walls(*texts)
    state = play(builder(FOUR), *before)
    assert last in legal(state)
    decide(state, last)


def test_mon_62_only_walls_of_the_same_turn_must_touch() -> None:
    state = built(builder(FOUR), "h 0 0", "h 1 0")
    assert wall("h 3 3") in legal(state)
    state = play(state, wall("h 3 3"))
    assert wall("h 2 0") not in legal(state)
    assert refusal_of(state, wall("h 2 0")) == ("wall-touches-none", "MON-62")


def test_mon_62_walls_of_other_turns_are_not_crossed_either() -> None:
    state = built(builder(FOUR), "h 1 2 2")
    assert refusal_of(state, wall("v 2 1 2")) == ("walls-cross", "MON-62")
    assert wall("v 2 1 2") not in legal(state)
    assert {wall("v 2 0 2"), wall("v 2 2 2"), wall("v 2 1")} <= set(legal(state))


@pytest.mark.parametrize(("short", "walls_listed"), [(1, False), (2, True)])
def test_mon_62_a_third_wall_that_only_crosses_the_second_is_out_of_reach(short: int, *, walls_listed: bool) -> None:
    """The cross in the middle and one edge of the rim are free.

    Two long walls would cross, and a short wall is only one.
    """
    rim = [text for text in ring(0, 0, 2, 2) if text != "v 0 0"]
    state = built(builder("W W\nW W", long=2, short=short), *rim)
    assert bool(listed(legal(state))) == walls_listed
    assert listed(legal(state)) == literal_walls(state)


@pytest.mark.parametrize(
    ("text", "placement"),
    [
        ("v 2 2", (1, 2, 0)),
        ("v 3 3", (1, 2, 0)),
        ("h 2 3", (1, 2, 0)),
        ("h 3 3 2", (1, 2, 0)),
        ("h 1 3", (1, 2, 90)),
        ("h 2 4", (1, 2, 90)),
        ("v 2 4", (1, 2, 90)),
    ],
)
def test_mon_62_no_card_is_laid_over_a_wall(text: str, placement: tuple[int, int, int]) -> None:
    state = _two_by_two(text)
    card = PlaceCard("A10", placement[0], placement[1], 0 if placement[2] == 0 else 90)
    assert card in legal(_two_by_two())
    assert card not in legal(state)
    assert refusal_of(state, card) == ("covers-a-wall", "MON-62")


@pytest.mark.parametrize("text", ["v 1 2", "v 4 2 2", "h 1 2", "h 2 4", "h 4 3", "v 2 1", "h 0 3"])
def test_mon_62_a_card_may_end_at_a_wall(text: str) -> None:
    card = PlaceCard("A10", 1, 2, 0)
    assert card in legal(_two_by_two(text))
    decide(_two_by_two(text), card)


def _two_by_two(*texts: str) -> State:
    """Cards below and right of the middle, so that a card at (1, 2) covers at most two squares of each."""
    state = with_cards(table(options=WALLS), ("A07", -1, 2, 90), ("A08", 1, 4, 0), ("A09", 3, 1, 90), ("A11", 0, 0, 0))
    return turn_of(built(state, *texts), 0, "A10")


@pytest.mark.long
@settings(max_examples=2 * LENGTH if LONG else 1, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000), st.integers(0, 40))
def test_mon_61_mon_62_the_list_equals_a_literal_reading_of_the_clauses(seats: int, seed: int, start: int) -> None:
    left = {0, 1, 2, 3}
    for ply, (state, _) in enumerate(random_match(seats, seed, {"walls": True, "layout": "confrontation"})):
        laid = state.turn.walls
        if ply >= start and laid in left and state.step in {"place_card", "place_wall"} and not state.turn.ship:
            left.remove(laid)
            assert listed(legal(state)) == literal_walls(state)
