"""The state of a match. Tuples for the board have the order of FIELDS; tuples for the track are indexed by segment."""

import msgspec

from service.games.ape_town.components import SEGMENTS_PER_SECTION, Colour, Section, Segment, Tile
from service.games.ape_town.effects import Step
from service.games.visibility import Seat


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rulebook has no variants."""


class Taken(msgspec.Struct, frozen=True):
    """A tile that was taken from the display and not placed yet, and the colour of its segment."""

    segment: Segment
    colour: Colour
    tile: Tile


class Holdings(msgspec.Struct, frozen=True):
    """The money and the discs of a seat, and its points by part of the breakdown."""

    money: int
    discs: int
    placement: int
    boss: int
    neighbours: int


class State(msgspec.Struct, frozen=True):
    """The whole state.

    `track` holds the tile at each segment; those in `display` are face up, in the order of their price, the others face
    down. `turned_up` are the sections that were turned face up and not refilled since, oldest first. The first tile of
    `supply` is used first. `active` is the seat whose turn it is; at the end, when `step` is None, the seat that had
    the last turn.
    """

    seats: tuple[Holdings, ...]
    active: Seat
    step: Step | None
    track: tuple[Tile | None, ...]
    track_money: tuple[int, ...]
    display: tuple[Segment, ...]
    turned_up: tuple[Section, ...]
    supply: tuple[Tile, ...]
    taken: Taken | None
    board: tuple[Tile | None, ...]
    discs: tuple[Seat | None, ...]


def next_seat(state: State) -> Seat:
    """The seat whose turn follows that of the active seat."""
    return (state.active + 1) % len(state.seats)


def segments_of(section: Section) -> range:
    return range(section * SEGMENTS_PER_SECTION, (section + 1) * SEGMENTS_PER_SECTION)
