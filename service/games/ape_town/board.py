"""The geometry of the Ape Town picture: cells of the board, outlines of districts, and segments of the track."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.games.ape_town.art import HEXAGON
from service.games.ape_town.components import DISTRICTS, FIELDS, RAW, Cell, Segment
from service.games.drawing.svg import Point

PITCH: Final = 68
"""Distance between the centres of neighbouring segments of the track."""
COLUMNS: Final = 12
"""Segments along the top of the track, and along the bottom. The other segments are on the sides."""
ROWS: Final = 10
"""Rows of segments, including the top and the bottom."""
WIDTH: Final = COLUMNS * PITCH
HEIGHT: Final = ROWS * PITCH

_STEPS: Final = (
    ((-1, 0), (0, 1), (1, 0), (1, -1), (0, -1), (-1, -1)),
    ((-1, 1), (0, 1), (1, 1), (1, 0), (0, -1), (-1, 0)),
)
"""The steps (rows, columns) across the six edges of a cell, for even rows and for odd rows.

The first edge is the one clockwise from the top corner.
"""


def centre(cell: Cell) -> Point:
    """The centre of a cell, relative to the top left corner of the track."""
    row, column = cell
    return 120 + 64 * column + 32 * (row % 2), 124 + 54 * row


def cell_of(field: str) -> Cell:
    row, column = field.split("-")
    return int(row), int(column)


def outline(cells: Sequence[Cell]) -> tuple[Point, ...]:
    """The outline of connected cells without a hole, clockwise."""
    edges: dict[Point, Point] = {}
    for cell in cells:
        (row, column), (x, y) = cell, centre(cell)
        for side, (down, right) in enumerate(_STEPS[row % 2]):
            if (row + down, column + right) not in cells:
                (x1, y1), (x2, y2) = HEXAGON[side], HEXAGON[(side + 1) % 6]
                edges[x + x1, y + y1] = x + x2, y + y2
    corner = first = min(edges)
    outline = [first]
    while (corner := edges[corner]) != first:
        outline.append(corner)
    return tuple(outline)


def segment_position(segment: Segment) -> tuple[Point, Point]:
    """The centre of a segment, and the direction from there to the inside of the ring."""
    sides = ROWS - 2
    far_x, far_y = WIDTH - PITCH // 2, HEIGHT - PITCH // 2
    if segment < COLUMNS:
        return (PITCH // 2 + PITCH * segment, PITCH // 2), (0, 1)
    if segment < COLUMNS + sides:
        return (far_x, PITCH // 2 + PITCH * (segment - COLUMNS + 1)), (-1, 0)
    if segment < 2 * COLUMNS + sides:
        return (far_x - PITCH * (segment - COLUMNS - sides), far_y), (0, -1)
    return (PITCH // 2, far_y - PITCH * (segment - 2 * COLUMNS - sides + 1)), (1, 0)


def _cells(rows: Iterable[Mapping[str, str]]) -> tuple[tuple[Cell, str], ...]:
    return tuple([(cell_of(row["id"]), row["tile"]) for row in rows])


FIELD_CENTRES: Final = {field.id: centre(cell_of(field.id)) for field in FIELDS}
PRINTED_TILES: Final = _cells(RAW["printed_tiles"])
POND: Final[tuple[Cell, ...]] = tuple([(row, column) for row, column in RAW["pond"]])
OUTLINES: Final = {
    district.id: outline([cell_of(FIELDS[index].id) for index in district.fields]) for district in DISTRICTS
}
"""The outlines by district id. Districts have no holes."""
