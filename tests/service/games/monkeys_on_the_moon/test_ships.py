"""MOM-24 to MOM-27: boarding, launches and new ships."""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import ChooseShip, Pass
from service.games.monkeys_on_the_moon.effects import (
    AuctionWon,
    BidPassed,
    CoinsPaid,
    CoinsTaken,
    DecisionOpened,
    MonkeyBoarded,
    MonkeyKeptWaiting,
    ScornReturned,
    ShipChosen,
    ShipLaunched,
    ShipsRevealed,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import State
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    decide,
    effects_of,
    legal,
    play,
    table,
    with_holdings,
    with_scorn_holders,
    with_supply,
)

POOL = ("red-3", "brown-2")
DECK = ("purple-4", "black-2", "purple-2")


def before_winning(monkey: str, ship: str, *aboard: str) -> State:
    """The state in which seat 1 wins the monkey as soon as seat 0 passes."""
    tribe = monkey.split("-", maxsplit=1)[0]
    state = auction_of(table(), monkey, 0, bidder=1, points=3, **{tribe: 1})
    state = with_holdings(state, 1, ship=ship, aboard=aboard)
    return replace(state, ship_pool=POOL, ship_deck=DECK)


def launched(state: State) -> list[object]:
    """The effects of winning, without the payment."""
    effects = list(decide(state, Pass()))
    assert [type(effect) for effect in effects[:3]] == [BidPassed, AuctionWon, CoinsPaid]
    return [*effects[3:]]


def test_mom_24_the_monkey_boards_the_winners_ship() -> None:
    assert launched(before_winning("red-3-1", "blue-3", "black-3-1")) == [
        MonkeyBoarded(1, "red-3-1"),
        TurnOpened(1, "bid"),
        DecisionOpened(1, "select_monkey"),
    ]


@pytest.mark.parametrize(("ship", "points"), [("blue-2", 1), ("blue-3", 2), ("blue-4", 3)])
def test_mom_24_a_ship_that_reaches_its_capacity_launches_at_once(ship: str, points: int) -> None:
    aboard = ("black-3-1", "black-3-2", "black-4-1")[:points]
    state = before_winning("red-3-1", ship, *aboard)
    assert launched(state) == [
        MonkeyBoarded(1, "red-3-1"),
        ShipLaunched(1, ship, (*aboard, "red-3-1"), "score_pile", points, "MOM-24"),
        CoinsTaken(1, "blue", 1, "MOM-25"),
        DecisionOpened(1, "choose_ship"),
    ]
    after = play(state, Pass()).seats[1]
    assert (after.ship, after.aboard, after.launched, after.full_ships) == (None, (), (*aboard, "red-3-1"), (ship,))


def test_mom_25_no_coin_from_an_empty_supply() -> None:
    effects = launched(with_supply(before_winning("red-3-1", "blue-2", "black-3-1"), blue=0))
    assert not [effect for effect in effects if isinstance(effect, CoinsTaken)]


def test_mom_25_a_seat_that_holds_the_scorn_of_the_ships_colour_returns_it_and_takes_no_coin() -> None:
    effects = launched(with_scorn_holders(before_winning("red-3-1", "blue-2", "black-3-1"), blue=1))
    assert effects[2:] == [ScornReturned(1, "blue", "MOM-25"), DecisionOpened(1, "choose_ship")]


def test_mom_25_anothers_scorn_does_not_matter() -> None:
    effects = launched(with_scorn_holders(before_winning("red-3-1", "blue-2", "black-3-1"), blue=0))
    assert effects[2] == CoinsTaken(1, "blue", 1, "MOM-25")


def test_mom_26_the_owner_chooses_of_the_pool_which_is_refilled_to_two() -> None:
    state = play(before_winning("red-3-1", "blue-2", "black-3-1"), Pass())
    assert legal(state) == [ChooseShip("red-3"), ChooseShip("brown-2")]
    assert decide(state, ChooseShip("brown-2")) == (
        ShipChosen(1, "brown-2"),
        ShipsRevealed(("purple-4",)),
        TurnOpened(1, "bid"),
        DecisionOpened(1, "select_monkey"),
    )
    after = play(state, ChooseShip("brown-2"))
    assert after.seats[1].ship == "brown-2"
    assert after.ship_pool == ("red-3", "purple-4")


def test_mom_26_without_a_deck_the_pool_shrinks() -> None:
    state = replace(play(before_winning("red-3-1", "blue-2", "black-3-1"), Pass()), ship_deck=())
    assert effects_of(state, ChooseShip("brown-2")) == [ShipChosen(1, "brown-2")]


def test_mom_26_with_no_ship_left_later_monkeys_wait_beside_the_player() -> None:
    state = replace(before_winning("red-3-1", "blue-2", "black-3-1"), ship_pool=(), ship_deck=())
    assert launched(state)[3:] == [TurnOpened(1, "bid"), DecisionOpened(1, "select_monkey")]
    shipless = replace(
        with_holdings(before_winning("green-3-1", "blue-2"), 1, ship=None, aboard=("blue-3-1",)), ship_pool=()
    )
    assert launched(shipless)[0] == MonkeyKeptWaiting(1, "green-3-1")
    assert play(shipless, Pass()).seats[1].aboard == ("blue-3-1", "green-3-1")


def test_mom_27_a_rival_aboard_makes_the_ship_launch_early_without_the_new_monkey() -> None:
    state = before_winning("green-3-1", "red-4", "black-3-1", "blue-3-1")
    assert launched(state) == [
        ShipLaunched(1, "red-4", ("black-3-1", "blue-3-1"), "under_deck", 0, "MOM-27"),
        CoinsTaken(1, "red", 1, "MOM-25"),
        DecisionOpened(1, "choose_ship"),
    ]
    assert decide(play(state, Pass()), ChooseShip("red-3")) == (
        ShipChosen(1, "red-3"),
        ShipsRevealed(("purple-4",)),
        MonkeyBoarded(1, "green-3-1"),
        TurnOpened(1, "bid"),
        DecisionOpened(1, "select_monkey"),
    )
    after = play(state, Pass(), ChooseShip("red-3"))
    assert (*after.ship_deck, *after.ships_under_deck) == ("black-2", "purple-2", "red-4")
    assert after.seats[1].aboard == ("green-3-1",)
    assert after.seats[1].full_ships == ()


def test_mom_27_allies_and_others_share_a_ship() -> None:
    for tribe in ("red", "purple", "black", "brown"):
        assert launched(before_winning("green-3-1", "red-4", f"{tribe}-3-1"))[0] == MonkeyBoarded(1, "green-3-1")


def test_mom_27_the_ship_goes_under_the_deck_and_comes_after_all_others() -> None:
    state = replace(before_winning("green-3-1", "red-4", "blue-3-1"), ship_deck=(), ships_under_deck=("purple-4",))
    assert effects_of(play(state, Pass()), ChooseShip("red-3"))[1] == ShipsRevealed(("purple-4",))
    assert play(state, Pass(), ChooseShip("red-3")).ships_under_deck == ("red-4",)


def test_mom_27_with_an_empty_pool_the_refill_comes_before_the_choice() -> None:
    state = replace(before_winning("green-3-1", "red-4", "blue-3-1"), ship_pool=(), ship_deck=())
    assert launched(state)[1:] == [
        CoinsTaken(1, "red", 1, "MOM-25"),
        ShipsRevealed(("red-4",)),
        DecisionOpened(1, "choose_ship"),
    ]
    assert legal(play(state, Pass())) == [ChooseShip("red-4")]


def test_mom_27_the_new_ship_may_launch_at_once() -> None:
    state = play(before_winning("green-3-1", "red-4", "blue-3-1"), Pass())
    state = replace(state, boarding=("green-3-1", "green-3-2"))
    assert effects_of(state, ChooseShip("brown-2")) == [
        ShipChosen(1, "brown-2"),
        ShipsRevealed(("purple-4",)),
        MonkeyBoarded(1, "green-3-1"),
        MonkeyBoarded(1, "green-3-2"),
        ShipLaunched(1, "brown-2", ("green-3-1", "green-3-2"), "score_pile", 1, "MOM-24"),
        CoinsTaken(1, "brown", 1, "MOM-25"),
    ]
