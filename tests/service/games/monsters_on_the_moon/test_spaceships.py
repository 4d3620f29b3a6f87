"""MON-23: spaceships. Seat 0 is the werewolf."""

import pytest

from service.games.monsters_on_the_moon.actions import EndTurn, PlaceCard, PlaceSpaceship
from service.games.monsters_on_the_moon.effects import DecisionOpened, MarkerMoved, SpaceshipPlaced, TurnOpened
from service.games.monsters_on_the_moon.grid import cell_at
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    decide,
    laying_on_picture,
    legal,
    play,
    refusal_of,
    table,
    turn_of,
    with_holdings,
)

OVER = PlaceCard("A07", 0, 0, 0)


def test_mon_23_a_spaceship_goes_on_any_visible_crystal_before_the_card() -> None:
    state = laying_on_picture("c W c\ne c .", ships=2)
    ships = [action for action in legal(state) if isinstance(action, PlaceSpaceship)]
    assert ships == [PlaceSpaceship(0, 0), PlaceSpaceship(2, 0), PlaceSpaceship(1, 1)]
    effects = decide(state, PlaceSpaceship(2, 0))
    assert effects == (
        SpaceshipPlaced(0, 2, 0),
        MarkerMoved(0, 1, 0, 1, 1, "MON-23"),
        DecisionOpened(0, "place_card"),
    )
    state = after(state, effects)
    assert state.ships == {cell_at(2, 0): 0}
    assert state.seats[0].ships == 1


@pytest.mark.parametrize(("x", "y"), [(1, 0), (0, 1), (2, 1), (7, 7)])
def test_mon_23_a_spaceship_needs_a_crystal(x: int, y: int) -> None:
    assert refusal_of(laying_on_picture("c W c\ne c .", ships=2), PlaceSpaceship(x, y)) == ("no-free-crystal", "MON-23")


def test_mon_23_a_crystal_takes_one_spaceship() -> None:
    state = play(laying_on_picture("c W c\ne c .", ships=2), PlaceSpaceship(2, 0))
    state = with_holdings(turn_of(state, 1, "A08"), 1, ships=2)
    assert refusal_of(state, PlaceSpaceship(2, 0)) == ("no-free-crystal", "MON-23")
    assert PlaceSpaceship(0, 0) in legal(state)


def test_mon_23_one_spaceship_a_turn() -> None:
    state = play(laying_on_picture(". . . c c c", ships=2), PlaceSpaceship(3, 0))
    assert not any(isinstance(action, PlaceSpaceship) for action in legal(state))
    assert refusal_of(state, PlaceSpaceship(4, 0)) == ("one-spaceship-a-turn", "MON-23")
    assert decide(state, OVER)[-1] == DecisionOpened(1, "place_card")


def test_mon_23_each_seat_has_two_spaceships() -> None:
    state = laying_on_picture(". . . c c c", ships=0)
    assert table().seats[0].ships == 2
    assert refusal_of(state, PlaceSpaceship(3, 0)) == ("no-spaceship-left", "MON-23")
    assert decide(state, OVER)[-1] == DecisionOpened(1, "place_card")


def test_mon_23_after_the_card_the_turn_goes_on_while_a_spaceship_could_be_put() -> None:
    state = laying_on_picture(". . . c W c", ships=1)
    assert decide(state, OVER)[-1] == DecisionOpened(0, "place_spaceship")
    state = play(state, OVER)
    assert legal(state) == [EndTurn(), PlaceSpaceship(3, 0), PlaceSpaceship(5, 0)]
    assert decide(state, EndTurn()) == (TurnOpened(1), DecisionOpened(1, "place_card"))
    assert decide(state, PlaceSpaceship(3, 0)) == (
        SpaceshipPlaced(0, 3, 0),
        MarkerMoved(0, 1, 0, 1, 1, "MON-23"),
        TurnOpened(1),
        DecisionOpened(1, "place_card"),
    )


def test_mon_23_after_the_card_the_turn_ends_by_itself_without_a_free_crystal() -> None:
    assert decide(laying_on_picture("W W W W", ships=2), OVER)[-1] == DecisionOpened(1, "place_card")
    assert decide(laying_on_picture("c", ships=2), OVER)[-1] == DecisionOpened(1, "place_card")


def test_mon_23_the_turn_cannot_be_ended_before_the_card() -> None:
    assert refusal_of(laying_on_picture("c", ships=2), EndTurn()) == ("wrong-step", "MON-10")
