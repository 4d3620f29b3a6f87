"""Lays cards on the table (MON-4, MON-10)."""

from service.games.monsters_on_the_moon.actions import PlaceCard
from service.games.monsters_on_the_moon.apply import Pending
from service.games.monsters_on_the_moon.components import BOX, CardId
from service.games.monsters_on_the_moon.crystals import collect
from service.games.monsters_on_the_moon.effects import CardPlaced
from service.games.monsters_on_the_moon.grid import Cell, Rotation, coordinates_of, footprint
from service.games.monsters_on_the_moon.squares import SquareAt, square_at
from service.games.monsters_on_the_moon.start_effects import StartCardPlaced
from service.games.visibility import Seat


def start_card(card: CardId, x: int, y: int, rotation: Rotation, *, from_pile: bool) -> StartCardPlaced:
    squares = _printed(card, rotation, footprint(x, y, rotation))
    return StartCardPlaced(card, x, y, rotation, from_pile, squares)


def lay(pending: Pending, seat: Seat, action: PlaceCard, cells: tuple[Cell, ...]) -> None:
    """Lay a card of the hand on its cells, and collect crystals. A single player collects none (MON-80)."""
    under = [pending.state.display.get(cell) for cell in cells]
    squares = _printed(action.card, action.rotation, cells)
    covered = tuple([square_at(cell, square) for cell, square in zip(cells, under, strict=True) if square is not None])
    pending.emit(CardPlaced(seat, action.card, action.x, action.y, action.rotation, squares, covered))
    if len(pending.state.seats) > 1:
        collect(pending, seat, squares, under)


def _printed(card: CardId, rotation: Rotation, cells: tuple[Cell, ...]) -> tuple[SquareAt, ...]:
    """The squares that a rotated card shows on its cells."""
    faces = BOX.faces[card, rotation]
    return tuple(
        [SquareAt(*coordinates_of(cell), card, face.kind, face.heads) for cell, face in zip(cells, faces, strict=True)]
    )
