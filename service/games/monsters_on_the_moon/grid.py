"""The grid of squares, and the shapes of cards on it. x grows to the right, y down."""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

Cell: TypeAlias = int
"""A square as one number. Cells ascend row by row, and the step to a neighbour is a constant."""
Rotation: TypeAlias = Literal[0, 90, 180, 270]
"""Degrees, clockwise."""

ROTATIONS: Final[tuple[Rotation, ...]] = (0, 90, 180, 270)
COORDINATE_LIMIT: Final = 255
"""The limit of |x| and |y|. No card can get that far; a test derives this from the components (MON-11)."""
_WIDTH: Final = 1024
_ORIGIN: Final = _WIDTH * _WIDTH // 2 + _WIDTH // 2
RIGHT: Final = 1
DOWN: Final = _WIDTH
STEPS: Final = (-DOWN, -RIGHT, RIGHT, DOWN)
"""The steps from a square to the four neighbours that share an edge with it."""

_LANDSCAPE: Final = tuple([y * DOWN + x for y in range(2) for x in range(3)])
_PORTRAIT: Final = tuple([y * DOWN + x for y in range(3) for x in range(2)])


def cell_at(x: int, y: int) -> Cell:
    return _ORIGIN + y * DOWN + x


def coordinates_of(cell: Cell) -> tuple[int, int]:
    """The x and y of a cell."""
    y, x = divmod(cell, _WIDTH)
    return x - _WIDTH // 2, y - _WIDTH // 2


def is_portrait(rotation: Rotation) -> bool:
    """Whether a card with this rotation is 2 wide and 3 high, not 3 wide and 2 high."""
    return rotation in {90, 270}


def shape(*, portrait: bool) -> tuple[int, ...]:
    """The six squares of a card, row by row, as steps from the top left square."""
    return _PORTRAIT if portrait else _LANDSCAPE


def footprint(x: int, y: int, rotation: Rotation) -> tuple[Cell, ...]:
    """The six cells that a card covers, row by row."""
    corner = cell_at(x, y)
    return tuple([corner + step for step in shape(portrait=is_portrait(rotation))])


def rotated(rows: tuple[tuple[str, ...], ...], rotation: Rotation) -> tuple[str, ...]:
    """The squares of a card after a clockwise rotation, row by row."""
    for _ in range(ROTATIONS.index(rotation)):
        rows = tuple(zip(*reversed(rows), strict=True))
    return tuple([item for row in rows for item in row])


def with_neighbours(cells: Iterable[Cell]) -> set[Cell]:
    """The cells, and all cells that share an edge with one of them."""
    return {cell + step for cell in cells for step in (0, *STEPS)}


def is_connected(cells: set[Cell]) -> bool:
    """Whether all these cells are connected by shared edges."""
    border = [min(cells)]
    reached = set(border)
    while border:
        cell = border.pop()
        found = {cell + step for step in STEPS} & cells - reached
        reached |= found
        border += found
    return len(reached) == len(cells)
