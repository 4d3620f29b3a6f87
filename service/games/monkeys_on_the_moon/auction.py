"""The auction of a monkey (MOM-20 to MOM-23)."""

from service.games.monkeys_on_the_moon.actions import Bid, SelectMonkey
from service.games.monkeys_on_the_moon.apply import Pending
from service.games.monkeys_on_the_moon.components import BOX, TRIBES
from service.games.monkeys_on_the_moon.effects import (
    AuctionOpened,
    AuctionWon,
    BidMade,
    BidPassed,
    CoinsPaid,
    DecisionOpened,
    MonkeyDiscarded,
    ScornReturned,
)
from service.games.monkeys_on_the_moon.legal import running_auction
from service.games.monkeys_on_the_moon.state import Auction, by_tribe, holds_scorn, seats_from
from service.games.monkeys_on_the_moon.voyage import board
from service.games.visibility import Seat


def select(pending: Pending, seat: Seat, action: SelectMonkey) -> bool:
    """Put a monkey up. The active seat bids or passes first (MOM-20, MOM-22)."""
    pending.emit(AuctionOpened(seat, action.card), DecisionOpened(seat, "bid"))
    return False


def bid(pending: Pending, seat: Seat, action: Bid, points: int) -> bool:
    """Make a bid. Returns True once the auction and everything that follows from it is over."""
    pending.emit(BidMade(seat, {tribe: action.coins[tribe] for tribe in TRIBES if tribe in action.coins}, points))
    return _ask_next(pending, seat)


def pass_bid(pending: Pending, seat: Seat) -> bool:
    """Pass. Returns True once the auction and everything that follows from it is over."""
    pending.emit(BidPassed(seat))
    return _ask_next(pending, seat)


def _ask_next(pending: Pending, seat: Seat) -> bool:
    """Open the decision of the next seat to the left that is still in and does not lead (MOM-22).

    If there is no such seat, the auction ends.
    """
    auction = running_auction(pending.state)
    for other in seats_from(seat, len(pending.state.seats)):
        if other in auction.still_in and other != auction.bidder:
            pending.emit(DecisionOpened(other, "bid"))
            return False
    if auction.bidder is None:
        pending.emit(MonkeyDiscarded(auction.monkey))
        return True
    return _win(pending, auction, auction.bidder)


def _win(pending: Pending, auction: Auction, winner: Seat) -> bool:
    """Pay the coins of the bid, return a Scorn, then board the monkey (MOM-23)."""
    pending.emit(AuctionWon(winner, auction.monkey, auction.points))
    for tribe, count in by_tribe(auction.coins).items():
        pending.emit(CoinsPaid(winner, tribe, count, "MOM-23"))
    tribe = BOX.monkeys[auction.monkey].tribe
    if holds_scorn(pending.state, winner, tribe):
        pending.emit(ScornReturned(winner, tribe, "MOM-23"))
    return board(pending, winner)
