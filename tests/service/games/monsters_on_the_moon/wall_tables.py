"""States with walls, and a second, simple implementation of the wall rules: squares are pairs, and edges are not
numbered.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import AnyAction, EndTurn, PlaceWall
from service.games.monsters_on_the_moon.components import CardId
from service.games.monsters_on_the_moon.effects import AreaEnclosed
from service.games.monsters_on_the_moon.grid import cell_at, coordinates_of
from service.games.monsters_on_the_moon.state import State, Turn, Wall
from service.games.visibility import Seat
from tests.service.games.monsters_on_the_moon.builders import after, decide, table, with_display, with_holdings

Pair: TypeAlias = tuple[int, int]
Border: TypeAlias = frozenset[Pair]
"""The two squares on the sides of an edge."""

WALLS: Final[Mapping[str, object]] = {"walls": True}
SIDES: Final = ((0, -1), (-1, 0), (1, 0), (0, 1))


def wall(text: str) -> PlaceWall:
    """Parses a wall such as `h 0 0 2`: orientation, x, y, and length (1 by default)."""
    orientation, x, y, length = [*text.split(), "1"][:4]
    return PlaceWall(int(x), int(y), "h" if orientation == "h" else "v", 2 if length == "2" else 1)


def walls(*texts: str) -> list[PlaceWall]:
    return [wall(text) for text in texts]


def builder(
    picture: str, *, seats: int = 2, long: int = 3, short: int = 9, hand: tuple[CardId, ...] = ("A07",)
) -> State:
    """Seat 0, the werewolf, begins a turn on a picture, with these numbers of walls left."""
    state = with_display(table(seats, options=WALLS), picture)
    state = replace(state, active=0, awaited=0, step="place_card", turn=Turn(), pile=())
    return with_holdings(state, 0, hand=hand, long_walls=long, short_walls=short, ships=0)


def built(state: State, *texts: str, seat: Seat = 1) -> State:
    """The state with walls of earlier turns, and the areas that they enclose."""
    laid = [Wall(each.x, each.y, each.orientation, each.length, seat) for each in walls(*texts)]
    state = replace(state, walls=(*state.walls, *laid))
    areas = sorted(sorted(cell_at(*pair) for pair in area) for area in networkx_areas(state))
    return replace(state, areas=tuple(tuple(area) for area in areas))


def ring(x: int, y: int, width: int, height: int) -> list[str]:
    """Short walls around a rectangle."""
    across = [f"h {x + at} {line}" for line in (y, y + height) for at in range(width)]
    return across + [f"v {line} {y + at}" for line in (x, x + width) for at in range(height)]


def borders(laid: PlaceWall | Wall) -> list[Border]:
    """The edges on which a wall lies."""
    if laid.orientation == "h":
        return [frozenset({(laid.x + at, laid.y - 1), (laid.x + at, laid.y)}) for at in range(laid.length)]
    return [frozenset({(laid.x - 1, laid.y + at), (laid.x, laid.y + at)}) for at in range(laid.length)]


def points(laid: PlaceWall | Wall) -> list[Pair]:
    """The grid points that a wall touches. Each is named by the square on its lower right."""
    right = laid.orientation == "h"
    return [(laid.x + (at if right else 0), laid.y + (0 if right else at)) for at in range(laid.length + 1)]


def networkx_areas(state: State) -> list[set[Pair]]:
    """The enclosed areas, computed by networkx on a rectangle that is larger than needed."""
    import networkx as nx  # type: ignore[import-untyped]  # noqa: PLC0415  (not in every test process)

    separated = {border for each in state.walls for border in borders(each)}
    if not separated:
        return []
    pairs = [pair for border in separated for pair in border] + [coordinates_of(cell) for cell in state.display]
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    columns, rows = range(min(xs) - 2, max(xs) + 3), range(min(ys) - 2, max(ys) + 3)
    squares = {(x, y) for x in columns for y in rows}
    graph = nx.Graph()
    graph.add_nodes_from(squares)
    graph.add_edges_from(
        ((x, y), side)
        for x, y in squares
        for side in ((x + 1, y), (x, y + 1))
        if side in squares and frozenset({(x, y), side}) not in separated
    )
    return [area for area in nx.connected_components(graph) if (columns[0], rows[0]) not in area]


def is_possible(state: State, action: PlaceWall, laid: Sequence[PlaceWall]) -> bool:
    """Whether a wall may follow those of the turn, without regard to further walls (MON-62, MON-63)."""
    taken: list[PlaceWall | Wall] = [*state.walls, *laid]
    edges = borders(action)
    shown = {coordinates_of(cell) for cell in state.display}
    areas = {coordinates_of(cell) for area in state.areas for cell in area}
    lies_over = any(border in borders(other) for other in taken for border in edges)
    crosses = action.length == 2 and any(other.length == 2 and points(other)[1] == points(action)[1] for other in taken)
    touches = not laid or any(set(points(other)) & set(points(action)) for other in laid)
    return (
        all(border & shown for border in edges)
        and not lies_over
        and not crosses
        and touches
        and not any(border & areas for border in edges)
    )


def all_walls(state: State) -> list[PlaceWall]:
    """All walls near the display, legal or not, row by row."""
    pairs = [coordinates_of(cell) for cell in state.display]
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    return [
        PlaceWall(x, y, orientation, length)
        for y in range(min(ys) - 2, max(ys) + 3)
        for x in range(min(xs) - 2, max(xs) + 3)
        for orientation in ("h", "v")
        for length in (1, 2)
    ]


def literal_walls(state: State) -> list[PlaceWall]:
    """The legal walls of the active seat, computed literally from the clauses."""
    held = state.seats[state.active]
    laid = [PlaceWall(each.x, each.y, each.orientation, each.length) for each in state.walls]
    before = replace(state, walls=state.walls[: len(laid) - state.turn.walls])
    turn = laid[len(laid) - state.turn.walls :]
    choices = [action for action in all_walls(state) if is_possible(before, action, ())]

    def reaches(chosen: list[PlaceWall], long: int, short: int) -> bool:
        if min(long, short) < 0:
            return False
        return len(chosen) >= 3 or any(
            reaches([*chosen, action], long - (action.length == 2), short - (action.length == 1))
            for action in choices
            if (long if action.length == 2 else short) and is_possible(before, action, chosen)
        )

    return [
        action
        for action in choices
        if is_possible(before, action, turn)
        and reaches([*turn, action], held.long_walls - (action.length == 2), held.short_walls - (action.length == 1))
    ]


def listed(actions: Iterable[AnyAction]) -> list[PlaceWall]:
    return [action for action in actions if isinstance(action, PlaceWall)]


def areas_enclosed_by(state: State, *texts: str) -> list[set[Pair]]:
    """The areas that a turn with these walls encloses, from its last effects."""
    for action in walls(*texts):
        effects = decide(state, action)
        state = after(state, effects)
    if state.step == "place_wall":
        effects = decide(state, EndTurn())
    return [
        {(square.x, square.y) for square in effect.squares} for effect in effects if isinstance(effect, AreaEnclosed)
    ]
