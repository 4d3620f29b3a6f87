"""What a viewer may know, field by field, and sampled states that agree with it."""

from collections.abc import Container, Iterable
from itertools import islice, repeat

import msgspec

from service.games.monkeys_on_the_moon.components import BOX, COINS_AT_START, SUPPLY_AT_START, TRIBES, CardId, Tribe
from service.games.monkeys_on_the_moon.effects import Turn
from service.games.monkeys_on_the_moon.state import (
    Auction,
    Awaited,
    Holdings,
    Options,
    PerTribe,
    State,
    allies,
    by_tribe,
    rival,
    seats_from,
)
from service.games.protocol import Rng
from service.games.visibility import Seat, Viewer


class TribeView(msgspec.Struct, frozen=True):
    """A tribe's stone, supply and Scorn.

    `rank` is its Finish Circle; `scorn_holder` is null while the card lies on the table.
    """

    space: int
    rank: int | None
    supply: int
    scorn_holder: Seat | None


class SeatView(msgspec.Struct, frozen=True):
    """What a seat owns. `hand` and `coins` (by tribe) are visible to that seat, and null for all others.

    Without a ship, `aboard` has the monkeys that wait beside the seat (MOM-26).
    """

    hand_count: int
    hand: tuple[CardId, ...] | None
    coin_count: int
    coins: dict[Tribe, int] | None
    ship: CardId | None
    aboard: tuple[CardId, ...]
    launched: tuple[CardId, ...]
    full_ships: tuple[CardId, ...]


class AuctionView(msgspec.Struct, frozen=True):
    """The monkey up for auction, the seats still in, and the standing bid.

    Before the first bid, `bidder` is null and `points` is 0.
    """

    monkey: CardId
    still_in: tuple[Seat, ...]
    bidder: Seat | None
    coins: dict[Tribe, int]
    points: int


class Observation(msgspec.Struct, frozen=True, tag_field="game", tag="monkeys_on_the_moon"):
    """Everything that is public, and what the viewer owns.

    Decks are given as numbers of cards; `ship_deck` does not include `ships_under_deck`. `turn_order` begins with the
    owner of the moonstone. `alliance_circle` runs clockwise. `awaited` is null at the end. `advanced` is the tribe that
    the latest Civilization card advanced. `boarding` are the monkeys that wait for the awaited seat's next ship.
    """

    options: Options
    round: int
    rounds: int
    turn_order: tuple[Seat, ...]
    turn: Turn
    active: Seat
    awaited: Awaited | None
    alliance_circle: tuple[Tribe, ...]
    cards_swapped: bool
    tribes: dict[Tribe, TribeView]
    advanced: Tribe | None
    seats: tuple[SeatView, ...]
    auction: AuctionView | None
    boarding: tuple[CardId, ...]
    monkey_pool: tuple[CardId, ...]
    monkey_deck: int
    monkey_discard: tuple[CardId, ...]
    civilization_deck: int
    civilization_removed: int
    civilization_discard: tuple[CardId, ...]
    ship_pool: tuple[CardId, ...]
    ship_deck: int
    ships_under_deck: tuple[CardId, ...]
    ship_discard: tuple[CardId, ...]


def observation(state: State, viewer: Viewer) -> Observation:
    """What a seat, or a spectator (None), may know."""
    finished = state.finished
    auction = state.auction
    return Observation(
        options=state.options,
        round=state.round,
        rounds=state.rounds,
        turn_order=seats_from(state.starting_seat, len(state.seats)),
        turn=state.turn,
        active=state.active,
        awaited=state.awaited,
        alliance_circle=state.circle,
        cards_swapped=state.swapped,
        tribes={
            tribe: TribeView(
                space=state.spaces[index],
                rank=finished.index(tribe) + 1 if tribe in finished else None,
                supply=state.supply[index],
                scorn_holder=state.scorn[index],
            )
            for index, tribe in enumerate(TRIBES)
        },
        advanced=state.advanced,
        seats=tuple([_seat_view(held, own=seat == viewer) for seat, held in enumerate(state.seats)]),
        auction=None
        if auction is None
        else AuctionView(
            monkey=auction.monkey,
            still_in=auction.still_in,
            bidder=auction.bidder,
            coins=by_tribe(auction.coins),
            points=auction.points,
        ),
        boarding=state.boarding,
        monkey_pool=state.monkey_pool,
        monkey_deck=len(state.monkey_deck),
        monkey_discard=state.monkey_discard,
        civilization_deck=len(state.civilization_deck),
        civilization_removed=len(state.civilization_removed),
        civilization_discard=state.civilization_discard,
        ship_pool=state.ship_pool,
        ship_deck=len(state.ship_deck),
        ships_under_deck=state.ships_under_deck,
        ship_discard=state.ship_discard,
    )


def _seat_view(held: Holdings, *, own: bool) -> SeatView:
    return SeatView(
        hand_count=len(held.hand),
        hand=held.hand if own else None,
        coin_count=sum(held.coins),
        coins=dict(zip(TRIBES, held.coins, strict=True)) if own else None,
        ship=held.ship,
        aboard=held.aboard,
        launched=held.launched,
        full_ships=held.full_ships,
    )


def sample_state(seen: Observation, rng: Rng) -> State:
    """Sample a full state that is consistent with this observation. Every hidden card and coin is drawn anew."""
    seats = seen.seats
    others = [seat for seat, held in enumerate(seats) if held.hand is None]
    in_play = [card for held in seats for card in held.aboard + held.launched]
    on_auction = (seen.auction.monkey,) if seen.auction else ()
    monkeys_seen = {*in_play, *on_auction, *seen.boarding, *seen.monkey_pool, *seen.monkey_discard}
    ships_seen = {
        *(ship for held in seats for ship in (held.ship, *held.full_ships)),
        *(*seen.ship_pool, *seen.ships_under_deck, *seen.ship_discard),
    }
    civilization_seen = {*seen.civilization_discard, *(card for held in seats for card in held.hand or ())}
    civilization = iter(rng.shuffle("civilization_cards", _unseen(BOX.civilization, civilization_seen)))
    hands = {seat: tuple(islice(civilization, seats[seat].hand_count)) for seat in others}
    coins = _sample_coins(seen, others, rng)
    ranked = [(view.rank, tribe) for tribe, view in seen.tribes.items() if view.rank is not None]
    return State(
        options=seen.options,
        seats=tuple(
            [
                Holdings(
                    hand=hands[seat] if held.hand is None else held.hand,
                    coins=coins[seat] if held.coins is None else tuple([held.coins[tribe] for tribe in TRIBES]),
                    ship=held.ship,
                    aboard=held.aboard,
                    launched=held.launched,
                    full_ships=held.full_ships,
                )
                for seat, held in enumerate(seats)
            ]
        ),
        round=seen.round,
        rounds=seen.rounds,
        starting_seat=seen.turn_order[0],
        turn=seen.turn,
        active=seen.active,
        awaited=seen.awaited,
        circle=seen.alliance_circle,
        swapped=seen.cards_swapped,
        spaces=tuple([seen.tribes[tribe].space for tribe in TRIBES]),
        finished=tuple([tribe for _, tribe in sorted(ranked)]),
        supply=tuple([seen.tribes[tribe].supply for tribe in TRIBES]),
        scorn=tuple([seen.tribes[tribe].scorn_holder for tribe in TRIBES]),
        advanced=seen.advanced,
        civilization_deck=tuple(islice(civilization, seen.civilization_deck)),
        civilization_removed=tuple(civilization),
        civilization_discard=seen.civilization_discard,
        monkey_deck=rng.shuffle("monkey_deck", _unseen(BOX.monkeys, monkeys_seen)),
        monkey_pool=seen.monkey_pool,
        monkey_discard=seen.monkey_discard,
        auction=None
        if seen.auction is None
        else Auction(
            monkey=seen.auction.monkey,
            still_in=seen.auction.still_in,
            bidder=seen.auction.bidder,
            coins=tuple([seen.auction.coins.get(tribe, 0) for tribe in TRIBES]),
            points=seen.auction.points,
        ),
        boarding=seen.boarding,
        ship_deck=rng.shuffle("ship_deck", _unseen(BOX.ships, ships_seen)),
        ships_under_deck=seen.ships_under_deck,
        ship_pool=seen.ship_pool,
        ship_discard=seen.ship_discard,
    )


def _unseen(cards: Iterable[CardId], seen: Container[CardId | None]) -> tuple[CardId, ...]:
    return tuple([card for card in cards if card not in seen])


def _sample_coins(seen: Observation, others: list[Seat], rng: Rng) -> dict[Seat, PerTribe]:
    """Sample the coins of the other seats.

    Each gets as many as it holds, from those outside the supplies and the viewer's hand.
    """
    each = SUPPLY_AT_START + COINS_AT_START * len(seen.seats)
    own = [held.coins for held in seen.seats if held.coins is not None]
    left = {tribe: each - view.supply - sum(coins[tribe] for coins in own) for tribe, view in seen.tribes.items()}
    coins_left = list(rng.shuffle("coins", tuple([tribe for tribe in TRIBES for _ in range(left[tribe])])))
    known = {seat: _known_coins(seen, seat) for seat in others}
    drawn: dict[Seat, PerTribe] = {}
    for seat in sorted(others, key=lambda seat: known[seat] == ([], TRIBES)):
        first, rest = known[seat]
        slots = [*first, *repeat(rest, seen.seats[seat].coin_count - len(first))]
        coins = [coins_left.pop(next(i for i, coin in enumerate(coins_left) if coin in slot)) for slot in slots]
        drawn[seat] = tuple([coins.count(tribe) for tribe in TRIBES])
    return drawn


def _known_coins(seen: Observation, seat: Seat) -> tuple[list[tuple[Tribe, ...]], tuple[Tribe, ...]]:
    """What is known of another seat's coins: the possible tribes of each of its first coins, and the possible tribes of
    the rest.
    """
    if seen.auction and seen.auction.bidder == seat:
        return [(tribe,) for tribe, count in seen.auction.coins.items() for _ in range(count)], TRIBES
    if seen.awaited == Awaited(seat, "appease") and seen.advanced is not None:
        # MOM-16: the seat has no coin of the angered tribe. If it holds the Scorn of both allies, it has a coin of one
        # of them.
        angered = rival(seen.alliance_circle, seen.advanced)
        both = allies(seen.alliance_circle, angered)
        must_pay = all(seen.tribes[ally].scorn_holder == seat for ally in both)
        return [both] if must_pay else [], tuple([tribe for tribe in TRIBES if tribe != angered])
    return [], TRIBES
