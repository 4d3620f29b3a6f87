"""Where the greedy bot would build: around small rectangles in which its own monsters outnumber the others.

Areas that stand there already are no part of what is new.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from service.games.monsters_on_the_moon.components import Kind
from service.games.monsters_on_the_moon.edges import Edge, Span, beside, span_from
from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, Cell
from service.games.monsters_on_the_moon.groups import count
from service.games.monsters_on_the_moon.squares import Display

_SIZES: Final = tuple([(width, height) for width in range(1, 4) for height in range(1, 4)])
_LOOKED_AT: Final = 5
"""Rectangles of the best squares that are counted out."""


class Ground(NamedTuple):
    """What a bot that builds knows: the table, what it has left, and what a head of a kind is worth to it."""

    display: Display
    walled: frozenset[Edge]
    areas: frozenset[Cell]
    crossings: frozenset[int]
    long: int
    short: int
    worths: Mapping[Kind, int]


class Plan(NamedTuple):
    """Walls that complete an area, and what it is worth to have it."""

    walls: tuple[Span, ...]
    worth: int


def best_plan(ground: Ground, most: int) -> Plan | None:
    """The plan of the highest worth with so many walls at most; None where none is worth anything."""
    promising: list[tuple[int, int, int, set[Cell], tuple[Span, ...]]] = []
    for number, (corner, width, height) in enumerate(_rectangles(ground.display)):
        cells = {corner + y * DOWN + x * RIGHT for y in range(height) for x in range(width)}
        cells -= ground.areas
        promise = sum([_worth_of(ground, cell) for cell in cells])
        if promise > 0:
            walls = _walls_around(ground, corner, width, height)
            if walls and len(walls) <= most:
                promising.append((-promise, len(walls), number, cells, walls))
    before = _standing(ground, ground.walled, ground.areas)
    plans = []
    for _, _, _, cells, walls in sorted(promising, key=lambda one: one[:3])[:_LOOKED_AT]:
        walled = ground.walled.union(*[span.edges for span in walls])
        plans.append(Plan(walls, _standing(ground, walled, ground.areas | cells) - before))
    best = max(plans, key=lambda plan: plan.worth, default=None)
    return best if best is not None and best.worth > 0 else None


def _rectangles(display: Display) -> Iterator[tuple[Cell, int, int]]:
    for cell in sorted(display):
        for width, height in _SIZES:
            yield cell, width, height


def _worth_of(ground: Ground, cell: Cell) -> int:
    square = ground.display.get(cell)
    return ground.worths.get(square.shows, 0) * square.heads if square else 0


def _walls_around(ground: Ground, corner: Cell, width: int, height: int) -> tuple[Span, ...] | None:
    """The walls that close what is open around a rectangle, long ones where they fit; None if that cannot be done."""
    sides = (
        [2 * (corner + x * RIGHT) for x in range(width)],
        [2 * (corner + width * RIGHT + y * DOWN) + 1 for y in range(height)],
        [2 * (corner + height * DOWN + x * RIGHT) for x in range(width)],
        [2 * (corner + y * DOWN) + 1 for y in range(height)],
    )
    long, short = ground.long, ground.short
    walls: list[Span] = []
    for side in sides:
        missing = [edge for edge in side if edge not in ground.walled]
        for edge in missing:
            if ground.display.keys().isdisjoint(beside(edge)) or not ground.areas.isdisjoint(beside(edge)):
                return None
        while missing:
            span = span_from(missing[0], 2)
            if long and list(span.edges) == missing[:2] and span.crossing not in ground.crossings:
                long -= 1
            else:
                span = span_from(missing[0], 1)
                short -= 1
            walls.append(span)
            missing = missing[len(span.edges) :]
    return tuple(walls) if short >= 0 else None


def _standing(ground: Ground, walled: frozenset[Edge], areas: frozenset[Cell]) -> int:
    """What the monsters on the table are worth."""
    total = 0
    for kind, worth in ground.worths.items():
        found = count(ground.display, kind, walled, areas)
        total += worth * (found.singles + found.groups + found.enclosed_singles + found.enclosed_groups)
    return total
