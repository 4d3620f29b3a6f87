"""Checks actions, and lists the legal ones."""

from collections.abc import Iterator

from service.games.monkeys_on_the_moon.actions import (
    AnyAction,
    Appease,
    Bid,
    ChooseShip,
    LeaveBehind,
    Pass,
    PlayCivilization,
    SelectMonkey,
)
from service.games.monkeys_on_the_moon.components import BOX, TRIBE_INDEX, CardId, Tribe
from service.games.monkeys_on_the_moon.effects import Step
from service.games.monkeys_on_the_moon.state import (
    Auction,
    State,
    allies,
    angered_tribe,
    holds_scorn,
    rivals_aboard,
)
from service.games.protocol import Decision, IllegalAction
from service.games.visibility import Seat

OWN_COIN = 3
"""Bid points of a coin of the monkey's own tribe (MOM-21)."""
ALLY_COIN = 2
"""Bid points of a coin of an ally of that tribe. This is also the lowest bid (MOM-21)."""


def decisions(state: State) -> tuple[Decision[AnyAction], ...]:
    """The open decision; empty at the end. A seat that does not answer in time takes its first legal action."""
    awaited = state.awaited
    if awaited is None:
        return ()
    return (Decision(awaited.seat, awaited.step, next(legal_actions(state, awaited.seat))),)


def legal_actions(state: State, seat: Seat) -> Iterator[AnyAction]:
    """All legal actions: cards in the order of the hand or pool, a card's own tribe before its allies, a pass before
    bids.
    """
    awaited = state.awaited
    if awaited is None or awaited.seat != seat:
        return
    match awaited.step:
        case "play_civilization":
            for card in state.seats[seat].hand:
                for tribe in advanceable(state, card):
                    yield PlayCivilization(card, tribe)
        case "appease":
            yield from appeasements(state, seat)
        case "select_monkey":
            yield from map(SelectMonkey, state.monkey_pool)
        case "bid":
            yield Pass()
            yield from _bids(state, seat)
        case "choose_ship":
            yield from map(ChooseShip, state.ship_pool)
        case _:
            yield from map(LeaveBehind, rivals_aboard(state, seat))


def check_seat(state: State, seat: Seat) -> None:
    if state.awaited is None:
        raise IllegalAction("game-over", "MOM-40")
    if state.awaited.seat != seat:
        raise IllegalAction("not-your-turn", "MOM-10", awaited=state.awaited.seat)


def _check_step(state: State, step: Step) -> None:
    if state.awaited is None or state.awaited.step != step:
        raise IllegalAction("wrong-step", "MOM-10")


def check_play(state: State, seat: Seat, action: PlayCivilization) -> None:
    _check_step(state, "play_civilization")
    if action.card not in state.seats[seat].hand:
        raise IllegalAction("card-not-in-hand", "MOM-11", card=action.card)
    if action.tribe not in advanceable(state, action.card):
        raise IllegalAction("tribe-not-allied", "MOM-11", card=action.card, tribe=action.tribe)


def advanceable(state: State, card: CardId) -> tuple[Tribe, ...]:
    """The tribes that a Civilization card can advance (MOM-11)."""
    tribe = BOX.civilization[card].tribe
    return (tribe, *allies(state.circle, tribe))


def check_appease(state: State, seat: Seat, action: Appease) -> None:
    _check_step(state, "appease")
    angered = angered_tribe(state)
    if action.tribe not in allies(state.circle, angered):
        raise IllegalAction("not-an-ally", "MOM-16", tribe=action.tribe, angered=angered)
    if action in appeasements(state, seat):
        return
    if action.way == "coin":
        raise IllegalAction("no-coin-to-pay", "MOM-16", tribe=action.tribe)
    if state.seats[seat].coins[TRIBE_INDEX[action.tribe]]:
        raise IllegalAction("coin-must-be-paid", "MOM-16", tribe=action.tribe)
    raise IllegalAction("scorn-already-held", "MOM-16", tribe=action.tribe)


def appeasements(state: State, seat: Seat) -> tuple[Appease, ...]:
    """The choices for each ally of the angered tribe: pay a coin if the seat has one, else take a Scorn that it does
    not hold yet (MOM-16).
    """
    ways: list[Appease] = []
    for ally in allies(state.circle, angered_tribe(state)):
        if state.seats[seat].coins[TRIBE_INDEX[ally]]:
            ways.append(Appease(ally, "coin"))
        elif not holds_scorn(state, seat, ally):
            ways.append(Appease(ally, "scorn"))
    return tuple(ways)


def check_select(state: State, action: SelectMonkey) -> None:
    _check_step(state, "select_monkey")
    if action.card not in state.monkey_pool:
        raise IllegalAction("monkey-not-in-pool", "MOM-20", card=action.card)


def check_bid(state: State, seat: Seat, action: Bid) -> int:
    """The points of a legal bid."""
    auction = running_auction(state)
    worth = coin_points(state, auction)
    held = state.seats[seat].coins
    points = 0
    for tribe, count in action.coins.items():
        if tribe not in worth:
            raise IllegalAction("coin-does-not-count", "MOM-21", tribe=tribe)
        if count < 1:
            raise IllegalAction("count-below-one", "MOM-21", tribe=tribe)
        if count > held[TRIBE_INDEX[tribe]]:
            raise IllegalAction("coins-not-held", "MOM-21", tribe=tribe)
        points += count * worth[tribe]
    if points < least_bid(auction):
        raise IllegalAction("bid-too-low", "MOM-21", points=points, least=least_bid(auction))
    return points


def check_pass(state: State) -> None:
    running_auction(state)


def running_auction(state: State) -> Auction:
    """The running auction. While there is one, the match only waits for bids.

    Raises:
      IllegalAction: there is no auction.
    """
    if state.auction is None:
        raise IllegalAction("wrong-step", "MOM-10")
    return state.auction


def coin_points(state: State, auction: Auction) -> dict[Tribe, int]:
    """The bid points of a coin of each tribe that counts: the monkey's own tribe, then its allies (MOM-21)."""
    tribe = BOX.monkeys[auction.monkey].tribe
    before, after = allies(state.circle, tribe)
    return {tribe: OWN_COIN, before: ALLY_COIN, after: ALLY_COIN}


def least_bid(auction: Auction) -> int:
    """The points that the next bid must reach (MOM-21)."""
    return max(ALLY_COIN, auction.points + 1)


def _bids(state: State, seat: Seat) -> Iterator[Bid]:
    auction = running_auction(state)
    least = least_bid(auction)
    held = state.seats[seat].coins
    own, before, after = coin_points(state, auction)
    for own_count in range(held[TRIBE_INDEX[own]] + 1):
        for before_count in range(held[TRIBE_INDEX[before]] + 1):
            missing_points = least - OWN_COIN * own_count - ALLY_COIN * before_count
            enough = max(0, (missing_points + ALLY_COIN - 1) // ALLY_COIN)
            for after_count in range(enough, held[TRIBE_INDEX[after]] + 1):
                counts = ((own, own_count), (before, before_count), (after, after_count))
                yield Bid({tribe: count for tribe, count in counts if count})


def check_ship(state: State, action: ChooseShip) -> None:
    _check_step(state, "choose_ship")
    if action.card not in state.ship_pool:
        raise IllegalAction("ship-not-in-pool", "MOM-26", card=action.card)


def check_leave(state: State, seat: Seat, action: LeaveBehind) -> None:
    _check_step(state, "leave_behind")
    if action.tribe not in rivals_aboard(state, seat):
        raise IllegalAction("no-rival-aboard", "MOM-51", tribe=action.tribe)
