"""The drawings of Monkeys on the Moon: emblems of the tribes, a monkey in a helmet, rockets, coins, Scorn and card
backs.
"""

from collections.abc import Mapping
from typing import Final

from service.games.drawing.svg import Element, art, circle, ellipse, path, rect

_EMBLEMS: Final[Mapping[str, str]] = {
    "brown": "M-8 -2Q-8 -8 0 -8Q8 -8 8 -2zM-7 0H7Q6 8 0 10Q-6 8 -7 0zM-1 -8V-11H1V-8z",
    "black": "M3 -9A9 9 0 1 0 8 6A8 8 0 0 1 3 -9z",
    "green": "M-8 8Q-10 -8 9 -9Q9 9 -6 6L3 -3L-7 5z",
    "blue": "M0 -10Q8 0 7 4A7 7 0 0 1 -7 4Q-8 0 0 -10z",
    "red": "M0 -10Q9 -3 7 4A7 6 0 0 1 -7 4Q-8 0 -4 -4Q-3 0 -1 0Q-3 -5 0 -10z",
    "purple": "M-5 -8H5L10 -2L0 9L-10 -2zM-10 -2H10",
}
"""A nut, a moon, a leaf, a drop, a flame and a gem. Emblems distinguish the tribes without colour."""

_MONKEY: Final = (
    circle(0, 0, 21, "helmet"),
    circle(-13, 1, 5, "skin"),
    circle(13, 1, 5, "skin"),
    circle(0, 0, 13, "fur-dark"),
    circle(-4, -2, 5, "skin"),
    circle(4, -2, 5, "skin"),
    ellipse(0, 5, 8, 6, "skin"),
    circle(-4, -2, 2, "black"),
    circle(4, -2, 2, "black"),
    path("M-4 7Q0 10 4 7", "stroke-dark"),
    path("M-13 -11Q-8 -17 -1 -18", "glint"),
)
_ROCKET: Final = (
    path("M-30 8Q-34 0 -30 -8L-22 -6V6z", "flame"),
    path("M-24 -9H8Q24 -8 32 0Q24 8 8 9H-24z", "hull"),
    path("M-24 -9L-30 -18H-14L-6 -9zM-24 9L-30 18H-14L-6 9z", "fin"),
    circle(14, 0, 4, "window"),
)
_DRAWN: Final = (
    *[art(f"emblem-{name}", path(d, "emblem")) for name, d in _EMBLEMS.items()],
    art("monkey", *_MONKEY),
    art("rocket", *_ROCKET),
    art("scorn", path("M-13 -11H13V3Q12 11 0 15Q-12 11 -13 3z", "scorn"), path("M-6 9Q0 4 6 9", "frown")),
    art("moonstone", circle(0, 0, 11, "moonstone"), circle(-3, -3, 3, "crater"), circle(4, 3, 2, "crater")),
    art("back", rect(-11, -15, 22, 30, "back", corner=4), path("M0 -8L6 0L0 8L-6 0z", "back-lines")),
    art("crown", path("M-10 7L-12 -6L-5 -1L0 -9L5 -1L12 -6L10 7z", "star")),
    art(
        "purse",
        path("M-7 -6Q-14 6 -8 11H8Q14 6 7 -6z", "purse"),
        path("M-8 -8H8", "purse-string"),
        circle(0, 3, 4, "coin"),
    ),
    art("star", path("M0 -8L2 -3H8L3 1L5 7L0 3L-5 7L-3 1L-8 -3H-2z", "star")),
)
ART: Final[Mapping[str, Element]] = {element.id.removeprefix("art-"): element for element in _DRAWN}
