"""Each kind of fault has a code, a clause, and facts that fill in its text and contain only what the seat may know."""

import pytest
from msgspec.structs import replace

import service.games.monkeys_on_the_moon as folder
from service.games.monkeys_on_the_moon.actions import (
    Appease,
    Bid,
    ChooseShip,
    LeaveBehind,
    Pass,
    PlayCivilization,
    SelectMonkey,
)
from service.games.monkeys_on_the_moon.game import GAME
from service.games.protocol import CLOCK, Ring
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    awaiting,
    bid_turn,
    civilization_turn,
    table,
    with_holdings,
    with_scorn_holders,
)
from tests.service.games.refusals import Fault, check_codes, check_refused

PLAY = PlayCivilization("blue-3-1", "blue")
CIVILIZATION = civilization_turn(table(), 0, "blue-3-1")
APPEASE = replace(
    awaiting(with_scorn_holders(with_holdings(table(), 0, coins={"red": 1}), green=0, purple=0), 0, "appease"),
    advanced="blue",
)
BID_TURN = bid_turn(table(), 0, "purple-4-1")
AUCTION = with_holdings(
    auction_of(table(), "purple-4-1", 0, bidder=1, points=5, purple=1, brown=1), 0, coins={"purple": 1}
)
FIRST_BID = auction_of(table(), "purple-4-1", 0)
SHIP = awaiting(replace(table(), ship_pool=("red-3",)), 0, "choose_ship")
REBELS = awaiting(
    with_holdings(table(), 0, ship="red-4", aboard=("blue-3-1", "green-3-1", "red-3-1")), 0, "leave_behind"
)
OVER = replace(table(), awaited=None)


FAULTS = [
    Fault(OVER, PLAY, "game-over", "MOM-40"),
    Fault(CIVILIZATION, PLAY, "not-your-turn", "MOM-10", {"awaited": 0}, seat=1),
    Fault(CIVILIZATION, PLAY, "not-your-turn", "MOM-10", {"awaited": 0}, seat=7),
    Fault(CIVILIZATION, Ring("bell"), "not-your-turn", "MOM-10", {"awaited": 0}, seat=CLOCK),
    Fault(CIVILIZATION, Ring("bell"), "no-bell", "MOM-10"),
    Fault(CIVILIZATION, SelectMonkey("red-3-1"), "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, Appease("red", "coin"), "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, Bid({"red": 1}), "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, Pass(), "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, ChooseShip("red-3"), "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, LeaveBehind("red"), "wrong-step", "MOM-10"),
    Fault(BID_TURN, PLAY, "wrong-step", "MOM-10"),
    Fault(CIVILIZATION, PlayCivilization("red-2-1", "red"), "card-not-in-hand", "MOM-11", {"card": "red-2-1"}),
    Fault(CIVILIZATION, PlayCivilization("nonsense", "red"), "card-not-in-hand", "MOM-11", {"card": "nonsense"}),
    Fault(
        CIVILIZATION,
        PlayCivilization("blue-3-1", "green"),
        "tribe-not-allied",
        "MOM-11",
        {"card": "blue-3-1", "tribe": "green"},
    ),
    Fault(APPEASE, Appease("blue", "coin"), "not-an-ally", "MOM-16", {"tribe": "blue", "angered": "green"}),
    Fault(APPEASE, Appease("purple", "coin"), "no-coin-to-pay", "MOM-16", {"tribe": "purple"}),
    Fault(APPEASE, Appease("purple", "scorn"), "scorn-already-held", "MOM-16", {"tribe": "purple"}),
    Fault(APPEASE, Appease("red", "scorn"), "coin-must-be-paid", "MOM-16", {"tribe": "red"}),
    Fault(BID_TURN, SelectMonkey("red-3-1"), "monkey-not-in-pool", "MOM-20", {"card": "red-3-1"}),
    Fault(AUCTION, Bid({"red": 1}), "coin-does-not-count", "MOM-21", {"tribe": "red"}),
    Fault(AUCTION, Bid({"nonsense": 1}), "coin-does-not-count", "MOM-21", {"tribe": "nonsense"}),
    Fault(AUCTION, Bid({"purple": 0}), "count-below-one", "MOM-21", {"tribe": "purple"}),
    Fault(AUCTION, Bid({"purple": -1}), "count-below-one", "MOM-21", {"tribe": "purple"}),
    Fault(AUCTION, Bid({"purple": 2}), "coins-not-held", "MOM-21", {"tribe": "purple"}),
    Fault(AUCTION, Bid({"purple": 1}), "bid-too-low", "MOM-21", {"points": 3, "least": 6}),
    Fault(FIRST_BID, Bid({}), "bid-too-low", "MOM-21", {"points": 0, "least": 2}),
    Fault(SHIP, ChooseShip("red-4"), "ship-not-in-pool", "MOM-26", {"card": "red-4"}),
    Fault(REBELS, LeaveBehind("red"), "no-rival-aboard", "MOM-51", {"tribe": "red"}),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_with_its_code_and_clause(fault: Fault) -> None:
    check_refused(GAME, fault)


def test_every_code_is_tried_and_has_a_text() -> None:
    check_codes(GAME, folder, FAULTS)
