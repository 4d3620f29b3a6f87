"""Builders of states and moves for the tests of Monkeys on the Moon.

States have the Alliance Circle of the rulebook's examples: blue is green's rival, red and purple are green's allies,
and brown is an ally of purple.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import AnyAction
from service.games.monkeys_on_the_moon.components import TRIBE_INDEX, TRIBES, CardId, Tribe
from service.games.monkeys_on_the_moon.effects import AnyEffect, DecisionOpened, Step, TurnOpened
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Auction, Awaited, Options, State
from service.games.protocol import Move, Ring, fold
from service.games.visibility import Seat
from tests.service.games.rng import ScriptedRng

CIRCLE: Final = ("green", "purple", "brown", "blue", "black", "red")
NOTHING: Final[Mapping[Tribe, int]] = {}


def opening(
    seats: int = 2, *, first: Seat = 0, seed: int = 0, maximum_scorn: bool = False, treachery: bool = False
) -> tuple[AnyEffect, ...]:
    """The effects of a setup with the circle of the examples."""
    rng = ScriptedRng(seed, {"alliance_circle": CIRCLE, "first_seat": first})
    return GAME.setup(seats, Options(maximum_scorn, treachery), 0, rng)


def table(
    seats: int = 2, *, first: Seat = 0, seed: int = 0, maximum_scorn: bool = False, treachery: bool = False
) -> State:
    effects = opening(seats, first=first, seed=seed, maximum_scorn=maximum_scorn, treachery=treachery)
    return after(None, effects)


def after(state: State | None, effects: Iterable[AnyEffect]) -> State:
    folded = fold(GAME, state, effects)
    assert folded is not None
    return folded


def with_holdings(state: State, seat: Seat, **holdings: object) -> State:
    """The state with some of a seat's holdings replaced. `coins` are by tribe; tribes left out have none."""
    coins = holdings.pop("coins", None)
    if isinstance(coins, dict):
        holdings["coins"] = per_tribe(coins)
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], **holdings)
    return replace(state, seats=tuple(seats))


def per_tribe(counts: Mapping[Tribe, int]) -> tuple[int, ...]:
    return tuple(counts.get(tribe, 0) for tribe in TRIBES)


def with_scorn_holders(state: State, **holders: Seat) -> State:
    return replace(state, scorn=tuple(holders.get(tribe) for tribe in TRIBES))


def with_stones(state: State, *finished: Tribe, **spaces: int) -> State:
    at = tuple(20 if tribe in finished else spaces.get(tribe, 0) for tribe in TRIBES)
    return replace(state, spaces=at, finished=finished)


def with_supply(state: State, **counts: int) -> State:
    supply = list(state.supply)
    for tribe, count in counts.items():
        supply[TRIBE_INDEX[tribe]] = count
    return replace(state, supply=tuple(supply))


def civilization_turn(state: State, seat: Seat, *hand: CardId) -> State:
    """The state in which the seat has to play one of these cards."""
    state = replace(state, turn="civilization", active=seat, awaited=Awaited(seat, "play_civilization"))
    return with_holdings(state, seat, hand=hand)


def bid_turn(state: State, seat: Seat, *pool: CardId) -> State:
    """The state in which the seat has to put up one of these monkeys."""
    return replace(
        state, turn="bid", active=seat, awaited=Awaited(seat, "select_monkey"), monkey_pool=pool or state.monkey_pool
    )


def auction_of(
    state: State, monkey: CardId, bidding: Seat, *, bidder: Seat | None = None, points: int = 0, **coins: int
) -> State:
    """The state in which a seat bids for a monkey. `coins` and `points` are the standing bid, and every seat is in."""
    running = Auction(monkey, tuple(range(len(state.seats))), bidder, per_tribe(coins), points)
    return replace(bid_turn(state, state.active), awaited=Awaited(bidding, "bid"), auction=running)


def awaiting(state: State, seat: Seat, step: Step) -> State:
    return replace(state, awaited=Awaited(seat, step))


def decide(state: State, action: AnyAction | Ring, seat: Seat | None = None) -> tuple[AnyEffect, ...]:
    """The effects of an action of the awaited seat, or of another one."""
    if seat is None:
        assert state.awaited is not None
        seat = state.awaited.seat
    return GAME.decide(state, Move(seat, action, 0), ScriptedRng())


def effects_of(state: State, *actions: AnyAction) -> list[AnyEffect]:
    """The effects of actions of the awaited seats, without the turns and decisions that they open."""
    effects: list[AnyEffect] = []
    for action in actions:
        followed = decide(state, action)
        effects += followed
        state = after(state, followed)
    return [effect for effect in effects if not isinstance(effect, TurnOpened | DecisionOpened)]


def play(state: State, *actions: AnyAction) -> State:
    """The state after actions of the awaited seats."""
    for action in actions:
        state = after(state, decide(state, action))
    return state


def legal(state: State) -> list[AnyAction]:
    """All legal actions of the awaited seat."""
    return list(GAME.legal_actions(state, state.awaited.seat)) if state.awaited else []


def random_states(seats: int, seed: int, options: Options) -> Iterable[tuple[State, tuple[AnyEffect, ...]]]:
    """Each state of a match of random actions, with the effects that led to it."""
    rng = ScriptedRng(seed)
    effects = GAME.setup(seats, options, 0, rng)
    state = after(None, effects)
    yield state, effects
    while state.awaited:
        effects = decide(state, rng.pick("action", legal(state)))
        state = after(state, effects)
        yield state, effects


def pieces(state: State) -> Counter[str]:
    """The number of pieces of each kind."""
    found: Counter[str] = Counter()
    for kind, cards in {
        "monkey": (state.monkey_deck, state.monkey_pool, state.monkey_discard, state.boarding),
        "civilization": (state.civilization_deck, state.civilization_removed, state.civilization_discard),
        "ship": (state.ship_deck, state.ships_under_deck, state.ship_pool, state.ship_discard),
    }.items():
        found.update(f"{kind} {card}" for pile in cards for card in pile)
    for held in state.seats:
        found.update(f"civilization {card}" for card in held.hand)
        found.update(f"monkey {card}" for card in held.aboard + held.launched)
        found.update(f"ship {card}" for card in held.full_ships + ((held.ship,) if held.ship else ()))
    if state.auction:
        found[f"monkey {state.auction.monkey}"] += 1
    for index, tribe in enumerate(TRIBES):
        found[f"coin {tribe}"] = state.supply[index] + sum(held.coins[index] for held in state.seats)
        found[f"scorn {tribe}"] = 1
    found.update(f"circle {tribe}" for tribe in state.circle)
    return found
