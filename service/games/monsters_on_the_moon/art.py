"""The drawings of Monsters on the Moon: squares, and the pieces that lie on squares and on the track."""

from collections.abc import Mapping
from typing import Final

from service.games.drawing.svg import Element, art, circle, ellipse, path, rect, use
from service.games.monsters_on_the_moon.components import Monster

CELL: Final = 48
"""Width and height of a square in the drawing of the display."""

_HEADS: Final[Mapping[Monster, tuple[Element, ...]]] = {
    "werewolf": (
        path("M-16 -18L-6 -12H6L16 -18L17 2Q12 17 0 18Q-12 17 -17 2z", "fur-wolf"),
        path("M-13 -12L-7 -9L-13 -3zM13 -12L7 -9L13 -3z", "fur-dark"),
        path("M-9 2Q0 -6 9 2L5 14Q0 17 -5 14z", "muzzle"),
        path("M-11 -4L-4 -1L-9 2zM11 -4L4 -1L9 2z", "amber"),
        ellipse(0, 4, 4, 3, "black"),
        path("M-5 11L-3 15L-1 11L1 11L3 15L5 11", "fang"),
    ),
    "witch": (
        path("M-15 16Q-18 -2 -10 -6H10Q18 -2 15 16L10 8H-10z", "fur-rust"),
        circle(0, 4, 11, "witch-skin"),
        path("M-19 -3Q0 -10 19 -3L9 -7L3 -21L-9 -7z", "black rimmed"),
        path("M-9 -6Q0 -9 9 -6L8 -9Q0 -11 -8 -9z", "nose"),
        circle(-4, 2, 2, "black"),
        circle(4, 2, 2, "black"),
        path("M0 2L3 8H-1", "stroke-dark"),
        path("M-5 11Q0 14 5 11", "stroke-dark"),
    ),
    "vampire": (
        path("M-19 19L-14 6H14L19 19Q0 12 -19 19z", "nose"),
        ellipse(-13, 0, 3, 5, "pale"),
        ellipse(13, 0, 3, 5, "pale"),
        ellipse(0, 0, 13, 16, "pale"),
        path("M-14 0Q-16 -18 0 -18Q16 -18 14 0Q10 -9 5 -8L0 -2L-5 -8Q-10 -9 -14 0z", "black rimmed"),
        circle(-5, 1, 2, "nose"),
        circle(5, 1, 2, "nose"),
        path("M-6 8H6", "stroke-dark"),
        path("M-4 8L-3 13L-1 8M1 8L3 13L4 8", "fang"),
    ),
    "skeleton": (
        path("M-15 -3A15 15 0 0 1 15 -3Q15 5 9 8V15H-9V8Q-15 5 -15 -3z", "bone"),
        circle(-6, -1, 5, "black"),
        circle(6, -1, 5, "black"),
        path("M0 4L2 8H-2z", "black"),
        path("M-5 11V15M0 11V15M5 11V15", "stroke-dark"),
    ),
}
_RIM: Final = rect(3, 3, CELL - 6, CELL - 6, "lit")
"""Visible only on a square that is marked as changed."""
_MIDDLE: Final = (CELL // 2, CELL // 2)
_PAIR: Final = ((15, 16), (33, 32))


def _ground(kind: str) -> Element:
    return rect(0, 0, CELL, CELL, f"square on-{kind}")


def _square(monster: Monster, heads: int) -> Element:
    head = f"head-{monster}"
    faces = [use(head, *_MIDDLE)] if heads == 1 else [use(head, *at, scale_permille=640) for at in _PAIR]
    return art(f"{monster}-{heads}", _ground(monster), *faces, _RIM)


_DRAWN: Final = (
    *[_square(monster, heads) for monster in _HEADS for heads in (1, 2)],
    *[art(f"head-{monster}", *head) for monster, head in _HEADS.items()],
    art(
        "crystal-0",
        _ground("crystal"),
        path("M24 6L33 18L28 40H20L15 18z", "crystal"),
        path("M24 6L24 40M15 18L24 22L33 18", "crystal-lines"),
        path("M10 26L15 30L14 40H8L6 31zM38 28L42 33L40 41H34L34 32z", "crystal"),
        _RIM,
    ),
    art(
        "empty-0",
        _ground("empty"),
        circle(15, 16, 6, "pit"),
        circle(34, 30, 8, "pit"),
        circle(17, 37, 3, "pit"),
        circle(37, 11, 3, "pit"),
        _RIM,
    ),
    art(
        "armstrong-0",
        _ground("empty"),
        rect(13, 22, 22, 18, "suit", corner=6),
        circle(24, 16, 11, "suit"),
        rect(16, 11, 16, 10, "visor", corner=5),
        path("M36 24V6M36 6H46V13H36", "flag"),
        rect(19, 29, 10, 6, "visor", corner=2),
        _RIM,
    ),
    art(
        "base_camp-0",
        _ground("empty"),
        path("M6 38A18 18 0 0 1 42 38z", "suit"),
        path("M18 38A6 8 0 0 1 30 38z", "visor"),
        path("M24 20V8M24 8H33V13H24", "flag"),
        path("M12 29H36", "crystal-lines"),
        _RIM,
    ),
    art(
        "spaceship",
        path("M0 -16Q9 -6 7 8H-7Q-9 -6 0 -16zM-7 0L-13 10L-6 8zM7 0L13 10L6 8z", "spaceship"),
        circle(0, -4, 3, "window"),
    ),
    art("plate-rim", rect(3, 3, CELL - 6, CELL - 6, "plate-rim", corner=6)),
    art("plate", rect(-9, -9, 18, 18, "plate", corner=4)),
    art("gem", path("M0 -9L7 -3L4 9H-4L-7 -3z", "crystal"), path("M-7 -3L0 0L7 -3M0 0V9", "crystal-lines")),
    art(
        "night-back",
        rect(-10, -7, 20, 14, "night-back", corner=3),
        path("M-5 0A5 5 0 1 0 3 -4A4 4 0 0 1 -5 0z", "glint-moon"),
    ),
    art("mission", rect(-8, -10, 16, 20, "mission", corner=3), path("M-4 -5H4M-4 0H4M-4 5H1", "stroke-dark")),
)
ART: Final[Mapping[str, Element]] = {element.id.removeprefix("art-"): element for element in _DRAWN}
