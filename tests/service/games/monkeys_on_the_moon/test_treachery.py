"""MOM-51: the first stone at the white dot changes the circle, and ships that now carry rivals launch.

In the circle of the examples, blue's clockwise ally is black. After they have swapped, blue's rival is purple, and
black's rival is green.
"""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import Appease, ChooseShip, LeaveBehind, PlayCivilization
from service.games.monkeys_on_the_moon.effects import (
    CoinsPaid,
    CoinsTaken,
    DecisionOpened,
    MonkeyBoarded,
    MonkeysLeftBehind,
    ScornReturned,
    ShipChosen,
    ShipLaunched,
    ShipsRevealed,
    StoneFinished,
    StoneMoved,
    TribeCardsSwapped,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import State
from tests.service.games.monkeys_on_the_moon.builders import (
    civilization_turn,
    decide,
    effects_of,
    legal,
    play,
    table,
    with_holdings,
    with_scorn_holders,
    with_stones,
)

ADVANCE_BLUE = PlayCivilization("blue-3-1", "blue")
SWAPPED = TribeCardsSwapped("blue", "black", ("green", "purple", "brown", "black", "blue", "red"))


def turn(blue: int = 10, seats: int = 2, seat: int = 0, *, treachery: bool = True) -> State:
    """The state in which a seat will advance blue by 3 from this space."""
    state = table(seats, first=seat, treachery=treachery)
    state = replace(state, ship_pool=("red-3", "brown-2"), ship_deck=("black-4", "green-4", "red-2"))
    for other in range(seats):
        state = with_holdings(state, other, ship="green-2", aboard=())
    return with_stones(civilization_turn(state, seat, "blue-3-1"), blue=blue)


def before_treachery() -> State:
    """Seat 1 of three will advance blue.

    After the swap, seats 0 and 2 have rivals aboard, and seat 2 also a third tribe.
    """
    state = turn(seats=3, seat=1)
    state = with_holdings(state, 0, ship="purple-4", aboard=("green-3-1", "black-3-1", "green-3-2"))
    return with_holdings(state, 2, ship="brown-4", aboard=("blue-3-1", "red-3-1", "purple-3-1"))


@pytest.mark.parametrize("space", [9, 10, 11])
def test_mom_51_a_stone_that_reaches_or_passes_the_dot_swaps_with_its_clockwise_ally(space: int) -> None:
    assert effects_of(turn(space), ADVANCE_BLUE)[-2:] == [StoneMoved("blue", space, space + 3), SWAPPED]
    assert play(turn(space), ADVANCE_BLUE).circle == SWAPPED.alliance_circle


def test_mom_51_a_stone_short_of_the_dot_does_not() -> None:
    assert SWAPPED not in effects_of(turn(8), ADVANCE_BLUE)


def test_mom_51_the_last_tribe_of_the_circle_swaps_with_the_first() -> None:
    state = with_stones(civilization_turn(turn(), 0, "red-2-1"), red=11)
    assert effects_of(state, PlayCivilization("red-2-1", "red"))[-1] == TribeCardsSwapped(
        "red", "green", ("red", "purple", "brown", "blue", "black", "green")
    )


def test_mom_51_only_the_first_time() -> None:
    state = replace(turn(10), swapped=True)
    assert SWAPPED not in effects_of(state, ADVANCE_BLUE)


def test_mom_51_is_off_by_default() -> None:
    assert SWAPPED not in effects_of(turn(10, treachery=False), ADVANCE_BLUE)


def test_mom_51_passing_the_dot_into_a_finish_circle_triggers_it_too() -> None:
    assert effects_of(turn(18), ADVANCE_BLUE)[-2:] == [StoneFinished("blue", 1), SWAPPED]


def test_mom_51_a_stone_that_does_not_move_triggers_nothing() -> None:
    assert SWAPPED not in effects_of(with_stones(turn(), "blue"), ADVANCE_BLUE)


def test_mom_51_favor_is_settled_in_the_circle_as_it_was() -> None:
    state = with_scorn_holders(with_holdings(turn(), 0, coins={"red": 1, "blue": 1}), green=0)
    assert legal(play(state, ADVANCE_BLUE)) == [Appease("red", "coin"), Appease("purple", "scorn")]
    assert effects_of(play(state, ADVANCE_BLUE), Appease("red", "coin")) == [
        CoinsPaid(0, "red", 1, "MOM-16"),
        StoneMoved("blue", 10, 13),
        SWAPPED,
    ]


def test_mom_51_ships_without_rivals_fly_on() -> None:
    state = with_holdings(turn(), 1, ship="green-4", aboard=("blue-3-1", "green-3-1"))
    assert decide(state, ADVANCE_BLUE)[-2:] == (
        TurnOpened(1, "civilization"),
        DecisionOpened(1, "play_civilization"),
    )


def test_mom_51_monkeys_that_wait_without_a_ship_are_no_rivals() -> None:
    state = with_holdings(turn(), 1, ship=None, aboard=("green-3-1", "black-3-1"))
    assert decide(state, ADVANCE_BLUE)[-1] == DecisionOpened(1, "play_civilization")


def test_mom_51_owners_decide_in_turn_order_from_the_active_player() -> None:
    state = play(before_treachery(), ADVANCE_BLUE)
    assert decide(before_treachery(), ADVANCE_BLUE)[-1] == DecisionOpened(2, "leave_behind")
    state = play(state, LeaveBehind("blue"))
    assert decide(state, ChooseShip("red-3"))[-1] == DecisionOpened(0, "leave_behind")
    state = play(state, ChooseShip("red-3"), LeaveBehind("black"))
    assert decide(state, ChooseShip("brown-2"))[-2:] == (
        TurnOpened(2, "civilization"),
        DecisionOpened(2, "play_civilization"),
    )


def test_mom_51_the_active_player_decides_first() -> None:
    state = with_holdings(before_treachery(), 1, ship="red-4", aboard=("black-4-1", "green-4-1"))
    assert decide(state, ADVANCE_BLUE)[-1] == DecisionOpened(1, "leave_behind")


def test_mom_51_either_of_the_two_rival_tribes_may_stay_and_a_third_tribe_launches() -> None:
    state = play(before_treachery(), ADVANCE_BLUE)
    assert legal(state) == [LeaveBehind("blue"), LeaveBehind("purple")]
    assert decide(state, LeaveBehind("blue")) == (
        MonkeysLeftBehind(2, "blue", ("blue-3-1",)),
        ShipLaunched(2, "brown-4", ("red-3-1", "purple-3-1"), "under_deck", 0, "MOM-51"),
        CoinsTaken(2, "brown", 1, "MOM-25"),
        DecisionOpened(2, "choose_ship"),
    )
    assert decide(play(state, LeaveBehind("purple")), ChooseShip("brown-2"))[:3] == (
        ShipChosen(2, "brown-2"),
        ShipsRevealed(("black-4",)),
        MonkeyBoarded(2, "purple-3-1"),
    )
    assert play(state, LeaveBehind("blue")).ships_under_deck == ("brown-4",)


def test_mom_51_an_owner_who_holds_the_scorn_of_the_ships_colour_returns_it() -> None:
    state = with_scorn_holders(play(before_treachery(), ADVANCE_BLUE), brown=2)
    assert decide(state, LeaveBehind("blue"))[2] == ScornReturned(2, "brown", "MOM-25")


def test_mom_51_all_left_behind_board_in_the_order_won_and_a_filled_ship_launches_full() -> None:
    state = play(before_treachery(), ADVANCE_BLUE, LeaveBehind("blue"), ChooseShip("red-3"))
    assert decide(state, LeaveBehind("green"))[0] == MonkeysLeftBehind(0, "green", ("green-3-1", "green-3-2"))
    state = play(state, LeaveBehind("green"))
    assert decide(state, ChooseShip("brown-2")) == (
        ShipChosen(0, "brown-2"),
        ShipsRevealed(("green-4",)),
        MonkeyBoarded(0, "green-3-1"),
        MonkeyBoarded(0, "green-3-2"),
        ShipLaunched(0, "brown-2", ("green-3-1", "green-3-2"), "score_pile", 1, "MOM-24"),
        CoinsTaken(0, "brown", 1, "MOM-25"),
        DecisionOpened(0, "choose_ship"),
    )
    assert decide(play(state, ChooseShip("brown-2")), ChooseShip("black-4"))[-2:] == (
        TurnOpened(2, "civilization"),
        DecisionOpened(2, "play_civilization"),
    )


def test_mom_51_after_the_last_civilization_turn_of_a_round_the_bid_turns_come_after_it() -> None:
    state = replace(with_holdings(turn(), 1, ship="red-4", aboard=("green-3-1", "black-3-1")), starting_seat=1)
    state = play(state, ADVANCE_BLUE, LeaveBehind("green"))
    assert decide(state, ChooseShip("red-3"))[-2:] == (TurnOpened(1, "bid"), DecisionOpened(1, "select_monkey"))
