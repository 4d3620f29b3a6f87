"""The visible content of a square: in a state, and in effects and observations."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from service.games.monsters_on_the_moon.components import CardId, Kind
from service.games.monsters_on_the_moon.grid import Cell, coordinates_of
from service.games.visibility import Seat


class Square(msgspec.Struct, frozen=True):
    """What a cell shows, its number of heads, the card that it belongs to, and the owner of a plate on it."""

    card: CardId
    shows: Kind
    heads: int
    plate: Seat | None = None


Display: TypeAlias = Mapping[Cell, Square]


class SquareAt(msgspec.Struct, frozen=True):
    """A square of the display: what it shows, its number of heads, and the card that it belongs to."""

    x: int
    y: int
    card: CardId
    shows: Kind
    heads: int


class Place(msgspec.Struct, frozen=True):
    """A square of the grid, with or without a card."""

    x: int
    y: int


def square_at(cell: Cell, square: Square) -> SquareAt:
    """A square of the display, as effects and observations contain it."""
    x, y = coordinates_of(cell)
    return SquareAt(x, y, square.card, square.shows, square.heads)
