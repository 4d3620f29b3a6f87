"""Lines between squares, on which moon walls lie. Numbers all, so that millions of them are cheap to compare (MON-62)."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, STEPS, Cell, cell_at, coordinates_of

Edge: TypeAlias = int
"""Twice a cell for the line above it, and one more for the line left of it: edges ascend with their cells."""
Point: TypeAlias = int
"""Where lines meet, named by the cell to the right of it and below."""
Orientation: TypeAlias = Literal["h", "v"]
Length: TypeAlias = Literal[1, 2]

SIDES: Final[dict[int, int]] = {-DOWN: 0, -RIGHT: 1, RIGHT: 2 * RIGHT + 1, DOWN: 2 * DOWN}
"""By a step from a cell: from twice the cell to the edge that is stepped over."""
_ALONG: Final = (RIGHT, DOWN)
"""By what an edge leaves when it is halved: the step along the line."""
_LONGEST: Final = 2
_NEAR: Final = tuple([upright - 2 * back * step for upright, step in enumerate(_ALONG) for back in range(_LONGEST + 1)])
"""From twice a point to the edges from which on a wall can touch it."""


class Span(NamedTuple):
    """A wall by where it lies: its edges, one or two, and the points that it touches, two or three."""

    edges: tuple[Edge, ...]
    points: tuple[Point, ...]

    @property
    def crossing(self) -> Point | None:
        """The middle of a long wall, where no other long one may have its own."""
        return self.points[1] if len(self.edges) > 1 else None


@lru_cache(4096)
def span_from(edge: Edge, length: int) -> Span:
    """The wall of so many edges whose first one, from the left or from above, is this."""
    corner, upright = divmod(edge, 2)
    step = _ALONG[upright]
    if length == 1:
        return Span((edge,), (corner, corner + step))
    return Span((edge, edge + 2 * step), (corner, corner + step, corner + 2 * step))


def edges_near(point: Point) -> list[Edge]:
    """The edges from which on a wall, the longest at least, touches a point."""
    return [2 * point + step for step in _NEAR]


def span_at(x: int, y: int, orientation: Orientation, length: int) -> Span:
    """The wall as actions name it: above the square from there to the right, or left of it from there down."""
    return span_from(2 * cell_at(x, y) + (orientation == "v"), length)


def edge_coordinates(edge: Edge) -> tuple[int, int, Orientation]:
    """An edge as actions name it."""
    cell, upright = divmod(edge, 2)
    return (*coordinates_of(cell), "v" if upright else "h")


def cells_beside(edge: Edge) -> tuple[Cell, Cell]:
    """The two squares that an edge parts."""
    cell, upright = divmod(edge, 2)
    return cell - (RIGHT if upright else DOWN), cell


def inner_edges(cells: Collection[Cell]) -> set[Edge]:
    """The edges between two of these cells."""
    return {2 * cell + SIDES[step] for cell in cells for step in (RIGHT, DOWN) if cell + step in cells}


def open_steps(cell: Cell, walled: Collection[Edge]) -> Iterable[int]:
    """The steps to neighbours that no wall bars (MON-64)."""
    if not walled:
        return STEPS
    return [step for step in STEPS if 2 * cell + SIDES[step] not in walled]
