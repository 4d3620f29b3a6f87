"""Draws the stacks of an area, and the latest check in it."""

from typing import Final

from service.games.drawing import frame
from service.games.drawing.svg import Data, Element, Point, group, path, rect, text
from service.games.drawing.words import Words
from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.state import Checked
from service.games.four_monkeys.tiles import TILE, small_card, step_of, tile
from service.games.four_monkeys.view import Observation, StackView
from service.games.visibility import Viewer

STRIP: Final = (1232, 108)
"""Width and height of the panel with the stacks of an area."""


def stacks_of(seen: Observation, number: int, viewer: Viewer, words: Words, at: Point) -> Element:
    """The stacks of an area with their sizes, and beside them the latest check."""
    area = seen.areas[number]
    named = viewer is None or viewer in area.seats
    step = step_of(len(area.stacks), 96, 700)
    shapes = [
        _stack(number, stack, words, (24 + step * index, 22), named=named) for index, stack in enumerate(area.stacks)
    ]
    checks = [check for check in seen.checks if check.seat in area.seats]
    if checks:
        shapes += _check(seen, checks[-1], words)
    if len(seen.areas) > 1:
        shapes.append(text(1216, 20, words["picture.area"].format(area=number), "label end"))
    return group(rect(0, 0, *STRIP, "panel", corner=12), *shapes, at=at)


def _stack(number: int, stack: StackView, words: Words, at: Point, *, named: bool) -> Element:
    data: Data = {"area": number, "stack": stack.stack} if named else {}
    top: Data = {"area": number, "combo": stack.top} if named else {}
    under = [
        rect(3 * level, -3 * level, TILE, TILE, "combo-under", corner=9)
        for level in range(min(stack.size - 1, 4), 0, -1)
    ]
    return group(
        *under,
        tile(stack.top, words, at=(0, 0), element_id=f"combo-{number}-{stack.top}", data=top),
        frame.badge(TILE, TILE, stack.size, "amount"),
        element_id=f"stack-{number}-{stack.stack}",
        data=data,
        at=at,
    )


def _check(seen: Observation, check: Checked, words: Words) -> list[Element]:
    cards = [
        small_card(name, seen.seats[BOX.cards[name].seat].colour, words, (0, 0), named=False) for name in check.cards
    ]
    step = step_of(len(cards), 50, 250)
    sign = "right" if check.correct else "wrong"
    return [
        path("M822 14V94", "rule"),
        text(836, 22, words["picture.checked"], "label"),
        frame.mark(check.seat, 850, 58),
        tile(check.combo, words, at=(876, 30), element_id="", sign=sign, scale_permille=900),
        *[group(one, at=(950 + step * index, 44), scale_permille=2000) for index, one in enumerate(cards)],
    ]
