"""The table at one moment. Times are match time in milliseconds."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from service.games.four_monkeys.components import BOX, CardId, Colour, ComboId, Kind
from service.games.four_monkeys.effects import Stacks
from service.games.visibility import Seat

Phase: TypeAlias = Literal["play", "scoring", "over"]
Step: TypeAlias = Literal["play", "check"]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the players agree on before they begin."""

    banana_skins: bool = False
    """Each player has a banana skin, to be handed on after a grab (FOU-30)."""
    family: bool = False
    """The lighter scoring, and rounds of 300 seconds where `round_seconds` says nothing else (FOU-33)."""
    round_seconds: Annotated[
        int, msgspec.Meta(ge=30, le=600, description="Where nothing is said of it, 300 with `family`.")
    ] = BOX.round_seconds
    timer_visible: bool = True
    """False for a clock that nobody looks at: no observation shows the deadline (FOU-4)."""
    countdown_seconds: Annotated[int, msgspec.Meta(ge=0, le=60)] = 5
    """From the dealing of a round to its start (FOU-4)."""


class Tile(msgspec.Struct, frozen=True):
    """A combo before a seat, and the cards under it; `checked` ones lie open."""

    combo: ComboId
    burned: bool
    cards: tuple[CardId, ...]
    checked: bool


class Holdings(msgspec.Struct, frozen=True):
    """What lies before a seat. A deck's first card is drawn first; `tiles` begin with the one owned longest."""

    deck: tuple[CardId, ...]
    hand: tuple[CardId, ...]
    discards: tuple[CardId, ...]
    tiles: tuple[Tile, ...]
    repeated: tuple[Tile, ...]
    """Set aside in step 1 (FOU-20)."""
    wrong: tuple[Tile, ...]
    """Set aside in step 3 (FOU-22)."""
    replenish_used: bool
    own_skin: bool
    received_skins: int
    just_grabbed: bool
    """Whether the seat's newest action was a grab (FOU-30)."""


class Checking(msgspec.Struct, frozen=True):
    """The seat that chooses which of its combos is checked next, and until when."""

    seat: Seat
    opens_at: int
    deadline: int


class Checked(msgspec.Struct, frozen=True):
    """A combo that was checked, and the cards that lay under it."""

    seat: Seat
    combo: ComboId
    cards: tuple[CardId, ...]
    correct: bool


class State(msgspec.Struct, frozen=True):
    """All of a match.

    `stacks` are by area; an empty one is gone and keeps its number. `checks` and `smartest` are of the scoring that
    runs or ran last. `points` are each seat's, round by round; `false_stops` are of the match, `stops_in_round` of the
    round, its repetitions together.
    """

    options: Options
    seating: tuple[Seat, ...]
    rounds: int
    round: int
    phase: Phase
    areas: tuple[tuple[Seat, ...], ...]
    colours: tuple[Colour, ...]
    starts_at: int
    deadline: int
    stacks: tuple[Stacks, ...]
    seats: tuple[Holdings, ...]
    smartest: tuple[Seat, ...]
    checking: Checking | None
    checks: tuple[Checked, ...]
    points: tuple[tuple[int, ...], ...]
    false_stops: tuple[int, ...]
    stops_in_round: tuple[int, ...]


def kind_of(combo: ComboId) -> Kind:
    return BOX.combos[combo].kind


def visible_value(tile: Tile) -> int:
    combo = BOX.combos[tile.combo]
    return combo.orange if tile.burned else combo.green


def replenish_value(held: Holdings) -> int:
    return BOX.replenish.used if held.replenish_used else BOX.replenish.unused


def area_of(state: State, seat: Seat) -> int:
    return 0 if seat in state.areas[0] else 1


def different(held: Holdings) -> int:
    """How many different combos a seat has, whatever lies under them (FOU-15)."""
    return len({kind_of(tile.combo) for tile in held.tiles})


def total(state: State, seat: Seat) -> int:
    """A seat's score so far."""
    return sum(state.points[seat]) + BOX.false_stop * state.false_stops[seat]


def skins(held: Holdings) -> int:
    return held.own_skin + held.received_skins
