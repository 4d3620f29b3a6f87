"""Plans the walls of the greedy bot: around small rectangles in which its own monsters outnumber the others.

Cells of existing areas are not counted for a new one.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from service.games.monsters_on_the_moon.components import Kind
from service.games.monsters_on_the_moon.edges import Edge, Span, cells_beside, span_from
from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, Cell
from service.games.monsters_on_the_moon.groups import count
from service.games.monsters_on_the_moon.squares import Display

_SIZES: Final = tuple([(width, height) for width in range(1, 4) for height in range(1, 4)])
_MAX_CANDIDATES: Final = 5
"""Number of rectangles with the best estimates whose value is computed exactly."""


class Situation(NamedTuple):
    """What the bot needs to plan walls: the table, its remaining walls, and the value of a head by kind."""

    display: Display
    walled: frozenset[Edge]
    areas: frozenset[Cell]
    crossings: frozenset[int]
    long: int
    short: int
    head_values: Mapping[Kind, int]


class Plan(NamedTuple):
    """The walls that complete an area, and the value of the area."""

    walls: tuple[Span, ...]
    value: int


def best_plan(situation: Situation, most: int) -> Plan | None:
    """The plan of the highest value with at most `most` walls; None if no plan has a positive value."""
    candidates: list[tuple[int, int, int, set[Cell], tuple[Span, ...]]] = []
    for number, (corner, width, height) in enumerate(_rectangles(situation.display)):
        cells = {corner + y * DOWN + x * RIGHT for y in range(height) for x in range(width)}
        cells -= situation.areas
        estimate = sum([_value_of_cell(situation, cell) for cell in cells])
        if estimate > 0:
            walls = _walls_around(situation, corner, width, height)
            if walls and len(walls) <= most:
                candidates.append((-estimate, len(walls), number, cells, walls))
    before = _value_on_table(situation, situation.walled, situation.areas)
    plans = []
    for _, _, _, cells, walls in sorted(candidates, key=lambda one: one[:3])[:_MAX_CANDIDATES]:
        walled = situation.walled.union(*[span.edges for span in walls])
        plans.append(Plan(walls, _value_on_table(situation, walled, situation.areas | cells) - before))
    best = max(plans, key=lambda plan: plan.value, default=None)
    return best if best is not None and best.value > 0 else None


def _rectangles(display: Display) -> Iterator[tuple[Cell, int, int]]:
    for cell in sorted(display):
        for width, height in _SIZES:
            yield cell, width, height


def _value_of_cell(situation: Situation, cell: Cell) -> int:
    square = situation.display.get(cell)
    return situation.head_values.get(square.shows, 0) * square.heads if square else 0


def _walls_around(situation: Situation, corner: Cell, width: int, height: int) -> tuple[Span, ...] | None:
    """The walls that close the open edges around a rectangle, long ones where possible.

    None if the rectangle cannot be closed.
    """
    sides = (
        [2 * (corner + x * RIGHT) for x in range(width)],
        [2 * (corner + width * RIGHT + y * DOWN) + 1 for y in range(height)],
        [2 * (corner + height * DOWN + x * RIGHT) for x in range(width)],
        [2 * (corner + y * DOWN) + 1 for y in range(height)],
    )
    long, short = situation.long, situation.short
    walls: list[Span] = []
    for side in sides:
        missing = [edge for edge in side if edge not in situation.walled]
        for edge in missing:
            if situation.display.keys().isdisjoint(cells_beside(edge)) or not situation.areas.isdisjoint(
                cells_beside(edge)
            ):
                return None
        while missing:
            span = span_from(missing[0], 2)
            if long and list(span.edges) == missing[:2] and span.crossing not in situation.crossings:
                long -= 1
            else:
                span = span_from(missing[0], 1)
                short -= 1
            walls.append(span)
            missing = missing[len(span.edges) :]
    return tuple(walls) if short >= 0 else None


def _value_on_table(situation: Situation, walled: frozenset[Edge], areas: frozenset[Cell]) -> int:
    """The value of all monsters on the table."""
    total = 0
    for kind, value in situation.head_values.items():
        found = count(situation.display, kind, walled, areas)
        total += value * (found.singles + found.groups + found.enclosed_singles + found.enclosed_groups)
    return total
