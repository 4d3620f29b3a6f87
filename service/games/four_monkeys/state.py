"""The state of a match. Times are match time in milliseconds."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from service.games.four_monkeys.components import BOX, CardId, Colour, ComboId, Kind
from service.games.four_monkeys.effects import Stacks
from service.games.visibility import Seat

Phase: TypeAlias = Literal["play", "scoring", "over"]
Step: TypeAlias = Literal["play", "check"]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a match."""

    banana_skins: bool = False
    """Each player starts with a banana skin, which may be given away after a grab (FOU-30)."""
    family: bool = False
    """Lighter scoring, and rounds of 300 seconds unless `round_seconds` is set (FOU-33)."""
    round_seconds: Annotated[int, msgspec.Meta(ge=30, le=600, description="With `family`, the default is 300.")] = (
        BOX.round_seconds
    )
    timer_visible: bool = True
    """False for players who want no clock: observations then omit the deadline (FOU-4)."""
    countdown_seconds: Annotated[int, msgspec.Meta(ge=0, le=60)] = 5
    """Seconds from the dealing of a round to its start (FOU-4)."""


class Tile(msgspec.Struct, frozen=True):
    """A combo of a seat, and the cards under it. Those of a `checked` combo are face up."""

    combo: ComboId
    burned: bool
    cards: tuple[CardId, ...]
    checked: bool


class Holdings(msgspec.Struct, frozen=True):
    """What a seat owns. The first card of a deck is drawn first; `tiles` begins with the tile owned longest."""

    deck: tuple[CardId, ...]
    hand: tuple[CardId, ...]
    discards: tuple[CardId, ...]
    tiles: tuple[Tile, ...]
    repeated: tuple[Tile, ...]
    """Tiles set aside in step 1 (FOU-20)."""
    wrong: tuple[Tile, ...]
    """Tiles set aside in step 3 (FOU-22)."""
    replenish_used: bool
    own_skin: bool
    received_skins: int
    just_grabbed: bool
    """Whether the latest action of the seat was a grab (FOU-30)."""


class Checking(msgspec.Struct, frozen=True):
    """The seat that has to choose which of its combos is checked next, and its deadline."""

    seat: Seat
    opens_at: int
    deadline: int


class Checked(msgspec.Struct, frozen=True):
    """A combo that was checked, and the cards under it."""

    seat: Seat
    combo: ComboId
    cards: tuple[CardId, ...]
    correct: bool


class State(msgspec.Struct, frozen=True):
    """The whole state.

    `stacks` are by area. An empty stack is gone, but keeps its number. `checks` and `smartest` belong to the current or
    latest scoring. `points` has the points of each round, by seat. `false_stops` counts the whole match;
    `stops_in_round` counts the current round and its repetitions.
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
    """The number of different combos of a seat, regardless of the cards under them (FOU-15)."""
    return len({kind_of(tile.combo) for tile in held.tiles})


def total(state: State, seat: Seat) -> int:
    """A seat's score so far."""
    return sum(state.points[seat]) + BOX.false_stop * state.false_stops[seat]


def skins(held: Holdings) -> int:
    return held.own_skin + held.received_skins
