"""The missions, and whether a display fulfils them (MON-72)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from service.games.monsters_on_the_moon.components import BOX, MissionId, Monster, left_of, right_of
from service.games.monsters_on_the_moon.edges import Edge
from service.games.monsters_on_the_moon.grid import DOWN, RIGHT, STEPS, Cell
from service.games.monsters_on_the_moon.groups import groups, heads_of
from service.games.monsters_on_the_moon.squares import Display
from service.games.visibility import Seat

Monsters: TypeAlias = Sequence[Monster]
"""The monsters by seat."""


class Table(NamedTuple):
    """A display and its walled edges, from the view of a seat."""

    display: Display
    monsters: Monsters
    seat: Seat
    walled: Collection[Edge]


def points(display: Display, monsters: Monsters, seat: Seat, mission: MissionId, walled: Collection[Edge] = ()) -> int:
    """The points of a mission for a seat on this display. Walls only matter for missions that count groups."""
    return BOX.missions[mission] if _FULFILLED[mission](Table(display, monsters, seat, walled)) else 0


def _own(table: Table) -> set[Cell]:
    return {cell for cell, square in table.display.items() if square.shows == table.monsters[table.seat]}


def _group_heads(table: Table) -> list[int]:
    return [group.heads for group in groups(table.display, table.monsters[table.seat], table.walled)]


def _straight_line(table: Table) -> bool:
    own = _own(table)
    return any(own.issuperset(range(cell, cell + 4 * step, step)) for cell in own for step in (RIGHT, DOWN))


def _square(table: Table) -> bool:
    own = _own(table)
    return any(own.issuperset((cell + RIGHT, cell + DOWN, cell + DOWN + RIGHT)) for cell in own)


def _second_home(table: Table) -> bool:
    return sum([heads >= 4 for heads in _group_heads(table)]) >= 2


def _many_colonies(table: Table) -> bool:
    return sum([heads >= 2 for heads in _group_heads(table)]) >= 5


def _coast(table: Table) -> bool:
    own = _own(table)
    return sum([any(cell + step not in table.display for step in STEPS) for cell in own]) >= 6


def _crystal_guard(table: Table) -> bool:
    own = _own(table)
    crystals = [cell for cell, square in table.display.items() if square.shows == "crystal"]
    return sum([any(cell + step in own for step in STEPS) for cell in crystals]) >= 4


def _has_more_heads(table: Table, other: Seat) -> bool:
    return heads_of(table.display, table.monsters[table.seat]) > heads_of(table.display, table.monsters[other])


def _more_than_left(table: Table) -> bool:
    return _has_more_heads(table, left_of(table.seat, len(table.monsters)))


def _more_than_right(table: Table) -> bool:
    return _has_more_heads(table, right_of(table.seat, len(table.monsters)))


_FULFILLED: Final[Mapping[MissionId, Callable[[Table], bool]]] = {
    1: _straight_line,
    2: _square,
    3: _second_home,
    4: _many_colonies,
    5: _coast,
    6: _crystal_guard,
    7: _more_than_left,
    8: _more_than_right,
}
