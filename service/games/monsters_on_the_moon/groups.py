"""Groups of equal squares (MON-30, MON-40). Walls separate groups, and areas double their points (MON-64, MON-66)."""

from collections.abc import Collection
from typing import NamedTuple

from service.games.monsters_on_the_moon.components import Kind
from service.games.monsters_on_the_moon.edges import Edge, open_steps
from service.games.monsters_on_the_moon.grid import Cell
from service.games.monsters_on_the_moon.squares import Display


class Group(NamedTuple):
    """Connected squares of a kind, and the sum of their heads."""

    cells: tuple[Cell, ...]
    heads: int


class Count(NamedTuple):
    """The points for one seat's monsters, and the number of heads of its largest group (MON-30, MON-40).

    The doubled points of monsters in enclosed areas are given separately (MON-66).
    """

    singles: int
    groups: int
    largest: int
    enclosed_singles: int = 0
    enclosed_groups: int = 0


def groups(display: Display, kind: Kind, walled: Collection[Edge] = ()) -> list[Group]:
    """All groups of a kind, including single squares. No group reaches across a wall."""
    left = {cell: square.heads for cell, square in display.items() if square.shows == kind}
    found = []
    while left:
        cell, heads = left.popitem()
        cells = [cell]
        for inner in cells:
            for step in open_steps(inner, walled):
                more = left.pop(inner + step, None)
                if more is not None:
                    cells.append(inner + step)
                    heads += more
        found.append(Group(tuple(cells), heads))
    return found


def heads_of(display: Display, kind: Kind) -> int:
    return sum([square.heads for square in display.values() if square.shows == kind])


def count(display: Display, kind: Kind, walled: Collection[Edge] = (), areas: Collection[Cell] = ()) -> Count:
    """One point for each single head, two for each head of a group. A double head is a group by itself (MON-30)."""
    found = groups(display, kind, walled)
    # Walls separate groups, so all cells of a group are in the same area, or none is in any.
    inside = [group.heads for group in found if group.cells[0] in areas]
    outside = [group.heads for group in found if group.cells[0] not in areas]
    return Count(
        singles=outside.count(1),
        groups=2 * sum([heads for heads in outside if heads > 1]),
        largest=max([heads for heads in (*inside, *outside) if heads > 1], default=0),
        enclosed_singles=2 * inside.count(1),
        enclosed_groups=4 * sum([heads for heads in inside if heads > 1]),
    )
