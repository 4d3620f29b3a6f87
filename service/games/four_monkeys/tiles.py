"""Draws the pieces of 4 Monkeys: combo tiles, figure cards, and rows that overlap if they get too long."""

from collections.abc import Sequence
from typing import Final

from service.games.drawing.svg import UNSCALED, Data, Element, Point, group, rect, text, use
from service.games.drawing.words import Words
from service.games.four_monkeys.art import CARD, figures_of, pair_of
from service.games.four_monkeys.components import BOX, CardId, Colour, ComboId
from service.games.four_monkeys.view import TileView

TILE: Final = 64
"""Width and height of a combo tile."""

_SIDE: Final = {False: "green", True: "orange"}


def step_of(count: int, wanted: int, room: int) -> int:
    """The distance between `count` things in a row, at most `wanted`, so that the last one begins within `room`."""
    return min(wanted, room // max(1, count - 1))


def tile(
    combo: ComboId,
    words: Words,
    *,
    at: Point,
    element_id: str,
    burned: bool = False,
    scale_permille: int = UNSCALED,
    sign: str | None = None,
    data: Data | None = None,
    under: Sequence[Element] = (),
) -> Element:
    """A combo tile with its need and the value of its visible side. `sign` is the result of its check."""
    found = BOX.combos[combo]
    worth = found.orange if burned else found.green
    parts = [
        *under,
        rect(0, 0, TILE, TILE, f"combo {_SIDE[burned]} edge", corner=9),
        use(f"need-{found.kind}", TILE // 2, 40),
        text(8, 20, worth, "worth"),
    ]
    if burned:
        parts.append(text(TILE - 8, 18, "↻", "worth-side end"))
    if sign is not None:
        parts.append(use(sign, TILE - 8, TILE - 8))
    title = f"{words[f'combo.{found.kind}']}: {worth}"
    return group(*parts, element_id=element_id, data=data or {}, at=at, scale_permille=scale_permille, title=title)


def sign_of(view: TileView, aside: str | None) -> str | None:
    """The result of a tile's check: set aside as repeated or wrong, or found right; None if it has none."""
    return aside or ("right" if view.checked else None)


def card(name: CardId, colour: Colour, words: Words, at: Point, data: Data) -> Element:
    """A figure card with the colour of its deck."""
    return group(
        use(f"card-{colour}-{pair_of(BOX.cards[name])}"),
        rect(0, 0, *CARD, "rim edge", corner=7),
        element_id=id_of(name),
        data=data,
        at=at,
        title=_title(name, colour, words),
    )


def small_card(name: CardId, colour: Colour, words: Words, at: Point, *, named: bool) -> Element:
    """A figure card under a tile. It has no id where it is shown a second time."""
    drawing = use(f"small-{colour}-{pair_of(BOX.cards[name])}")
    return group(drawing, element_id=id_of(name) if named else "", at=at, title=_title(name, colour, words))


def id_of(name: CardId) -> str:
    return f"card-{name.replace(':', '-')}"


def _title(name: CardId, colour: Colour, words: Words) -> str:
    figures = ", ".join([words[f"figure.{figure}"] for figure in figures_of(BOX.cards[name])])
    return f"{words[f'colour.{colour}']}: {figures}"
