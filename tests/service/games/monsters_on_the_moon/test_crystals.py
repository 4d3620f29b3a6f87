"""MON-20 to MON-22: crystals and plates.

Seat 0 is the werewolf; A07 is W H V over W H V, A19 is H c W over H c V, A05 is W H VV over c W H.
"""

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import EndTurn, PlaceCard, PlacePlate, PlaceSpaceship
from service.games.monsters_on_the_moon.components import CardId
from service.games.monsters_on_the_moon.effects import (
    AnyEffect,
    CardDrawn,
    DecisionOpened,
    MarkerMoved,
    PlateLost,
    PlatePlaced,
    PlateTaken,
    SpaceshipPlaced,
    TurnOpened,
)
from service.games.monsters_on_the_moon.grid import cell_at
from service.games.monsters_on_the_moon.squares import Square
from tests.length import LONG
from tests.service.games.monsters_on_the_moon.builders import (
    RED,
    after,
    at,
    at_step,
    decide,
    effects_of,
    laying_on_picture,
    legal,
    play,
    random_match,
    refusal_of,
    table,
    turn_of,
    with_cards,
)

OVER = PlaceCard("A07", 0, 0, 0)
SIX_CRYSTALS = "c c c\nc c c"


def moves(effects: list[AnyEffect]) -> list[AnyEffect]:
    return [effect for effect in effects if isinstance(effect, MarkerMoved)]


@pytest.mark.parametrize(
    ("picture", "seats", "expected"),
    [
        ("W . .\nH V VV", 2, []),
        ("c . .\n. . .", 2, [MarkerMoved(0, 1, 0, 1, 1, "MON-20")]),
        ("c c .\n. . H", 2, [MarkerMoved(0, 2, 0, 2, 1, "MON-20")]),
        ("c c c\nc . e", 2, [MarkerMoved(0, 4, 0, 4, 3, "MON-20")]),
        ("c c c\n. . .", 4, [MarkerMoved(0, 3, 0, 3, 3, "MON-20")]),
        (". . . c\nW . . c", 2, []),  # beside the card
    ],
)
def test_mon_20_each_crystal_covered_moves_the_marker_a_field(
    picture: str, seats: int, expected: list[MarkerMoved]
) -> None:
    card = "A07" if seats < 4 else "B09"
    assert moves(effects_of(laying_on_picture(picture, card, seats=seats), PlaceCard(card, 0, 0, 0))) == expected


def test_mon_20_the_marker_carries_the_points_of_its_field() -> None:
    state = play(laying_on_picture(SIX_CRYSTALS.replace("c", "W", 1)), OVER)
    assert (state.seats[0].field, state.seats[0].crystals) == (5, 3)


def test_mon_20_a_marker_on_the_last_field_stays_and_the_move_is_legal() -> None:
    assert moves(effects_of(laying_on_picture(SIX_CRYSTALS, field=13), OVER)) == [
        MarkerMoved(0, 6, 13, 15, 12, "MON-20")
    ]
    last = laying_on_picture(SIX_CRYSTALS, field=15, ships=1)
    assert moves(effects_of(last, OVER)) == [MarkerMoved(0, 6, 15, 15, 12, "MON-20")]
    assert moves(effects_of(last, PlaceSpaceship(1, 0))) == [MarkerMoved(0, 1, 15, 15, 12, "MON-23")]


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("e e e\ne e e", [MarkerMoved(0, 2, 0, 2, 1, "MON-21")]),
        ("e . e\ne e e", [MarkerMoved(0, 1, 0, 1, 1, "MON-21")]),
        ("e . e\ne W e", []),  # one on the bare table, one on a monster
        ("e c e\ne e e", [MarkerMoved(0, 1, 0, 1, 1, "MON-20"), MarkerMoved(0, 1, 1, 2, 1, "MON-21")]),
    ],
)
def test_mon_21_each_crystal_laid_on_an_empty_square_moves_the_marker_a_field(
    picture: str, expected: list[MarkerMoved]
) -> None:
    assert moves(effects_of(laying_on_picture(picture, "A19"), PlaceCard("A19", 0, 0, 0))) == expected


def test_mon_20_a_crystal_under_a_crystal_is_covered_like_any_other() -> None:
    state = laying_on_picture("e c e\ne c e", "A19")
    assert moves(effects_of(state, PlaceCard("A19", 0, 0, 0))) == [MarkerMoved(0, 2, 0, 2, 1, "MON-20")]


def test_mon_21_heads_on_empty_squares_move_nothing() -> None:
    assert moves(effects_of(laying_on_picture("e e e\ne e e"), OVER)) == []


@pytest.mark.parametrize("card", ["M2", "ARM"])
def test_mon_21_moonscapes_and_armstrong_have_empty_squares(card: CardId) -> None:
    state = turn_of(with_cards(table(), (card, 0, 0, 0)), 0, "A19")
    # A19 turned by 90 degrees is H H over c c over V W: one crystal lies on the table, one on the corner
    assert moves(effects_of(state, PlaceCard("A19", -1, -1, 90))) == [MarkerMoved(0, 1, 0, 1, 1, "MON-21")]


@pytest.mark.parametrize(("field", "crystals"), [(4, 1), (3, 2), (4, 3), (0, 6)])
def test_mon_22_a_seat_that_reaches_or_passes_a_red_framed_field_takes_the_plate_and_must_put_it(
    field: int, crystals: int
) -> None:
    symbols = (["c"] * crystals + ["W"] * 6)[:6]
    state = laying_on_picture(" ".join(symbols[:3]) + "\n" + " ".join(symbols[3:]), field=field)
    effects = decide(state, OVER)
    assert effects[2:] == (PlateTaken(0, 5), DecisionOpened(0, "place_plate"))
    state = after(state, effects)
    assert (state.seats[0].plates, state.turn.plates) == (1, 1)
    assert legal(state) == [PlacePlate(1, 0), PlacePlate(2, 0), PlacePlate(1, 1), PlacePlate(2, 1)]


@pytest.mark.parametrize(("seats", "red"), [(2, 5), (2, 10), (3, 4), (3, 8), (4, 4), (4, 8)])
def test_mon_22_each_red_framed_field_has_one_plate(seats: int, red: int) -> None:
    card = "A07" if seats < 4 else "B09"
    over = PlaceCard(card, 0, 0, 0)
    taken = {
        field: PlateTaken(0, red) in effects_of(laying_on_picture("c", card, seats=seats, field=field), over)
        for field in (red - 2, red - 1, red)
    }
    assert taken == {red - 2: False, red - 1: True, red: False}


def test_mon_22_the_square_shows_one_own_head_from_then_on_and_is_still_of_its_card() -> None:
    state = play(laying_on_picture("c", field=4), OVER)
    top = state.pile[0]
    effects = decide(state, PlacePlate(2, 1))
    assert effects == (
        PlatePlaced(0, 2, 1, "werewolf"),
        CardDrawn(0, top, "MON-10"),
        TurnOpened(1),
        DecisionOpened(1, "place_card"),
    )
    assert at(after(state, effects), 2, 1) == Square("A07", "werewolf", 1, plate=0)


def test_mon_22_a_double_head_becomes_one_head() -> None:
    state = play(laying_on_picture("c", "A05", field=4), PlaceCard("A05", 0, 0, 0))
    assert at(state, 2, 0) == Square("A05", "vampire", 2)
    state = play(state, PlacePlate(2, 0))
    assert at(state, 2, 0) == Square("A05", "werewolf", 1, plate=0)


def test_mon_22_opposing_are_all_heads_but_the_own_ones_whether_they_play_or_not() -> None:
    state = play(laying_on_picture("c", "A05", field=4), PlaceCard("A05", 0, 0, 0))
    # W H VV over c W H: two witches, who have a player, and the double vampire, which has none
    assert legal(state) == [PlacePlate(1, 0), PlacePlate(2, 0), PlacePlate(2, 1)]
    for action in (PlacePlate(0, 0), PlacePlate(0, 1), PlacePlate(5, 5)):
        assert refusal_of(state, action) == ("no-opposing-monster", "MON-22")


def test_mon_22_only_the_card_of_this_turn_takes_a_plate() -> None:
    state = play(laying_on_picture("c . . H", field=4), PlaceCard("A07", 0, -1, 0))
    assert at(state, 3, 0).shows == "witch"
    assert refusal_of(state, PlacePlate(3, 0)) == ("no-opposing-monster", "MON-22")
    assert legal(state) == [PlacePlate(x, y) for y in (-1, 0) for x in (1, 2)]


def test_mon_22_a_plate_must_be_placed_at_once() -> None:
    state = play(laying_on_picture("c c c c", field=4, ships=2), OVER)
    assert all(isinstance(action, PlacePlate) for action in legal(state))
    for action in (EndTurn(), PlaceSpaceship(3, 0)):
        assert refusal_of(state, action) == ("wrong-step", "MON-22")


def test_mon_22_two_plates_are_put_one_after_the_other() -> None:
    state = laying_on_picture(SIX_CRYSTALS, field=4)
    effects = effects_of(state, OVER)
    assert effects[2:] == [PlateTaken(0, 5), PlateTaken(0, 10)]
    state = play(state, OVER, PlacePlate(1, 0))
    assert state.step == "place_plate"
    assert legal(state) == [PlacePlate(2, 0), PlacePlate(1, 1), PlacePlate(2, 1)]
    state = play(state, PlacePlate(2, 1))
    assert state.active == 1
    assert [square.plate for square in state.display.values()].count(0) == 2


@pytest.mark.parametrize("lost", [1, 2])
def test_mon_22_each_plate_without_an_opposing_monster_is_lost(lost: int) -> None:
    state = at_step(play(laying_on_picture(SIX_CRYSTALS, field=4), OVER), "place_plate", 0)
    state = replace(state, turn=replace(state.turn, plates=1 + lost))
    for cell in (cell_at(2, 0), cell_at(1, 1), cell_at(2, 1)):
        state = replace(state, display=state.display | {cell: Square("A07", "werewolf", 1)})
    effects = effects_of(state, PlacePlate(1, 0))
    assert effects[: 1 + lost] == [PlatePlaced(0, 1, 0, "werewolf"), *[PlateLost(0)] * lost]
    state = after(state, effects)
    assert (state.turn.plates, state.seats[0].plates, state.seats[0].plates_lost) == (0, 0, lost)


def test_mon_22_a_plate_that_a_spaceship_brought_before_the_card_waits_for_the_card() -> None:
    state = laying_on_picture(". . . c\n. . c", field=4, ships=1)
    effects = decide(state, PlaceSpaceship(3, 0))
    assert effects == (
        SpaceshipPlaced(0, 3, 0),
        MarkerMoved(0, 1, 4, 5, 3, "MON-23"),
        PlateTaken(0, 5),
        DecisionOpened(0, "place_card"),
    )
    state = after(state, effects)
    assert refusal_of(state, PlacePlate(3, 0)) == ("wrong-step", "MON-10")
    assert decide(state, OVER)[-1] == DecisionOpened(0, "place_plate")


def test_mon_22_a_spaceship_after_the_card_brings_the_plate_onto_that_card() -> None:
    state = play(laying_on_picture(". . . c", field=4, ships=1), OVER)
    effects = decide(state, PlaceSpaceship(3, 0))
    assert effects[1:] == (
        MarkerMoved(0, 1, 4, 5, 3, "MON-23"),
        PlateTaken(0, 5),
        DecisionOpened(0, "place_plate"),
    )
    effects = decide(after(state, effects), PlacePlate(1, 0))
    assert effects == (PlatePlaced(0, 1, 0, "werewolf"), TurnOpened(1), DecisionOpened(1, "place_card"))


def test_mon_22_a_plate_may_be_covered_later() -> None:
    state = play(laying_on_picture("c", field=4), OVER, PlacePlate(2, 1))
    state = play(turn_of(state, 1, "A08"), PlaceCard("A08", 2, 1, 0))
    assert at(state, 2, 1) == Square("A08", "werewolf", 1)


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_plate_is_on_the_track_taken_placed_or_lost(seats: int) -> None:
    for seed in range(6 if LONG else 2):
        placed = [0] * seats
        for state, effects in random_match(seats, seed):
            for effect in effects:
                if isinstance(effect, PlatePlaced):
                    placed[effect.seat] += 1
            for seat, held in enumerate(state.seats):
                unplaced = state.turn.plates if seat == state.active else 0
                assert held.plates + unplaced + placed[seat] + held.plates_lost == 2
                assert held.plates == sum(red > held.field for red in RED[seats])
