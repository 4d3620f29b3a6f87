"""What is visible on a square of the grid: on the table, and as effects and viewers are told."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from service.games.monsters_on_the_moon.components import CardId, Kind
from service.games.monsters_on_the_moon.grid import Cell, coordinates_of
from service.games.visibility import Seat


class Square(msgspec.Struct, frozen=True):
    """What is visible on a cell: a monster's heads or something else, of which card, and whose plate it is if it is one."""

    card: CardId
    shows: Kind
    heads: int
    plate: Seat | None = None


Display: TypeAlias = Mapping[Cell, Square]


class SquareAt(msgspec.Struct, frozen=True):
    """A square of the display: what it shows, with how many heads, and the card that it is of."""

    x: int
    y: int
    card: CardId
    shows: Kind
    heads: int


class Place(msgspec.Struct, frozen=True):
    """A square of the grid, with a card or without."""

    x: int
    y: int


def square_at(cell: Cell, square: Square) -> SquareAt:
    """A square of the display as effects and viewers have it."""
    x, y = coordinates_of(cell)
    return SquareAt(x, y, square.card, square.shows, square.heads)
