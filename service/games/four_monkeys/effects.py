"""What can happen. Each effect changes the table by itself, so that whoever adds them up needs no rules.

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
    """The seats in the order in which they sit, clockwise, and the options; `rounds` will be played (FOU-24)."""

    seating: Public[tuple[Seat, ...]]
    rounds: Public[int]
    banana_skins: Public[bool]
    family: Public[bool]
    round_seconds: Public[int]
    timer_visible: Public[bool]
    countdown_seconds: Public[int]


class RoundOpened(Effect, frozen=True, tag="round_opened"):
    """The table is cleared for a round, perhaps once more; actions count from `starts_at` on and before `deadline`.

    The deadline is `round_seconds` later, so that whoever shows a clock knows it, and no viewer is told of one that the
    options hide (FOU-4).

    `areas` are the seats of each area, clockwise, `colours` the seats' decks'. The Hand replenish tiles are green, and
    everybody has just the own banana skin, if skins are played (FOU-2, FOU-4, FOU-30 to FOU-32).
    """

    round: Public[int]
    areas: Public[tuple[tuple[Seat, ...], ...]]
    colours: Public[tuple[Colour, ...]]
    starts_at: Public[int]
    deadline: Secret[int]


class DeckShuffled(Effect, frozen=True, tag="deck_shuffled"):
    """A seat's deck lies face down; its first card is drawn first (FOU-1)."""

    seat: Public[Seat]
    size: Public[int]
    cards: Secret[tuple[CardId, ...]]


class CombosStacked(Effect, frozen=True, tag="combos_stacked"):
    """The combos of an area lie in stacks, numbered from 0; the first of each is its top and lies open (FOU-3)."""

    area: Public[int]
    tops: Public[tuple[ComboId, ...]]
    sizes: Public[tuple[int, ...]]
    stacks: Secret[Stacks]


class CardsDrawn(Effect, frozen=True, tag="cards_drawn"):
    """A seat drew from the top of a deck, its own or another one (FOU-4, FOU-10 to FOU-13)."""

    seat: Public[Seat]
    deck: Public[Seat]
    count: Public[int]
    cards: Private[tuple[CardId, ...]]


class TileGrabbed(Effect, frozen=True, tag="tile_grabbed"):
    """The top tile of a stack lies before the seat, green side up, cards of its hand face down under it.

    `uncovered` lies on top of the stack now; null if the stack is gone (FOU-10).
    """

    seat: Public[Seat]
    stack: Public[int]
    combo: Public[ComboId]
    count: Public[int]
    cards: Private[tuple[CardId, ...]]
    uncovered: Public[ComboId | None]


class TileBurned(Effect, frozen=True, tag="tile_burned"):
    """The tile shows its orange side now (FOU-12)."""

    seat: Public[Seat]
    combo: Public[ComboId]


class ReplenishUsed(Effect, frozen=True, tag="replenish_used"):
    """The Hand replenish tile shows its orange side now (FOU-13)."""

    seat: Public[Seat]
    mode: Public[Mode]


class HandDiscarded(Effect, frozen=True, tag="hand_discarded"):
    """A whole hand went face down to the seat's discards (FOU-13)."""

    seat: Public[Seat]
    count: Public[int]


class TileRevealed(Effect, frozen=True, tag="tile_revealed"):
    """The top tile of a stack is a new stack now, with the next number; `uncovered` lies on top of the old one (FOU-14)."""

    seat: Public[Seat]
    stack: Public[int]
    combo: Public[ComboId]
    uncovered: Public[ComboId]


class BananaHanded(Effect, frozen=True, tag="banana_handed"):
    """A banana skin, the giver's own or one received, lies before another seat (FOU-30)."""

    seat: Public[Seat]
    to: Public[Seat]
    skin: Public[Skin]


class StopCalled(Effect, frozen=True, tag="stop_called"):
    """The seat claims ten different combos and has so many (FOU-15)."""

    seat: Public[Seat]
    different: Public[int]


class FalseStopCharged(Effect, frozen=True, tag="false_stop_charged"):
    """The claim was false: the seat loses points, and the round is played again (FOU-15)."""

    seat: Public[Seat]
    points: Public[int]


class RoundEnded(Effect, frozen=True, tag="round_ended"):
    """Nobody acts any more; all hands are discarded (FOU-15, FOU-16)."""

    round: Public[int]
    ending: Public[Ending]


class RepeatedSetAside(Effect, frozen=True, tag="repeated_set_aside"):
    """All copies of combos that a seat has more than once are set aside, with their cards (FOU-20)."""

    seat: Public[Seat]
    combos: Public[tuple[ComboId, ...]]


class SmartestNamed(Effect, frozen=True, tag="smartest_named"):
    """These seats are the Smartest Monkey (FOU-21, FOU-33)."""

    seats: Public[tuple[Seat, ...]]


class CheckOpened(Effect, frozen=True, tag="check_opened"):
    """The match waits for the seat to say which of these equal combos is checked next, for 20 seconds (FOU-22).

    The deadline is no more told to a viewer than a round's (FOU-4).
    """

    seat: Public[Seat]
    combos: Public[tuple[ComboId, ...]]
    opens_at: Public[int]
    deadline: Secret[int]


class ComboChecked(Effect, frozen=True, tag="combo_checked"):
    """The cards under a combo are shown; a wrong one is set aside with them (FOU-22)."""

    seat: Public[Seat]
    combo: Public[ComboId]
    cards: Public[tuple[CardId, ...]]
    correct: Public[bool]


class RoundScored(Effect, frozen=True, tag="round_scored"):
    """A seat's points of the round: for the tiles kept, those set aside, skins received, and being the Smartest Monkey."""

    seat: Public[Seat]
    tiles: Public[int]
    set_aside: Public[int]
    skins: Public[int]
    smartest: Public[int]
    points: Public[int]
    clause: Public[Clause]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """The last round is scored (FOU-24)."""


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
