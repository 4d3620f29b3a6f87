"""Finds the areas that walls enclose completely (MON-63). They may include squares of the bare table."""

from collections.abc import Collection

from service.games.monsters_on_the_moon.edges import Edge, cells_beside, open_steps
from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, Cell, cell_at, coordinates_of


def enclosed_areas(walled: Collection[Edge]) -> list[tuple[Cell, ...]]:
    """All areas, ordered by their first cell. The cells of an area ascend.

    A hole in the display belongs to the area around it. An area inside another one is an area of its own.
    """
    if not walled:
        return []
    unvisited = _bounding_box([cell for edge in walled for cell in cells_beside(edge)])
    _flood(min(unvisited), unvisited, walled)
    areas = []
    while unvisited:
        areas.append(tuple(sorted(_flood(min(unvisited), unvisited, walled))))
    return areas


def _bounding_box(cells: Collection[Cell]) -> set[Cell]:
    """The rectangle around cells, one cell wider on each side.

    Every cell that is connected to its rim is outside all areas.
    """
    columns, rows = zip(*map(coordinates_of, cells), strict=True)
    width, height = max(columns) - min(columns) + 3, max(rows) - min(rows) + 3
    corner = cell_at(min(columns) - 1, min(rows) - 1)
    return {corner + y * DOWN + x * RIGHT for y in range(height) for x in range(width)}


def _flood(start: Cell, unvisited: set[Cell], walled: Collection[Edge]) -> list[Cell]:
    """Remove all cells that are reachable from `start` from `unvisited`, and return them."""
    unvisited.remove(start)
    found = [start]
    for cell in found:
        for step in open_steps(cell, walled):
            if cell + step in unvisited:
                unvisited.remove(cell + step)
                found.append(cell + step)
    return found
