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


def _own(at: Table) -> set[Cell]:
    return {cell for cell, square in at.display.items() if square.shows == at.monsters[at.seat]}


def _group_heads(at: Table) -> list[int]:
    return [group.heads for group in groups(at.display, at.monsters[at.seat], at.walled)]


def _straight_line(at: Table) -> bool:
    own = _own(at)
    return any(own.issuperset(range(cell, cell + 4 * step, step)) for cell in own for step in (RIGHT, DOWN))


def _square(at: Table) -> bool:
    own = _own(at)
    return any(own.issuperset((cell + RIGHT, cell + DOWN, cell + DOWN + RIGHT)) for cell in own)


def _second_home(at: Table) -> bool:
    return sum([heads >= 4 for heads in _group_heads(at)]) >= 2


def _many_colonies(at: Table) -> bool:
    return sum([heads >= 2 for heads in _group_heads(at)]) >= 5


def _coast(at: Table) -> bool:
    own = _own(at)
    return sum([any(cell + step not in at.display for step in STEPS) for cell in own]) >= 6


def _crystal_guard(at: Table) -> bool:
    own = _own(at)
    crystals = [cell for cell, square in at.display.items() if square.shows == "crystal"]
    return sum([any(cell + step in own for step in STEPS) for cell in crystals]) >= 4


def _has_more_heads(at: Table, other: Seat) -> bool:
    return heads_of(at.display, at.monsters[at.seat]) > heads_of(at.display, at.monsters[other])


def _more_than_left(at: Table) -> bool:
    return _has_more_heads(at, left_of(at.seat, len(at.monsters)))


def _more_than_right(at: Table) -> bool:
    return _has_more_heads(at, right_of(at.seat, len(at.monsters)))


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
