"""Draws the display: the visible squares by card, the pieces on them, the walls, and the bare table around.

A square keeps its position in the coordinates of the display. The whole display is moved and scaled to fit.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from service.games.drawing import frame
from service.games.drawing.svg import Element, Point, group, path, use
from service.games.monsters_on_the_moon.art import CELL
from service.games.monsters_on_the_moon.squares import SquareAt
from service.games.monsters_on_the_moon.state import Wall
from service.games.monsters_on_the_moon.view import Observation

SIZE: Final = (860, 604)
"""Width and height of the region in which the display is drawn."""

Spot: TypeAlias = tuple[int, int]
"""The x and y of a square."""

_SQUARE_PATH: Final = f"h{CELL}v{CELL}h-{CELL}z"
"""A path around a square, from its top left corner."""
_CARD_REACH: Final = 3
"""Distance in squares, along a row or a column, up to which the next card can reach beyond the display."""
_CORNER_REACH: Final = 4
"""The same distance around a corner, as the sum of both directions."""
_STEPS: Final = tuple(
    [
        (x, y)
        for y in range(-_CARD_REACH, _CARD_REACH + 1)
        for x in range(-_CARD_REACH, _CARD_REACH + 1)
        if 0 < abs(x) + abs(y) <= _CORNER_REACH
    ]
)
_CORNERS: Final = tuple(
    {
        (x + right, y + down)
        for portrait in (False, True)
        for x, y in [(index % 2, index // 2) if portrait else (index % 3, index // 3) for index in range(6)]
        for right, down in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    }
)
"""The steps from the top left square of a card, in either shape, to the squares that it covers or touches."""


class _Box(NamedTuple):
    """A rectangle of squares; all four limits are inclusive."""

    left: int
    top: int
    right: int
    bottom: int


def display(seen: Observation, at: Point, *, cards: bool, walls: bool) -> Element:
    """The display.

    With `cards`, the squares where the viewer can lay a card have data attributes; with `walls`, the edges where it can
    lay a wall.
    """
    visible = {(square.x, square.y) for square in seen.display}
    if not visible:  # before all gifts are given
        return group(at=at)
    bare = sorted({(x + right, y + down) for x, y in visible for right, down in _STEPS} - visible, key=_row_by_row)
    corners = {(x - right, y - down) for x, y in visible for right, down in _CORNERS} - visible if cards else set()
    box = _box([*visible, *bare])
    scale_permille = _scale(box)
    width, height = (box.right - box.left + 1) * CELL, (box.bottom - box.top + 1) * CELL
    x = at[0] + (SIZE[0] - width * scale_permille // 1000) // 2 - box.left * CELL * scale_permille // 1000
    y = at[1] + (SIZE[1] - height * scale_permille // 1000) // 2 - box.top * CELL * scale_permille // 1000
    return group(
        path("".join([_outline(x, y) for x, y in bare if (x, y) not in corners]), "bare"),
        group(*_by_rows(corners, _SQUARE_PATH), css_class="bare"),
        *_cards(seen),
        path("".join(_seams(seen.display)), "seam"),
        *[path("".join([_outline(square.x, square.y) for square in area]), "area") for area in seen.areas],
        *([group(*_lines(seen, visible), css_class="line")] if walls else ()),
        *[_wall(wall) for wall in seen.walls],
        at=(x, y),
        scale_permille=scale_permille,
    )


def _row_by_row(spot: Spot) -> tuple[int, int]:
    return spot[1], spot[0]


def _box(spots: Iterable[Spot]) -> _Box:
    columns, rows = zip(*spots, strict=True)
    return _Box(min(columns), min(rows), max(columns), max(rows))


def _scale(box: _Box) -> int:
    """The largest scale (permille) that fits, at most 1000."""
    across = 1000 * SIZE[0] // ((box.right - box.left + 1) * CELL)
    down = 1000 * SIZE[1] // ((box.bottom - box.top + 1) * CELL)
    return min(across, down, 1000)


def _outline(x: int, y: int) -> str:
    return f"M{x * CELL} {y * CELL}{_SQUARE_PATH}"


def _cards(seen: Observation) -> Iterator[Element]:
    """The cards in the order in which they were laid, each with its visible squares."""
    ships = {(ship.x, ship.y): ship.seat for ship in seen.ships}
    plates = {(plate.x, plate.y): plate.seat for plate in seen.plates}
    squares: dict[str, list[Element]] = {}
    for square in seen.display:
        x, y = square.x * CELL, square.y * CELL
        drawing = f"{square.shows}-{square.heads}"
        element_id, data = f"square-{square.x}-{square.y}", {"x": square.x, "y": square.y}
        shapes = squares.setdefault(square.card, [])
        shapes.append(use(drawing, x, y, element_id=element_id, data=data))
        if (owner := plates.get((square.x, square.y))) is not None:
            mark = frame.mark(owner, x + 39, y + 9, 550)
            shapes.append(group(use("plate-rim", x, y), mark, element_id=f"plate-{square.x}-{square.y}"))
        if (owner := ships.get((square.x, square.y))) is not None:
            parts = (use("spaceship", x + 20, y + 24, f"seat-{owner}"), frame.mark(owner, x + 37, y + 36, 700))
            shapes.append(group(*parts, element_id=f"spaceship-{square.x}-{square.y}"))
    for laid in seen.laid:
        if laid.card in squares:
            yield group(*squares[laid.card], element_id=f"card-{laid.card}")


def _seams(squares: Iterable[SquareAt]) -> Iterator[str]:
    """The lines between squares of different cards, and around the display."""
    cards = {(square.x, square.y): square.card for square in squares}
    for (x, y), card in cards.items():
        if cards.get((x - 1, y)) != card:
            yield f"M{x * CELL} {y * CELL}v{CELL}"
        if cards.get((x, y - 1)) != card:
            yield f"M{x * CELL} {y * CELL}h{CELL}"
        if (x + 1, y) not in cards:
            yield f"M{(x + 1) * CELL} {y * CELL}v{CELL}"
        if (x, y + 1) not in cards:
            yield f"M{x * CELL} {(y + 1) * CELL}h{CELL}"


def _lines(seen: Observation, visible: set[Spot]) -> list[Element]:
    """The edges of visible squares that have no wall, without those inside enclosed areas."""
    covered = {edge for wall in seen.walls for edge in _edges_of(wall)}
    closed = {(square.x, square.y) for area in seen.areas for square in area}
    found: dict[str, list[Element]] = {}
    for orientation, (right, down) in (("h", (0, 1)), ("v", (1, 0))):
        spots = visible | {(x + right, y + down) for x, y in visible}
        free = [
            (x, y)
            for x, y in spots
            if (x, y, orientation) not in covered and not {(x, y), (x - right, y - down)} <= closed
        ]
        found[orientation] = _by_rows(free, f"{orientation}{CELL}")
    return [group(*rows, data={"orientation": orientation}) for orientation, rows in found.items()]


def _by_rows(spots: Iterable[Spot], d: str) -> list[Element]:
    """The same path at each of these squares. Groups carry the y of a row, and paths the x."""
    rows: dict[int, list[Element]] = {}
    for x, y in sorted(spots, key=lambda spot: (spot[1], spot[0])):
        rows.setdefault(y, []).append(path(f"M{x * CELL} {y * CELL}{d}", "", data={"x": x}))
    return [group(*row, data={"y": y}) for y, row in rows.items()]


def _edges_of(wall: Wall) -> list[tuple[int, int, str]]:
    right, down = (1, 0) if wall.orientation == "h" else (0, 1)
    return [(wall.x + right * step, wall.y + down * step, wall.orientation) for step in range(wall.length)]


def _wall(wall: Wall) -> Element:
    """A wall in its seat's colour, with the seat's mark in the middle."""
    length = CELL * wall.length
    right, down = (length, 0) if wall.orientation == "h" else (0, length)
    x, y = wall.x * CELL, wall.y * CELL
    return group(
        path(f"M{x} {y}l{right} {down}", "wall-shadow edge"),
        path(f"M{x} {y}l{right} {down}", f"wall seat-{wall.seat}-line"),
        frame.mark(wall.seat, x + right // 2, y + down // 2, 450),
        element_id=f"wall-{wall.x}-{wall.y}-{wall.orientation}-{wall.length}",
    )
