"""Moon walls: where they may lie, and the areas at the end of a turn with walls (MON-61 to MON-63)."""

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final

from service.games.monsters_on_the_moon.actions import PlaceWall
from service.games.monsters_on_the_moon.areas import enclosed_areas
from service.games.monsters_on_the_moon.edges import (
    SIDES,
    Edge,
    Length,
    Point,
    Span,
    cells_beside,
    edge_coordinates,
    edges_near,
    span_at,
    span_from,
)
from service.games.monsters_on_the_moon.grid import Cell
from service.games.monsters_on_the_moon.state import Holdings, State, enclosed_cells, walled_edges
from service.games.protocol import IllegalAction
from service.games.visibility import Seat

MIN_WALLS: Final = 3
MAX_WALLS: Final = 5
"""The fewest and the most walls in a turn with walls (MON-61)."""
_LENGTHS: Final[tuple[Length, ...]] = (1, 2)


def spans_laid(state: State) -> list[Span]:
    """All walls on the table, the latest last."""
    return [span_at(wall.x, wall.y, wall.orientation, wall.length) for wall in state.walls]


def first_walls(state: State, seat: Seat) -> Iterator[PlaceWall]:
    """The walls with which a seat may begin a turn, row by row. Two more walls must remain possible."""
    held = state.seats[seat]
    if held.long_walls + held.short_walls < MIN_WALLS:
        return
    search = _WallSearch(state, held)
    for edge in sorted({2 * cell + side for cell in state.display for side in SIDES.values()}):
        for span in search.walls_from(edge):
            if search.can_reach((span,), MIN_WALLS - 1):
                yield _action(span)


def next_walls(state: State) -> Iterator[PlaceWall]:
    """The walls that may follow those of this turn, row by row.

    Each touches one of them, and a third wall must remain possible.
    """
    search = _WallSearch(state, state.seats[state.active])
    laid = search.laid[-state.turn.walls :]
    missing = MIN_WALLS - 1 - len(laid)
    points = {point for span in laid for point in span.points}
    for span in sorted({span for point in points for span in search.walls_touching(point)}):
        if missing <= 0 or search.can_reach((*laid, span), missing):
            yield _action(span)


def check_wall(state: State, action: PlaceWall) -> None:
    """Raise IllegalAction if the wall may not lie there now."""
    if state.turn.ship:
        raise IllegalAction("turn-is-for-a-card", "MON-61")
    held = state.seats[state.active]
    if not _count_held(held, action.length):
        raise IllegalAction("no-such-wall-left", "MON-60", length=action.length)
    position = {"x": action.x, "y": action.y}
    span = span_at(action.x, action.y, action.orientation, action.length)
    laid = spans_laid(state)
    if any(state.display.keys().isdisjoint(cells_beside(edge)) for edge in span.edges):
        raise IllegalAction("wall-beside-no-square", "MON-62", **position)
    if not walled_edges(state).isdisjoint(span.edges):
        raise IllegalAction("wall-on-a-wall", "MON-62", **position)
    if span.crossing is not None and span.crossing in {one.crossing for one in laid}:
        raise IllegalAction("walls-cross", "MON-62", **position)
    if not enclosed_cells(state).isdisjoint(chain(*map(cells_beside, span.edges))):
        raise IllegalAction("wall-in-an-area", "MON-63", **position)
    turn = laid[len(laid) - state.turn.walls :]
    if turn and not any(set(one.points).intersection(span.points) for one in turn):
        raise IllegalAction("wall-touches-none", "MON-62", **position)
    missing = MIN_WALLS - 1 - len(turn)
    if missing > 0 and not _WallSearch(state, held).can_reach((*turn, span), missing):
        raise IllegalAction("three-walls-out-of-reach", "MON-61", **position)


def new_areas(state: State) -> list[tuple[Cell, ...]]:
    """The areas that the walls of this turn enclosed. Earlier areas do not change (MON-63)."""
    known = set(state.areas)
    return [area for area in enclosed_areas(walled_edges(state)) if area not in known]


def _count_held(held: Holdings, length: int) -> int:
    return held.short_walls if length == 1 else held.long_walls


def _action(span: Span) -> PlaceWall:
    return PlaceWall(*edge_coordinates(span.edges[0]), _LENGTHS[len(span.edges) - 1])


class _WallSearch:
    """The possible walls of a seat, independent of the walls laid in this turn (MON-62, MON-63), and chains of them
    (MON-61).

    Results are computed on demand and cached, so finding the first wall does not require finding all.
    """

    def __init__(self, state: State, held: Holdings) -> None:
        self.laid: Final = tuple(spans_laid(state))
        self._held = held
        self._display = state.display
        self._areas = enclosed_cells(state)
        self._walled = {edge for span in self.laid for edge in span.edges}
        self._crossings = {span.crossing for span in self.laid}
        self._from_edge: dict[Edge, list[Span]] = {}
        self._at_point: dict[Point, list[Span]] = {}

    def walls_from(self, edge: Edge) -> list[Span]:
        """The walls that may lie with this as their first edge, the short one first."""
        found = self._from_edge.get(edge)
        if found is None:
            found = self._from_edge[edge] = []
            if self._is_free(edge):
                if self._held.short_walls:
                    found.append(span_from(edge, 1))
                if self._held.long_walls:
                    span = span_from(edge, 2)
                    if self._is_free(span.edges[1]) and span.points[1] not in self._crossings:
                        found.append(span)
        return found

    def walls_touching(self, point: Point) -> list[Span]:
        """The walls that may lie so that they touch a point."""
        found = self._at_point.get(point)
        if found is None:
            spans = [span for edge in edges_near(point) for span in self.walls_from(edge)]
            found = self._at_point[point] = [span for span in spans if point in span.points]
        return found

    def _is_free(self, edge: Edge) -> bool:
        if edge in self._walled:
            return False
        one, other = cells_beside(edge)
        # No wall lies between these two cells, so both are in the same area, or none is in any. One check is enough.
        return (one in self._display or other in self._display) and other not in self._areas

    def can_reach(self, spans: tuple[Span, ...], missing: int, *, new: int = 1) -> bool:
        """Whether `missing` more walls can follow, each touching an earlier one.

        The last `new` of `spans` are not laid yet, so the seat still holds them.
        """
        if missing == 0:
            return True
        fresh = spans[-new:]
        long = self._held.long_walls - sum([len(span.edges) > 1 for span in fresh])
        short = self._held.short_walls - sum([len(span.edges) == 1 for span in fresh])
        for point in chain(*[span.points for span in spans]):
            for span in self.walls_touching(point):
                left = long if len(span.edges) > 1 else short
                if left and _is_compatible(span, fresh) and self.can_reach((*spans, span), missing - 1, new=new + 1):
                    return True
        return False


def _is_compatible(span: Span, others: Collection[Span]) -> bool:
    """Whether a wall neither overlaps nor crosses any of the others."""
    for other in others:
        if any(edge in other.edges for edge in span.edges):
            return False
        if len(span.edges) > 1 and span.crossing == other.crossing:
            return False
    return True
