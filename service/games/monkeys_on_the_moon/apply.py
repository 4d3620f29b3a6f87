"""The fold: each effect makes one change to the state. It makes no decisions, and the old state stays valid."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from service.games.kit.pending import PendingEffects
from service.games.kit.tuples import with_item
from service.games.monkeys_on_the_moon import effects as e
from service.games.monkeys_on_the_moon.components import TRIBE_INDEX, TRIBES, CardId
from service.games.monkeys_on_the_moon.state import Auction, Awaited, Holdings, Options, State
from service.games.visibility import Seat

T = TypeVar("T")

Pending: TypeAlias = PendingEffects[State, e.AnyEffect]
"""The effects that a decision has emitted so far, and the state after them."""

NO_COINS: Final = (0,) * len(TRIBES)


def apply(state: State | None, effect: e.AnyEffect) -> State:
    """The state after an effect. The first effect is `TableSet`, applied to None."""
    if state is None:
        return _table_set(effect)
    return _FOLD[type(effect)](state, effect)


def _table_set(effect: e.AnyEffect) -> State:
    if not isinstance(effect, e.TableSet):
        raise TypeError(f"{type(effect).__name__} comes before TableSet")
    seats = len(effect.turn_order)
    holdings = Holdings(
        hand=(), coins=(effect.coins_each,) * len(TRIBES), ship=None, aboard=(), launched=(), full_ships=()
    )
    return State(
        options=Options(effect.maximum_scorn, effect.treachery),
        seats=(holdings,) * seats,
        round=0,
        rounds=effect.rounds,
        starting_seat=effect.turn_order[0],
        turn="civilization",
        active=effect.turn_order[0],
        awaited=None,
        circle=effect.alliance_circle,
        swapped=False,
        spaces=(0,) * len(TRIBES),
        finished=(),
        supply=(effect.supply_each,) * len(TRIBES),
        scorn=(None,) * len(TRIBES),
        advanced=None,
        civilization_deck=(),
        civilization_removed=(),
        civilization_discard=(),
        monkey_deck=(),
        monkey_pool=(),
        monkey_discard=(),
        auction=None,
        boarding=(),
        ship_deck=(),
        ships_under_deck=(),
        ship_pool=(),
        ship_discard=(),
    )


def _without(items: tuple[T, ...], item: T) -> tuple[T, ...]:
    index = items.index(item)
    return items[:index] + items[index + 1 :]


def _deck_shuffled(state: State, effect: e.DeckShuffled) -> State:
    return replace(state, **{f"{effect.deck}_deck": effect.cards})


def _civilization_removed(state: State, effect: e.CivilizationRemoved) -> State:
    deck = state.civilization_deck
    return replace(state, civilization_deck=deck[effect.count :], civilization_removed=effect.cards)


def _civilization_dealt(state: State, effect: e.CivilizationDealt) -> State:
    held = state.seats[effect.seat]
    held = replace(held, hand=(*held.hand, effect.card))
    return replace(
        state, civilization_deck=state.civilization_deck[1:], seats=with_item(state.seats, effect.seat, held)
    )


def _monkeys_revealed(state: State, effect: e.MonkeysRevealed) -> State:
    return replace(
        state, monkey_deck=state.monkey_deck[len(effect.cards) :], monkey_pool=state.monkey_pool + effect.cards
    )


def _ship_assigned(state: State, effect: e.ShipAssigned) -> State:
    held = replace(state.seats[effect.seat], ship=effect.ship)
    return replace(state, ship_deck=state.ship_deck[1:], seats=with_item(state.seats, effect.seat, held))


def _ships_revealed(state: State, effect: e.ShipsRevealed) -> State:
    from_deck = min(len(effect.ships), len(state.ship_deck))
    return replace(
        state,
        ship_deck=state.ship_deck[from_deck:],
        ships_under_deck=state.ships_under_deck[len(effect.ships) - from_deck :],
        ship_pool=state.ship_pool + effect.ships,
    )


def _round_opened(state: State, effect: e.RoundOpened) -> State:
    return replace(state, round=effect.round)


def _turn_opened(state: State, effect: e.TurnOpened) -> State:
    return replace(state, turn=effect.turn, active=effect.seat)


def _decision_opened(state: State, effect: e.DecisionOpened) -> State:
    return replace(state, awaited=Awaited(effect.seat, effect.step))


def _civilization_played(state: State, effect: e.CivilizationPlayed) -> State:
    held = state.seats[effect.seat]
    held = replace(held, hand=_without(held.hand, effect.card))
    return replace(
        state,
        seats=with_item(state.seats, effect.seat, held),
        civilization_discard=(*state.civilization_discard, effect.card),
        advanced=effect.tribe,
    )


def _coins_taken(state: State, effect: e.CoinsTaken) -> State:
    return _move_coins(state, effect.seat, TRIBE_INDEX[effect.tribe], effect.count)


def _coins_paid(state: State, effect: e.CoinsPaid) -> State:
    return _move_coins(state, effect.seat, TRIBE_INDEX[effect.tribe], -effect.count)


def _move_coins(state: State, seat: Seat, index: int, count: int) -> State:
    held = state.seats[seat]
    held = replace(held, coins=with_item(held.coins, index, held.coins[index] + count))
    return replace(
        state,
        supply=with_item(state.supply, index, state.supply[index] - count),
        seats=with_item(state.seats, seat, held),
    )


def _scorn_taken(state: State, effect: e.ScornTaken) -> State:
    return replace(state, scorn=with_item(state.scorn, TRIBE_INDEX[effect.tribe], effect.seat))


def _scorn_returned(state: State, effect: e.ScornReturned) -> State:
    return replace(state, scorn=with_item(state.scorn, TRIBE_INDEX[effect.tribe], None))


def _stone_moved(state: State, effect: e.StoneMoved) -> State:
    return replace(state, spaces=with_item(state.spaces, TRIBE_INDEX[effect.tribe], effect.to_space))


def _stone_finished(state: State, effect: e.StoneFinished) -> State:
    return replace(state, finished=(*state.finished, effect.tribe))


def _tribe_cards_swapped(state: State, effect: e.TribeCardsSwapped) -> State:
    return replace(state, circle=effect.alliance_circle, swapped=True)


def _bid_turn_skipped(state: State, _: e.BidTurnSkipped) -> State:
    return state


def _auction_opened(state: State, effect: e.AuctionOpened) -> State:
    return replace(
        state,
        monkey_pool=_without(state.monkey_pool, effect.monkey),
        auction=Auction(effect.monkey, tuple(range(len(state.seats))), None, NO_COINS, 0),
    )


def _bid_made(state: State, effect: e.BidMade) -> State:
    if state.auction is None:
        raise TypeError("a bid without an auction")
    coins = tuple([effect.coins.get(tribe, 0) for tribe in TRIBES])
    return replace(state, auction=replace(state.auction, bidder=effect.seat, coins=coins, points=effect.points))


def _bid_passed(state: State, effect: e.BidPassed) -> State:
    if state.auction is None:
        raise TypeError("a pass without an auction")
    return replace(state, auction=replace(state.auction, still_in=_without(state.auction.still_in, effect.seat)))


def _auction_won(state: State, effect: e.AuctionWon) -> State:
    return replace(state, auction=None, boarding=(*state.boarding, effect.monkey))


def _monkey_discarded(state: State, effect: e.MonkeyDiscarded) -> State:
    return replace(state, auction=None, monkey_discard=(*state.monkey_discard, effect.monkey))


def _monkey_boarded(state: State, effect: e.MonkeyBoarded | e.MonkeyKeptWaiting) -> State:
    held = state.seats[effect.seat]
    held = replace(held, aboard=(*held.aboard, effect.monkey))
    return replace(state, boarding=state.boarding[1:], seats=with_item(state.seats, effect.seat, held))


def _monkeys_left_behind(state: State, effect: e.MonkeysLeftBehind) -> State:
    held = state.seats[effect.seat]
    held = replace(held, aboard=tuple([card for card in held.aboard if card not in effect.monkeys]))
    return replace(state, boarding=state.boarding + effect.monkeys, seats=with_item(state.seats, effect.seat, held))


def _ship_launched(state: State, effect: e.ShipLaunched) -> State:
    held = state.seats[effect.seat]
    ship: tuple[CardId, ...] = (effect.ship,)
    full_ships = held.full_ships
    if effect.ship_goes == "score_pile":
        full_ships += ship
    elif effect.ship_goes == "under_deck":
        state = replace(state, ships_under_deck=state.ships_under_deck + ship)
    else:
        state = replace(state, ship_discard=state.ship_discard + ship)
    held = replace(held, ship=None, aboard=(), launched=held.launched + effect.monkeys, full_ships=full_ships)
    return replace(state, seats=with_item(state.seats, effect.seat, held))


def _waiting_monkeys_launched(state: State, effect: e.WaitingMonkeysLaunched) -> State:
    held = state.seats[effect.seat]
    held = replace(held, aboard=(), launched=held.launched + effect.monkeys)
    return replace(state, seats=with_item(state.seats, effect.seat, held))


def _ship_chosen(state: State, effect: e.ShipChosen) -> State:
    held = replace(state.seats[effect.seat], ship=effect.ship)
    return replace(
        state, ship_pool=_without(state.ship_pool, effect.ship), seats=with_item(state.seats, effect.seat, held)
    )


def _moonstone_passed(state: State, effect: e.MoonstonePassed) -> State:
    return replace(state, starting_seat=effect.turn_order[0])


def _match_ended(state: State, _: e.MatchEnded) -> State:
    return replace(state, awaited=None)


# Each function takes the effect type of its own key. The type of a mapping cannot express that, so the parameter is
# Any.
_FOLD: Final[Mapping[type[e.AnyEffect], Callable[[State, Any], State]]] = {
    e.DeckShuffled: _deck_shuffled,
    e.CivilizationRemoved: _civilization_removed,
    e.CivilizationDealt: _civilization_dealt,
    e.MonkeysRevealed: _monkeys_revealed,
    e.ShipAssigned: _ship_assigned,
    e.ShipsRevealed: _ships_revealed,
    e.RoundOpened: _round_opened,
    e.TurnOpened: _turn_opened,
    e.DecisionOpened: _decision_opened,
    e.CivilizationPlayed: _civilization_played,
    e.CoinsTaken: _coins_taken,
    e.CoinsPaid: _coins_paid,
    e.ScornTaken: _scorn_taken,
    e.ScornReturned: _scorn_returned,
    e.StoneMoved: _stone_moved,
    e.StoneFinished: _stone_finished,
    e.TribeCardsSwapped: _tribe_cards_swapped,
    e.BidTurnSkipped: _bid_turn_skipped,
    e.AuctionOpened: _auction_opened,
    e.BidMade: _bid_made,
    e.BidPassed: _bid_passed,
    e.AuctionWon: _auction_won,
    e.MonkeyDiscarded: _monkey_discarded,
    e.MonkeyBoarded: _monkey_boarded,
    e.MonkeyKeptWaiting: _monkey_boarded,
    e.MonkeysLeftBehind: _monkeys_left_behind,
    e.ShipLaunched: _ship_launched,
    e.WaitingMonkeysLaunched: _waiting_monkeys_launched,
    e.ShipChosen: _ship_chosen,
    e.MoonstonePassed: _moonstone_passed,
    e.MatchEnded: _match_ended,
}
