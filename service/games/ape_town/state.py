"""The table at one moment. Tiles and discs of the board are tuples in the order of FIELDS, those of the track by segment."""

import msgspec

from service.games.ape_town.components import SEGMENTS_PER_SECTION, Colour, Section, Segment, Tile
from service.games.ape_town.effects import Step
from service.games.visibility import Seat


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rulebook has no variants."""


class Taken(msgspec.Struct, frozen=True):
    """A tile on its way from the display to the board, and the colour of the segment where it lay."""

    segment: Segment
    colour: Colour
    tile: Tile


class Holdings(msgspec.Struct, frozen=True):
    """What a seat has, and what it has scored so far, part by part."""

    money: int
    discs: int
    placement: int
    boss: int
    neighbours: int


class State(msgspec.Struct, frozen=True):
    """All of a match.

    `track` holds the tiles at the segments, face up in the `display` (first the one that is free to take), else face
    down. `turned_up` are the sections that were turned up and not refilled since, in that order. The supply's first
    tile is laid out first. `active` is the seat whose turn it is, or was at the end, when `step` is None.
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
    """The seat whose turn comes after the active one's."""
    return (state.active + 1) % len(state.seats)


def segments_of(section: Section) -> range:
    return range(section * SEGMENTS_PER_SECTION, (section + 1) * SEGMENTS_PER_SECTION)
