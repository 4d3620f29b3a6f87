"""The edges of squares, on which moon walls lie. Edges are integers, because millions of them are compared (MON-62)."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, STEPS, Cell, cell_at, coordinates_of

Edge: TypeAlias = int
"""`2 * cell` is the edge above a cell, and `2 * cell + 1` the edge left of it. Edges ascend with their cells."""
Point: TypeAlias = int
"""A corner of squares, named by the cell on its lower right."""
Orientation: TypeAlias = Literal["h", "v"]
Length: TypeAlias = Literal[1, 2]

SIDES: Final[dict[int, int]] = {-DOWN: 0, -RIGHT: 1, RIGHT: 2 * RIGHT + 1, DOWN: 2 * DOWN}
"""For a step from a cell to a neighbour: the edge that it crosses, minus `2 * cell`."""
_ALONG: Final = (RIGHT, DOWN)
"""For `edge % 2`: the step between cells along the line of the edge."""
_LONGEST: Final = 2
"""The number of edges of a long wall."""
_NEAR: Final = tuple([upright - 2 * back * step for upright, step in enumerate(_ALONG) for back in range(_LONGEST + 1)])
"""The first edges of all walls that can touch a point, minus `2 * point`."""


class Span(NamedTuple):
    """The position of a wall: its one or two edges, and the two or three points that it touches."""

    edges: tuple[Edge, ...]
    points: tuple[Point, ...]

    @property
    def crossing(self) -> Point | None:
        """The middle of a long wall; None for a short one. Long walls must not share one."""
        return self.points[1] if len(self.edges) > 1 else None


@lru_cache(4096)
def span_from(edge: Edge, length: int) -> Span:
    """The wall with `length` edges, of which `edge` is the leftmost or topmost."""
    corner, upright = divmod(edge, 2)
    step = _ALONG[upright]
    if length == 1:
        return Span((edge,), (corner, corner + step))
    return Span((edge, edge + 2 * step), (corner, corner + step, corner + 2 * step))


def edges_near(point: Point) -> list[Edge]:
    """The first edges of all walls, of either length, that may touch a point."""
    return [2 * point + step for step in _NEAR]


def span_at(x: int, y: int, orientation: Orientation, length: int) -> Span:
    """The wall that an action describes: above the square and to the right (`h`), or left of it and down (`v`)."""
    return span_from(2 * cell_at(x, y) + (orientation == "v"), length)


def edge_coordinates(edge: Edge) -> tuple[int, int, Orientation]:
    """The coordinates and the orientation of an edge, as actions use them."""
    cell, upright = divmod(edge, 2)
    return (*coordinates_of(cell), "v" if upright else "h")


def cells_beside(edge: Edge) -> tuple[Cell, Cell]:
    """The two cells on the sides of an edge."""
    cell, upright = divmod(edge, 2)
    return cell - (RIGHT if upright else DOWN), cell


def inner_edges(cells: Collection[Cell]) -> set[Edge]:
    """The edges between two of these cells."""
    return {2 * cell + SIDES[step] for cell in cells for step in (RIGHT, DOWN) if cell + step in cells}


def open_steps(cell: Cell, walled: Collection[Edge]) -> Iterable[int]:
    """The steps from a cell to its neighbours that no wall blocks (MON-64)."""
    if not walled:
        return STEPS
    return [step for step in STEPS if 2 * cell + SIDES[step] not in walled]
