"""The state of a match. Numbers of coins and positions of stones are tuples in the order of TRIBES."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from service.games.monkeys_on_the_moon.components import BOX, TRIBE_INDEX, TRIBES, CardId, Tribe
from service.games.monkeys_on_the_moon.effects import Step, Turn
from service.games.visibility import Seat

PerTribe: TypeAlias = tuple[int, ...]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The two advanced variants of the rulebook."""

    maximum_scorn: bool = False
    """A player who holds a tribe's Scorn at the end loses that tribe's monkeys before scoring (MOM-50)."""
    treachery: bool = False
    """The first stone to reach the white dot changes the Alliance Circle (MOM-51)."""


class Awaited(msgspec.Struct, frozen=True):
    """The one seat that may act, and the step that it is at."""

    seat: Seat
    step: Step


class Auction(msgspec.Struct, frozen=True):
    """The auction of a monkey. `still_in` ascends; `bidder` is None until there is a bid."""

    monkey: CardId
    still_in: tuple[Seat, ...]
    bidder: Seat | None
    coins: PerTribe
    points: int


class Holdings(msgspec.Struct, frozen=True):
    """What a seat owns. Without a ship, `aboard` has the monkeys that wait beside the seat (MOM-26)."""

    hand: tuple[CardId, ...]
    coins: PerTribe
    ship: CardId | None
    aboard: tuple[CardId, ...]
    launched: tuple[CardId, ...]
    full_ships: tuple[CardId, ...]


class State(msgspec.Struct, frozen=True):
    """The whole state. The first card of a deck is drawn first; `ships_under_deck` are drawn after the ship deck."""

    options: Options
    seats: tuple[Holdings, ...]
    round: int
    rounds: int
    starting_seat: Seat
    turn: Turn
    active: Seat
    awaited: Awaited | None
    circle: tuple[Tribe, ...]
    swapped: bool
    spaces: PerTribe
    finished: tuple[Tribe, ...]
    supply: PerTribe
    scorn: tuple[Seat | None, ...]
    advanced: Tribe | None
    civilization_deck: tuple[CardId, ...]
    civilization_removed: tuple[CardId, ...]
    civilization_discard: tuple[CardId, ...]
    monkey_deck: tuple[CardId, ...]
    monkey_pool: tuple[CardId, ...]
    monkey_discard: tuple[CardId, ...]
    auction: Auction | None
    boarding: tuple[CardId, ...]
    ship_deck: tuple[CardId, ...]
    ships_under_deck: tuple[CardId, ...]
    ship_pool: tuple[CardId, ...]
    ship_discard: tuple[CardId, ...]


def allies(circle: Sequence[Tribe], tribe: Tribe) -> tuple[Tribe, Tribe]:
    """The neighbours in the Alliance Circle: the counter-clockwise one, then the clockwise one."""
    index = circle.index(tribe)
    return circle[index - 1], circle[(index + 1) % 6]


def rival(circle: Sequence[Tribe], tribe: Tribe) -> Tribe:
    """The opposite tribe in the Alliance Circle."""
    return circle[(circle.index(tribe) + 3) % 6]


def seats_from(first: Seat, seats: int) -> tuple[Seat, ...]:
    """All seats in turn order, beginning with `first`."""
    return (*range(first, seats), *range(first))


def holds_scorn(state: State, seat: Seat, tribe: Tribe) -> bool:
    return state.scorn[TRIBE_INDEX[tribe]] == seat


def by_tribe(counts: PerTribe) -> dict[Tribe, int]:
    """The counts other than 0, by tribe."""
    return {tribe: count for tribe, count in zip(TRIBES, counts, strict=True) if count}


def advanced_tribe(state: State) -> Tribe:
    """The tribe that the latest Civilization card advanced.

    Raises:
      ValueError: no card has been played.
    """
    if state.advanced is None:
        raise ValueError("no tribe has been advanced")
    return state.advanced


def angered_tribe(state: State) -> Tribe:
    """The rival of the tribe that was advanced last (MOM-14)."""
    return rival(state.circle, advanced_tribe(state))


def rivals_aboard(state: State, seat: Seat) -> tuple[Tribe, ...]:
    """The tribes aboard a seat's ship whose rival is also aboard: two tribes after a swap, otherwise none (MOM-27,
    MOM-51).
    """
    held = state.seats[seat]
    if held.ship is None:
        return ()
    aboard = {BOX.monkeys[card].tribe for card in held.aboard}
    return tuple([tribe for tribe in TRIBES if tribe in aboard and rival(state.circle, tribe) in aboard])
