"""The drawings of 4 Monkeys: the four figures, the needs of combos, and the small signs beside a seat."""

from collections.abc import Iterator, Mapping
from typing import Final

from service.games.drawing.svg import UNSCALED, Element, Point, art, circle, group, path, points, rect
from service.games.four_monkeys.components import BOX, FIGURES, Card, Colour, Figure, Need

_FIGURES: Final[Mapping[Figure, Element]] = {
    "circle": circle(0, 0, 9, "figure"),
    "triangle": path(points(((0, -10), (10, 8), (-10, 8))), "figure"),
    "square": rect(-8, -8, 16, 16, "figure"),
    "pentagon": path(points(((0, -10), (10, -2), (6, 9), (-6, 9), (-10, -2))), "figure"),
}
CARD: Final = (54, 78)
"""Width and height of a figure card."""
SMALL: Final = (22, 15)
"""Width and height of a card that lies under a tile."""

_IN_ROW: Final = 4
_STEP: Final = 13


def _need(need: Need) -> tuple[Element, ...]:
    """The need of a combo: groups of figures, each drawn with another figure; golden buttons; or cards of one colour."""
    if need.golden is not None:
        return tuple([_button(x) for x in _spread(need.golden, 22)])
    if need.same_colour_cards is not None:
        return tuple([rect(x - 5, -9, 10, 16, "need-card", corner=2) for x in _spread(need.same_colour_cards, _STEP)])
    rows = [*_rows(need.groups or ())]
    top = -(len(rows) - 1) * _STEP // 2
    return tuple(
        [
            group(_FIGURES[figure], at=(x, top + _STEP * number), scale_permille=550, css_class="need")
            for number, row in enumerate(rows)
            for figure, x in zip(row, _spread(len(row), _STEP), strict=True)
        ]
    )


def _rows(groups: tuple[int, ...]) -> Iterator[list[Figure]]:
    """Rows of at most four figures. If any group is larger than two, each group begins a row."""
    named = list(zip(FIGURES, groups, strict=False))
    if all(size <= 2 for _, size in named):
        whole = [figure for figure, size in named for _ in range(size)]
        yield from (whole[first : first + _IN_ROW] for first in range(0, len(whole), _IN_ROW))
        return
    for figure, size in named:
        half = (size + 1) // 2 if size > _IN_ROW else size
        yield [figure] * half
        if size > half:
            yield [figure] * (size - half)


def _spread(count: int, step: int, middle: int = 0) -> range:
    left = middle - (count - 1) * step // 2
    return range(left, left + count * step, step)


def _button(x: int) -> Element:
    return group(circle(0, 0, 9, "button"), circle(0, 0, 5, "button-ring"), at=(x, 0))


def _card(colour: Colour, card: Card) -> Element:
    """A figure card.

    One to four dots show the colour of its deck. If its figures are equal, one of them has a golden button.
    """
    width, height = CARD
    return art(
        f"card-{colour}-{pair_of(card)}",
        rect(0, 0, width, height, f"deck-{colour} card", corner=7),
        rect(5, 5, width - 10, height - 21, "figures", corner=4),
        *_figures(card, ((width // 2, 20), (width // 2, 44)), UNSCALED),
        *[circle(x, height - 8, 3, "deck-dot") for x in _spread(BOX.colours.index(colour) + 1, 8, width // 2)],
    )


def _small_card(colour: Colour, card: Card) -> Element:
    """The visible edge of a figure card that lies under a tile."""
    width, height = SMALL
    return art(
        f"small-{colour}-{pair_of(card)}",
        rect(0, 0, width, height, f"deck-{colour} small-card", corner=3),
        rect(2, 2, width - 4, height - 4, "figures", corner=2),
        *_figures(card, ((7, height // 2), (width - 7, height // 2)), 450),
    )


def _figures(card: Card, positions: tuple[Point, Point], scale_permille: int) -> list[Element]:
    golden = [group(circle(0, 0, 14, "button"), at=positions[0], scale_permille=scale_permille)] if card.golden else []
    return [
        *golden,
        *[
            group(_FIGURES[figure], at=index, scale_permille=scale_permille)
            for figure, index in zip(figures_of(card), positions, strict=True)
        ],
    ]


def figures_of(card: Card) -> tuple[Figure, ...]:
    """The two figures of a card."""
    return tuple([figure for figure, count in zip(FIGURES, card.counts, strict=True) for _ in range(count)])


def pair_of(card: Card) -> str:
    """The two figures of a card, written as in its id."""
    return "-".join(figures_of(card))


_PAIRS: Final = tuple([BOX.cards[name] for name in BOX.decks[0] if name.endswith("-1")])
_DRAWN: Final = (
    *[_card(colour, card) for colour in BOX.colours for card in _PAIRS],
    *[_small_card(colour, card) for colour in BOX.colours for card in _PAIRS],
    *[art(f"need-{combo.kind}", *_need(combo.need)) for combo in BOX.combos.values()],
    art("hand", rect(-9, -12, 18, 24, "card-back", corner=3), path("M-4 -5L4 5M4 -5L-4 5", "card-back-lines")),
    art(
        "deck",
        rect(-5, -9, 18, 24, "deck-card", corner=3),
        rect(-9, -12, 18, 24, "deck-card", corner=3),
    ),
    art("discards", rect(-9, -12, 18, 24, "nothing", corner=3)),
    art("crown", path("M-12 8L-14 -7L-6 -1L0 -11L6 -1L14 -7L12 8z", "star")),
    art("skin", path("M-10 -8Q-12 8 8 10L9 6Q-2 4 -5 -9z", "peel"), path("M-10 -8L-5 -9", "stroke-dark")),
    art("right", circle(0, 0, 9, "right"), path("M-4 0L-1 4L5 -4", "sign-line")),
    art("wrong", circle(0, 0, 9, "wrong"), path("M-4 -4L4 4M4 -4L-4 4", "sign-line")),
    art("repeated", circle(0, 0, 9, "wrong"), path("M-4 -2H4M-4 2H4", "sign-line")),
    art("redraw", path("M-7 3A7 7 0 1 1 0 8M-10 0L-7 5L-3 1", "sign-line")),
    art("extra", path("M-7 0H7M0 -7V7", "sign-line")),
)
ART: Final[Mapping[str, Element]] = {element.id.removeprefix("art-"): element for element in _DRAWN}
