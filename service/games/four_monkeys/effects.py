"""The effects of the game.

Each effect contains everything that it changes, so a client can fold effects without the rules.

Times are match time in milliseconds.
"""

from typing import Final, Literal, TypeAlias, get_args

from service.games.four_monkeys.components import CardId, Clause, Colour, ComboId
from service.games.visibility import Effect, Private, Public, Seat, Secret

Ending: TypeAlias = Literal["stop", "deadline"]
Mode: TypeAlias = Literal["redraw", "extra"]
Skin: TypeAlias = Literal["own", "received"]
Stacks: TypeAlias = tuple[tuple[ComboId, ...], ...]


class TableSet(Effect, frozen=True, tag="table_set"):
    """The seats in clockwise order, the number of rounds, and the options (FOU-24)."""

    seating: Public[tuple[Seat, ...]]
    rounds: Public[int]
    banana_skins: Public[bool]
    family: Public[bool]
    round_seconds: Public[int]
    timer_visible: Public[bool]
    countdown_seconds: Public[int]


class RoundOpened(Effect, frozen=True, tag="round_opened"):
    """A round was set up, perhaps a repeated one. Actions are accepted from `starts_at` on, until the deadline.

    The deadline is `starts_at` plus `round_seconds`. Clients that show a clock can compute it; no viewer receives it,
    because options may hide it (FOU-4).

    `areas` lists the seats of each area, clockwise. `colours` has the deck colour of each seat. The Hand replenish
    tiles are green again, and each seat has only its own banana skin, if the match uses skins (FOU-2, FOU-4, FOU-30 to
    FOU-32).
    """

    round: Public[int]
    areas: Public[tuple[tuple[Seat, ...], ...]]
    colours: Public[tuple[Colour, ...]]
    starts_at: Public[int]
    deadline: Secret[int]


class DeckShuffled(Effect, frozen=True, tag="deck_shuffled"):
    """A seat's deck lies face down. Its first card is drawn first (FOU-1)."""

    seat: Public[Seat]
    size: Public[int]
    cards: Secret[tuple[CardId, ...]]


class CombosStacked(Effect, frozen=True, tag="combos_stacked"):
    """The combos of an area lie in stacks, numbered from 0.

    The first combo of a stack is its top and lies face up (FOU-3).
    """

    area: Public[int]
    tops: Public[tuple[ComboId, ...]]
    sizes: Public[tuple[int, ...]]
    stacks: Secret[Stacks]


class CardsDrawn(Effect, frozen=True, tag="cards_drawn"):
    """A seat drew cards from the top of its own or another deck (FOU-4, FOU-10 to FOU-13)."""

    seat: Public[Seat]
    deck: Public[Seat]
    count: Public[int]
    cards: Private[tuple[CardId, ...]]


class TileGrabbed(Effect, frozen=True, tag="tile_grabbed"):
    """The seat took the top tile of a stack, green side up, and put cards of its hand face down under it.

    `uncovered` is the new top of the stack; null if the stack is empty and gone (FOU-10).
    """

    seat: Public[Seat]
    stack: Public[int]
    combo: Public[ComboId]
    count: Public[int]
    cards: Private[tuple[CardId, ...]]
    uncovered: Public[ComboId | None]


class TileBurned(Effect, frozen=True, tag="tile_burned"):
    """The tile was turned to its orange side (FOU-12)."""

    seat: Public[Seat]
    combo: Public[ComboId]


class ReplenishUsed(Effect, frozen=True, tag="replenish_used"):
    """The Hand replenish tile was turned to its orange side (FOU-13)."""

    seat: Public[Seat]
    mode: Public[Mode]


class HandDiscarded(Effect, frozen=True, tag="hand_discarded"):
    """The seat discarded its whole hand face down (FOU-13)."""

    seat: Public[Seat]
    count: Public[int]


class TileRevealed(Effect, frozen=True, tag="tile_revealed"):
    """The top tile of a stack became a new stack with the next number.

    `uncovered` is the new top of the old one (FOU-14).
    """

    seat: Public[Seat]
    stack: Public[int]
    combo: Public[ComboId]
    uncovered: Public[ComboId]


class BananaHanded(Effect, frozen=True, tag="banana_handed"):
    """The seat gave a banana skin, its own or a received one, to another seat (FOU-30)."""

    seat: Public[Seat]
    to: Public[Seat]
    skin: Public[Skin]


class StopCalled(Effect, frozen=True, tag="stop_called"):
    """The seat claimed ten different combos. `different` is the number that it really has (FOU-15)."""

    seat: Public[Seat]
    different: Public[int]


class FalseStopCharged(Effect, frozen=True, tag="false_stop_charged"):
    """The claim was false: the seat loses points, and the round is played again (FOU-15)."""

    seat: Public[Seat]
    points: Public[int]


class RoundEnded(Effect, frozen=True, tag="round_ended"):
    """The round is over, and all hands are discarded (FOU-15, FOU-16)."""

    round: Public[int]
    ending: Public[Ending]


class RepeatedSetAside(Effect, frozen=True, tag="repeated_set_aside"):
    """The seat owns these combos more than once. All copies are set aside with their cards (FOU-20)."""

    seat: Public[Seat]
    combos: Public[tuple[ComboId, ...]]


class SmartestNamed(Effect, frozen=True, tag="smartest_named"):
    """These seats are the Smartest Monkey (FOU-21, FOU-33)."""

    seats: Public[tuple[Seat, ...]]


class CheckOpened(Effect, frozen=True, tag="check_opened"):
    """The match waits up to 20 seconds for the seat to choose which of these equal combos is checked next (FOU-22).

    No viewer receives the deadline, because options may hide it (FOU-4).
    """

    seat: Public[Seat]
    combos: Public[tuple[ComboId, ...]]
    opens_at: Public[int]
    deadline: Secret[int]


class ComboChecked(Effect, frozen=True, tag="combo_checked"):
    """The cards under a combo were shown. A wrong combo is set aside with them (FOU-22)."""

    seat: Public[Seat]
    combo: Public[ComboId]
    cards: Public[tuple[CardId, ...]]
    correct: Public[bool]


class RoundScored(Effect, frozen=True, tag="round_scored"):
    """The points of a seat in this round: for kept tiles, tiles set aside, received skins, and being the Smartest
    Monkey.
    """

    seat: Public[Seat]
    tiles: Public[int]
    set_aside: Public[int]
    skins: Public[int]
    smartest: Public[int]
    points: Public[int]
    clause: Public[Clause]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """The last round was scored (FOU-24)."""


AnyEffect: TypeAlias = (
    TableSet
    | RoundOpened
    | DeckShuffled
    | CombosStacked
    | CardsDrawn
    | TileGrabbed
    | TileBurned
    | ReplenishUsed
    | HandDiscarded
    | TileRevealed
    | BananaHanded
    | StopCalled
    | FalseStopCharged
    | RoundEnded
    | RepeatedSetAside
    | SmartestNamed
    | CheckOpened
    | ComboChecked
    | RoundScored
    | MatchEnded
)

EFFECTS: Final[tuple[type[AnyEffect], ...]] = get_args(AnyEffect)
