"""MON-10 to MON-14: where a card may lie."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.games.monsters_on_the_moon.actions import AnyAction, EndTurn, PlaceCard, PlaceSpaceship
from service.games.monsters_on_the_moon.components import BOX, CardId
from service.games.monsters_on_the_moon.effects import CardDrawn, CardPlaced, DecisionOpened, TurnOpened
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.grid import ROTATIONS, Cell, Rotation, cell_at, coordinates_of, footprint
from service.games.monsters_on_the_moon.squares import Square, SquareAt
from service.games.monsters_on_the_moon.state import State, awaited_seats
from service.games.protocol import IllegalAction
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    at,
    decide,
    effects_of,
    legal,
    play,
    random_match,
    table,
    turn_of,
    with_cards,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.wall_tables import borders, networkx_areas

pytestmark = pytest.mark.unmeasured  # many matches or positions; other tests cover the same lines

LaidCard: TypeAlias = tuple[CardId, int, int, Rotation]

THREE_CARDS: Final[tuple[LaidCard, ...]] = (("A07", 0, 0, 0), ("A08", 3, 0, 0), ("A09", 0, 2, 0))


def laying_on_cards(*cards: LaidCard, hand: CardId = "A10") -> State:
    """The state in which seat 0 has to lay a card, with these cards on the table."""
    return turn_of(with_cards(table(), *cards), 0, hand)


def refused(state: State, x: int, y: int, rotation: Rotation = 0) -> tuple[str, str, Mapping[str, str | int]]:
    hand = state.seats[0].hand[0]
    with pytest.raises(IllegalAction) as refusal:
        decide(state, PlaceCard(hand, x, y, rotation))
    return refusal.value.code, refusal.value.clause, refusal.value.facts


def test_mon_10_a_card_of_the_hand_in_any_rotation_then_one_is_drawn_and_the_next_seat_plays() -> None:
    state = with_holdings(table(3, first=1), 1, ships=0)
    card, top = state.seats[1].hand[0], state.pile[0]
    listed = [action for action in legal(state) if isinstance(action, PlaceCard) and action.card == card]
    assert {action.rotation for action in listed} == set(ROTATIONS)
    for rotation in ROTATIONS:
        effects = decide(state, PlaceCard(card, -3 if rotation in {0, 180} else -2, 0, rotation))
        placed = effects[0]
        assert isinstance(placed, CardPlaced)
        assert [(square.shows, square.heads) for square in placed.squares] == list(BOX.faces[card, rotation])
        assert effects[-3:] == (CardDrawn(1, top, "MON-10"), TurnOpened(2), DecisionOpened(2, "place_card"))
        held = after(state, effects).seats[1].hand
        assert held == (*state.seats[1].hand[1:], top)


def test_mon_10_no_card_but_one_of_the_hand_can_be_laid() -> None:
    state = table()
    with pytest.raises(IllegalAction, match="card-not-in-hand"):
        decide(state, PlaceCard(state.pile[0], -3, 0, 0))
    assert {action.card for action in legal(state) if isinstance(action, PlaceCard)} == set(state.seats[0].hand)


def test_mon_10_exactly_one_card_is_laid_in_a_turn() -> None:
    state = table()
    state = play(state, PlaceCard(state.seats[0].hand[0], -3, 0, 0))
    assert state.step == "place_spaceship"
    with pytest.raises(IllegalAction, match="wrong-step"):
        decide(state, PlaceCard(state.seats[0].hand[0], -6, 0, 0))


def test_mon_10_one_card_is_drawn_even_if_the_turn_goes_on() -> None:
    state = table()
    state = play(state, PlaceCard(state.seats[0].hand[0], -3, 0, 0))
    assert len(state.seats[0].hand) == 5
    for action in legal(state):
        assert not [effect for effect in decide(state, action) if isinstance(effect, CardDrawn)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("seats", "options"), [(1, {}), (3, {"missions": "secret"}), (4, {}), (2, {"walls": True}), (4, {"walls": True})]
)
def test_mon_10_a_seat_that_does_not_answer_takes_the_first_of_all_actions(
    seats: int, options: dict[str, object]
) -> None:
    for state, _ in list(random_match(seats, 2, options))[:: 1 if LONG else 3]:
        assert [(one.seat, one.step, one.on_timeout) for one in GAME.decisions(state)] == [
            (seat, state.step, legal(state, seat)[0]) for seat in awaited_seats(state)
        ]


def test_mon_10_a_laid_card_reports_its_squares_and_those_that_it_covers() -> None:
    state = laying_on_cards(*THREE_CARDS)
    (placed, *_) = effects_of(state, PlaceCard("A10", 2, 0, 90))
    assert isinstance(placed, CardPlaced)
    # A10 is H V H over V W c: turned by 90 degrees, V H / W V / c H
    assert placed.squares == (
        SquareAt(2, 0, "A10", "vampire", 1),
        SquareAt(3, 0, "A10", "witch", 1),
        SquareAt(2, 1, "A10", "werewolf", 1),
        SquareAt(3, 1, "A10", "vampire", 1),
        SquareAt(2, 2, "A10", "crystal", 0),
        SquareAt(3, 2, "A10", "witch", 1),
    )
    assert placed.covered == (
        SquareAt(2, 0, "A07", "vampire", 1),
        SquareAt(3, 0, "A08", "werewolf", 1),
        SquareAt(2, 1, "A07", "vampire", 1),
        SquareAt(3, 1, "A08", "witch", 1),
        SquareAt(2, 2, "A09", "werewolf", 1),
    )
    later = after(state, [placed])
    assert at(later, 2, 1) == Square("A10", "werewolf", 1)
    assert at(later, 1, 1) == Square("A07", "witch", 1)


@pytest.mark.parametrize(
    ("x", "y", "rotation"),
    [(3, 0, 0), (-3, 1, 0), (3, -1, 0), (2, 2, 0), (-2, -2, 0), (3, 1, 90), (-2, -2, 270), (2, -3, 90), (0, 2, 180)],
)
def test_mon_11_a_card_may_share_one_edge_or_more(x: int, y: int, rotation: Rotation) -> None:
    state = laying_on_cards(("A07", 0, 0, 0))
    assert PlaceCard("A10", x, y, rotation) in legal(state)
    decide(state, PlaceCard("A10", x, y, rotation))


@pytest.mark.parametrize(
    ("x", "y", "rotation"),
    [(3, 2, 0), (-3, -2, 0), (3, -2, 0), (-3, 2, 180), (4, 0, 0), (0, 3, 0), (3, 2, 90), (3, -3, 270), (255, 255, 0)],
)
def test_mon_11_a_card_that_shares_no_edge_is_refused(x: int, y: int, rotation: Rotation) -> None:
    state = laying_on_cards(("A07", 0, 0, 0))
    assert refused(state, x, y, rotation) == ("touches-nothing", "MON-11", {"x": x, "y": y})
    assert PlaceCard("A10", x, y, rotation) not in legal(state)


@pytest.mark.parametrize(("x", "y"), [(1024, 0), (-1024, -1), (1021, -1), (0, 10**12), (-(10**18), 0), (256, 0)])
def test_mon_11_the_grid_does_not_wrap(x: int, y: int) -> None:
    assert refused(laying_on_cards(("A07", 0, 0, 0)), x, y)[:2] == ("touches-nothing", "MON-11")


def test_mon_12_worked_example_two_of_one_card_two_of_a_second_and_one_of_a_third() -> None:
    state = laying_on_cards(*THREE_CARDS)
    action = PlaceCard("A10", 2, 0, 90)
    assert action in legal(state)
    (placed, *_) = effects_of(state, action)
    assert isinstance(placed, CardPlaced)
    assert Counter(square.card for square in placed.covered) == {"A07": 2, "A08": 2, "A09": 1}


@pytest.mark.parametrize(("x", "y", "rotation"), [(0, -1, 0), (0, 0, 0), (1, 0, 180), (0, 0, 90), (1, -1, 90)])
def test_mon_12_worked_example_three_of_one_card_are_too_many(x: int, y: int, rotation: Rotation) -> None:
    state = laying_on_cards(*THREE_CARDS)
    assert refused(state, x, y, rotation) == ("covers-too-much", "MON-12", {"card": "A07", "most": 2})
    assert PlaceCard("A10", x, y, rotation) not in legal(state)


def test_mon_12_only_squares_that_are_visible_now_count() -> None:
    over = PlaceCard("A10", 1, 0, 90)
    assert over not in legal(laying_on_cards(("A07", 0, 0, 0)))  # four of A07
    half_hidden = laying_on_cards(("A07", 0, 0, 0), ("A08", 1, -1, 0))
    under = [half_hidden.display[cell].card for cell in footprint(1, 0, 90)[:4]]
    assert under == ["A08", "A08", "A07", "A07"]
    assert over in legal(half_hidden)


def test_mon_12_there_is_no_limit_to_layers() -> None:
    state = laying_on_cards(
        ("A07", 0, 0, 0), ("A08", 2, 0, 90), ("A09", 3, 0, 90), ("A11", 2, 0, 90), ("A12", 3, -1, 90)
    )
    state = turn_of(state, 0, "A10")
    assert PlaceCard("A10", 3, 1, 0) in legal(state)
    state = play(state, PlaceCard("A10", 3, 1, 0))
    assert at(state, 3, 1).card == "A10"


def test_mon_13_armstrong_and_his_base_camp_are_never_covered() -> None:
    state = laying_on_cards(("ARM", 0, 0, 0))
    assert refused(state, 1, -1, 90) == ("never-covered", "MON-13", {"x": 1, "y": 0})
    assert refused(state, 1, 1, 0) == ("never-covered", "MON-13", {"x": 1, "y": 1})
    assert refused(state, 0, 0, 0)[0] == "never-covered"
    laid = [footprint(one.x, one.y, one.rotation) for one in legal(state) if isinstance(one, PlaceCard)]
    assert laid
    assert not any({cell_at(1, 0), cell_at(1, 1)} & set(cells) for cells in laid)
    assert PlaceCard("A10", -1, 0, 90) in legal(state)


def test_mon_13_a_square_with_a_spaceship_is_never_covered() -> None:
    state = laying_on_cards(("A09", 0, 0, 0))  # H c W over V V H
    over = PlaceCard("A10", 1, -1, 0)
    assert over in legal(state)
    state = play(state, PlaceSpaceship(1, 0))
    assert over not in legal(state)
    assert refused(state, 1, -1) == ("never-covered", "MON-13", {"x": 1, "y": 0})
    assert PlaceCard("A10", 2, -1, 0) in legal(state)


@pytest.mark.parametrize("card", ["M1", "M2", "ARM"])
def test_mon_14_the_limit_of_two_holds_for_moonscapes_and_armstrong_too(card: CardId) -> None:
    # between two rotated cards, so that three empty squares could be covered without Armstrong
    state = laying_on_cards((card, 0, 0, 0), ("A07", 0, 2, 0))
    assert PlaceCard("A10", -1, 0, 90) in legal(state)
    if card == "ARM":
        assert refused(state, -1, -1, 0)[0] == "never-covered"
        # at most two of four empty squares: one card can only reach one column of each
        assert PlaceCard("A10", 2, -1, 90) in legal(state)
        return
    assert refused(state, 0, -1, 0) == ("covers-too-much", "MON-14", {"card": card, "most": 2})
    assert PlaceCard("A10", 1, -1, 0) in legal(state)


def literal_placements(state: State) -> list[AnyAction]:
    """MON-11 to MON-14, MON-62 and MON-63, implemented literally."""
    top = {coordinates_of(cell): square for cell, square in state.display.items()}
    own = {cell for cell, square in top.items() if square.shows == state.seats[state.active].monster}
    closed = {square for area in networkx_areas(state) if not area & own for square in area}
    walled = [border for wall in state.walls for border in borders(wall)]
    forbidden = closed | {coordinates_of(cell) for cell in state.ships}
    forbidden |= {cell for cell, square in top.items() if square.shows in {"armstrong", "base_camp"}}

    def is_legal(x: int, y: int, rotation: Rotation) -> bool:
        wide, high = (3, 2) if rotation in {0, 180} else (2, 3)
        squares = {(x + right, y + down) for right in range(wide) for down in range(high)}
        beside = {(a + right, b + down) for a, b in squares for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        return (
            not top.keys().isdisjoint(squares | beside)
            and forbidden.isdisjoint(squares)
            and all(count <= 2 for count in Counter(top[square].card for square in squares if square in top).values())
            and not any(border <= squares for border in walled)
        )

    xs, ys = [x for x, _ in top], [y for _, y in top]
    positions = [(x, y) for y in range(min(ys) - 4, max(ys) + 5) for x in range(min(xs) - 4, max(xs) + 5)]
    found = {rotation: [position for position in positions if is_legal(*position, rotation)] for rotation in ROTATIONS}
    hand = state.seats[state.active].hand
    return [PlaceCard(card, x, y, rotation) for card in hand for rotation in ROTATIONS for x, y in found[rotation]]


@pytest.mark.long
@settings(max_examples=8 * LENGTH if LONG else 3)
@given(st.integers(1, 4), st.integers(0, 10_000), st.booleans())
def test_mon_11_mon_12_mon_13_mon_62_mon_63_the_list_equals_a_literal_reading_of_the_clauses(
    seats: int, seed: int, walls: bool
) -> None:
    for ply, (state, _) in enumerate(random_match(seats, seed, {"walls": walls and seats > 1})):
        if state.step == "place_card" and ply % 5 == 0:
            listed = [action for action in legal(state) if isinstance(action, PlaceCard)]
            assert listed == literal_placements(state)


def topmost_cards(state: State) -> dict[Cell, CardId]:
    """The topmost card of each cell, computed only from the cards in the order in which they were laid."""
    top: dict[Cell, CardId] = {}
    for laid in state.laid:
        top.update(dict.fromkeys(footprint(laid.x, laid.y, laid.rotation), laid.card))
    return top


@pytest.mark.long
@settings(max_examples=15 * LENGTH if LONG else 5)
@given(st.integers(1, 4), st.integers(0, 10_000))
def test_no_square_shows_two_things_and_no_card_loses_more_than_two_squares_at_once(seats: int, seed: int) -> None:
    before: dict[Cell, CardId] = {}
    for state, effects in random_match(seats, seed):
        top = topmost_cards(state)
        assert {cell: square.card for cell, square in state.display.items()} == top
        for effect in effects:
            if isinstance(effect, CardPlaced):
                covered = {cell_at(square.x, square.y): square.card for square in effect.covered}
                assert covered.items() <= before.items()
                assert set(Counter(covered.values()).values()) <= {1, 2}
                assert {cell for cell in top if top[cell] != before.get(cell)} == set(
                    footprint(effect.x, effect.y, effect.rotation)
                )
        before = top
        printed = {
            (cell, face)
            for laid in state.laid
            for cell, face in zip(
                footprint(laid.x, laid.y, laid.rotation), BOX.faces[laid.card, laid.rotation], strict=True
            )
            if top[cell] == laid.card
        }
        shown = {(cell, (square.shows, square.heads)) for cell, square in state.display.items() if square.plate is None}
        assert shown <= printed
        assert all(state.display[cell].shows == "crystal" for cell in state.ships)


def test_the_end_of_the_turn_may_be_the_only_choice_left() -> None:
    state = table()
    state = play(state, PlaceCard(state.seats[0].hand[0], -3, 0, 0))
    assert legal(state)[0] == EndTurn()
    assert all(isinstance(action, PlaceSpaceship) for action in legal(state)[1:])
