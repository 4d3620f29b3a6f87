"""The drawings of Ape Town: six tile faces on hexagons, the back, free fields, and pieces that lie on tiles and
segments.
"""

from collections.abc import Mapping
from typing import Final

from service.games.drawing.svg import Element, art, circle, ellipse, path, points, rect, text

HEXAGON: Final = ((0, -36), (32, -18), (32, 18), (0, 36), (-32, 18), (-32, -18))
"""The corners of a cell of the board. Cells are 64 apart in a row; rows are 54 apart."""

_TILE: Final = points(((0, -32), (28, -16), (28, 16), (0, 32), (-28, 16), (-28, -16)))

_TARSIER: Final = (
    ellipse(-17, -13, 6, 10, "fur-sand"),
    ellipse(17, -13, 6, 10, "fur-sand"),
    circle(0, -2, 17, "fur-sand"),
    circle(-8, -4, 9, "white"),
    circle(8, -4, 9, "white"),
    circle(-7, -4, 5, "black"),
    circle(7, -4, 5, "black"),
    circle(-9, -6, 2, "white"),
    circle(5, -6, 2, "white"),
    ellipse(0, 7, 3, 2, "fur-dark"),
    path("M-5 11Q0 14 5 11", "stroke-dark"),
)
_CHIMPANZEE: Final = (
    circle(-18, -4, 7, "skin"),
    circle(18, -4, 7, "skin"),
    circle(0, -4, 17, "fur-dark"),
    circle(-6, -5, 7, "skin"),
    circle(6, -5, 7, "skin"),
    ellipse(0, 5, 11, 8, "skin"),
    circle(-5, -5, 3, "black"),
    circle(5, -5, 3, "black"),
    path("M-2 2H-1M2 2H1", "stroke-dark"),
    path("M-6 7Q0 11 6 7", "stroke-dark"),
)
_MANDRILL: Final = (
    path("M-17 -4Q-20 14 0 18Q20 14 17 -4z", "fur-gold"),
    circle(0, -7, 16, "fur-olive"),
    ellipse(-6, 3, 6, 11, "cheek"),
    ellipse(6, 3, 6, 11, "cheek"),
    path("M-3 -9H3L4 12H-4z", "nose"),
    ellipse(0, 12, 6, 4, "nose"),
    path("M-12 -10Q-6 -15 0 -10Q6 -15 12 -10", "stroke-dark"),
    circle(-6, -8, 2, "black"),
    circle(6, -8, 2, "black"),
)
_BANANA: Final = (
    path("M-15 -14Q-20 10 10 17L12 13Q-8 6 -9 -15z", "peel"),
    path("M-9 -17Q-10 6 16 11L17 7Q2 2 -2 -17z", "peel-light"),
    path("M-3 -18Q0 0 19 3L19 -1Q8 -3 4 -17z", "peel"),
    path("M-16 -14L-9 -19L4 -18L3 -13L-9 -14z", "fur-dark"),
)
_LEMUR: Final = (
    path("M-18 -18L-6 -15L-15 -4zM18 -18L6 -15L15 -4z", "fur-grey"),
    circle(0, -2, 16, "fur-grey"),
    path("M0 -13Q-15 -10 -12 4Q-6 16 0 16Q6 16 12 4Q15 -10 0 -13z", "white"),
    ellipse(-6, -3, 5, 6, "black"),
    ellipse(6, -3, 5, 6, "black"),
    circle(-6, -3, 3, "amber"),
    circle(6, -3, 3, "amber"),
    circle(-6, -3, 1, "black"),
    circle(6, -3, 1, "black"),
    path("M-4 7H4L0 12z", "black"),
)
_ORANGUTAN: Final = (
    path("M-20 8Q-23 -22 0 -22Q23 -22 20 8Q12 20 0 20Q-12 20 -20 8z", "fur-rust"),
    ellipse(-11, -1, 7, 12, "fur-dark"),
    ellipse(11, -1, 7, 12, "fur-dark"),
    ellipse(0, 1, 10, 14, "skin"),
    circle(-4, -5, 2, "black"),
    circle(4, -5, 2, "black"),
    ellipse(0, 8, 8, 6, "skin-light"),
    path("M-5 9Q0 12 5 9M-2 4H-1M2 4H1", "stroke-dark"),
)

_GLYPHS: Final[Mapping[str, tuple[Element, ...]]] = {
    "white": (circle(0, 0, 7, "glyph"),),
    "grey": (circle(0, 0, 7, "glyph"), path("M0 -7A7 7 0 0 1 0 7z", "glyph-half")),
    "black": (circle(0, 0, 7, "glyph-half"),),
}
"""The districts' colours as shapes: an empty circle, a half-filled one and a filled one."""


def _tile(kind: str, face: tuple[Element, ...], value: int | None = None) -> Element:
    worth = () if value is None else (circle(0, 25, 7, "pip"), text(0, 29, value, "pip-word"))
    return art(f"tile-{kind}", path(_TILE, f"tile tile-{kind}"), *face, *worth)


_DRAWN: Final = (
    _tile("tarsier", _TARSIER, 1),
    _tile("chimpanzee", _CHIMPANZEE, 2),
    _tile("mandrill", _MANDRILL, 3),
    _tile("banana", _BANANA),
    _tile("lemur", _LEMUR),
    _tile("orangutan", _ORANGUTAN),
    art(
        "tile-back",
        path(_TILE, "tile tile-back"),
        path("M0 -18L16 -9V9L0 18L-16 9V-9zM0 -18V18M-16 -9L16 9M16 -9L-16 9", "tile-back-lines"),
    ),
    *[art(f"glyph-{colour}", *shapes) for colour, shapes in _GLYPHS.items()],
    *[art(f"field-{colour}", path(points(HEXAGON), f"field {colour}")) for colour in _GLYPHS],
    art("rim", path(_TILE, "rim")),
    art("coin", circle(0, 0, 11, "coin"), circle(0, 0, 8, "coin-ring")),
    art("disc", circle(0, 0, 9, "disc"), circle(0, 0, 4, "disc-ring")),
    art("pond", path(points(HEXAGON), "pond"), path("M-20 -6Q-12 -12 -4 -6T12 -6M-8 8Q0 2 8 8T24 8", "wave")),
    art("sign", rect(-2, -4, 4, 22, "fur-dark"), path("M-22 -18H14L22 -9L14 0H-22z", "sign")),
)
ART: Final[Mapping[str, Element]] = {element.id.removeprefix("art-"): element for element in _DRAWN}
