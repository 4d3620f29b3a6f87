"""MOM-20 to MOM-23: the auction of a monkey."""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import AnyAction, Bid, Pass, SelectMonkey
from service.games.monkeys_on_the_moon.effects import (
    AuctionOpened,
    AuctionWon,
    BidMade,
    BidPassed,
    BidTurnSkipped,
    CoinsPaid,
    DecisionOpened,
    MonkeyBoarded,
    MonkeyDiscarded,
    ScornReturned,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import State
from service.games.protocol import IllegalAction
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    bid_turn,
    decide,
    effects_of,
    legal,
    play,
    table,
    with_holdings,
    with_scorn_holders,
)

PURPLE = "purple-4-1"


def auction(seats: int = 3, **coins: int) -> State:
    """The state after seat 0 has put up a purple monkey. Seat 0 bids first, and all seats have these coins."""
    state = play(bid_turn(table(seats), 0, PURPLE, "red-3-1"), SelectMonkey(PURPLE))
    for seat in range(seats):
        state = with_holdings(state, seat, coins=coins or {"purple": 2, "brown": 1})
    return state


def bidding_seats(state: State, *actions: AnyAction) -> list[int]:
    """The seats that have to bid, in order."""
    seats = []
    for action in actions:
        assert state.awaited is not None
        seats.append(state.awaited.seat)
        state = play(state, action)
    return seats


def test_worked_example_a_purple_auction() -> None:
    state = with_holdings(auction(), 1, coins={"purple": 1, "brown": 1})
    assert effects_of(
        state,
        Bid({"purple": 1}),
        Bid({"purple": 1, "brown": 1}),
        Pass(),
        Bid({"purple": 2}),
        Pass(),
    ) == [
        BidMade(0, {"purple": 1}, 3),
        BidMade(1, {"brown": 1, "purple": 1}, 5),
        BidPassed(2),
        BidMade(0, {"purple": 2}, 6),
        BidPassed(1),
        AuctionWon(0, PURPLE, 6),
        CoinsPaid(0, "purple", 2, "MOM-23"),
        MonkeyBoarded(0, PURPLE),
    ]


def test_mom_20_the_active_player_puts_up_any_monkey_of_the_pool() -> None:
    state = bid_turn(table(3), 1, "red-3-1", PURPLE)
    assert legal(state) == [SelectMonkey("red-3-1"), SelectMonkey(PURPLE)]
    assert decide(state, SelectMonkey(PURPLE)) == (AuctionOpened(1, PURPLE), DecisionOpened(1, "bid"))
    assert play(state, SelectMonkey(PURPLE)).monkey_pool == ("red-3-1",)


def test_mom_20_with_an_empty_pool_the_bid_turn_is_skipped() -> None:
    state = replace(auction_of(table(3, first=1), PURPLE, 1), monkey_pool=(), active=1)
    effects = decide(play(state, Pass(), Pass()), Pass())
    assert effects[:6] == (
        BidPassed(0),
        MonkeyDiscarded(PURPLE),
        TurnOpened(2, "bid"),
        BidTurnSkipped(2),
        TurnOpened(0, "bid"),
        BidTurnSkipped(0),
    )


@pytest.mark.parametrize(
    ("coins", "points"),
    [
        ({"purple": 1}, 3),
        ({"brown": 1}, 2),
        ({"green": 1}, 2),
        ({"purple": 2, "brown": 1, "green": 1}, 10),
    ],
)
def test_mom_21_a_coin_of_the_tribe_is_worth_three_and_of_an_ally_two(coins: dict[str, int], points: int) -> None:
    state = auction(purple=2, brown=1, green=1)
    assert decide(state, Bid(coins))[0] == BidMade(
        0, {tribe: coins[tribe] for tribe in sorted(coins, key=order)}, points
    )


def order(tribe: str) -> int:
    return ("brown", "black", "green", "blue", "red", "purple").index(tribe)


def test_mom_21_a_bid_must_beat_the_standing_one() -> None:
    state = play(auction(purple=1, brown=2), Bid({"purple": 1}))
    assert legal(state) == [
        Pass(),
        Bid({"brown": 2}),
        Bid({"purple": 1, "brown": 1}),
        Bid({"purple": 1, "brown": 2}),
    ]
    with pytest.raises(IllegalAction):
        decide(state, Bid({"purple": 1}))


def test_mom_21_a_later_bid_may_show_other_coins() -> None:
    state = play(auction(2, purple=1, brown=2), Bid({"purple": 1}), Bid({"brown": 2}))
    state = with_holdings(state, 0, coins={"purple": 1, "brown": 3})
    assert decide(state, Bid({"brown": 3}))[0] == BidMade(0, {"brown": 3}, 6)


@pytest.mark.parametrize("held", [{"red": 2, "blue": 1}, {"black": 1}])
def test_mom_21_other_coins_do_not_count(held: dict[str, int]) -> None:
    assert legal(auction(**held)) == [Pass()]


def test_mom_22_the_bidding_goes_to_the_left_and_a_player_after_a_pass_is_out() -> None:
    state = auction(4, purple=4)
    bids: list[AnyAction] = [
        Bid({"purple": 1}),
        Pass(),
        Bid({"purple": 2}),
        Pass(),
        Bid({"purple": 3}),
        Bid({"purple": 4}),
    ]
    assert bidding_seats(state, *bids) == [0, 1, 2, 3, 0, 2]


def test_mom_22_the_standing_bidder_is_skipped_and_wins_once_all_others_are_out() -> None:
    state = auction()
    assert bidding_seats(state, Bid({"purple": 1}), Pass(), Pass()) == [0, 1, 2]
    assert AuctionWon(0, PURPLE, 3) in decide(play(state, Bid({"purple": 1}), Pass()), Pass())


def test_mom_22_the_last_player_in_without_a_bid_may_still_bid() -> None:
    state = play(auction(), Pass(), Pass())
    assert state.awaited is not None
    assert state.awaited.seat == 2
    assert decide(state, Bid({"brown": 1}))[:2] == (BidMade(2, {"brown": 1}, 2), AuctionWon(2, PURPLE, 2))


def test_mom_22_a_monkey_without_a_bid_is_discarded() -> None:
    assert decide(play(auction(), Pass(), Pass()), Pass()) == (
        BidPassed(2),
        MonkeyDiscarded(PURPLE),
        TurnOpened(1, "bid"),
        DecisionOpened(1, "select_monkey"),
    )


def test_mom_22_the_next_turn_is_left_of_the_active_player_and_not_of_the_winner() -> None:
    effects = decide(play(auction(), Pass(), Bid({"purple": 1})), Pass())
    assert effects[-2:] == (TurnOpened(1, "bid"), DecisionOpened(1, "select_monkey"))


def test_mom_22_a_player_without_a_coin_that_counts_still_gets_a_decision() -> None:
    state = with_holdings(play(auction(), Bid({"purple": 1})), 1, coins={})
    assert legal(state) == [Pass()]


def test_mom_23_the_winner_pays_exactly_the_coins_shown() -> None:
    state = play(auction(2, purple=3, brown=2, green=1), Bid({"green": 1, "purple": 2}))
    assert effects_of(state, Pass())[1:4] == [
        AuctionWon(0, PURPLE, 8),
        CoinsPaid(0, "green", 1, "MOM-23"),
        CoinsPaid(0, "purple", 2, "MOM-23"),
    ]
    after = play(state, Pass())
    assert after.seats[0].coins == (2, 0, 0, 0, 0, 1)
    assert after.seats[1].coins == state.seats[1].coins


def test_mom_23_the_winner_returns_the_scorn_of_the_monkeys_tribe_before_boarding() -> None:
    state = with_scorn_holders(play(auction(2), Bid({"purple": 1})), purple=0, brown=0)
    assert effects_of(state, Pass())[2:] == [
        CoinsPaid(0, "purple", 1, "MOM-23"),
        ScornReturned(0, "purple", "MOM-23"),
        MonkeyBoarded(0, PURPLE),
    ]


def test_mom_23_anothers_scorn_stays() -> None:
    state = with_scorn_holders(play(auction(2), Bid({"purple": 1})), purple=1)
    assert not [effect for effect in effects_of(state, Pass()) if isinstance(effect, ScornReturned)]


def test_mom_23_a_scorn_is_returned_before_an_early_launch() -> None:
    state = with_scorn_holders(play(auction(2), Bid({"purple": 1})), purple=0)
    state = with_holdings(state, 0, ship="red-4", aboard=("black-3-1",))
    kinds = [type(effect).__name__ for effect in effects_of(state, Pass())]
    assert kinds.index("ScornReturned") < kinds.index("ShipLaunched")
