"""Draws the Alliance Circle, and the Tribe Track with its stones and Finish Circles."""

from typing import Final

from service.games.drawing.svg import Element, Point, circle, group, path, rect, text, use
from service.games.drawing.words import Words
from service.games.monkeys_on_the_moon.cards import scorn
from service.games.monkeys_on_the_moon.components import BOX, TRIBES, Tribe
from service.games.monkeys_on_the_moon.view import Observation

CIRCLE: Final = 380
"""Width and height of the Alliance Circle."""
TRACK: Final = (852, 200)
"""Width and height of the Tribe Track."""

_MIDDLE: Final = CIRCLE // 2
_SEATS: Final = ((0, -128), (111, -64), (111, 64), (0, 128), (-111, 64), (-111, -64))
"""The positions of the tribes relative to the centre, clockwise from the top."""
_LANE: Final = 23
_LABEL: Final = 112


def circle_of(seen: Observation, words: Words, at: Point) -> Element:
    """The six tribes around the moon. Neighbours are allies; opposite tribes are rivals."""
    lines = [path(f"M{_MIDDLE + x} {_MIDDLE + y}L{_MIDDLE - x} {_MIDDLE - y}", "rivalry") for x, y in _SEATS[:3]]
    return group(
        circle(_MIDDLE, _MIDDLE, 186, "moon"),
        circle(86, 120, 22, "moon-crater"),
        circle(300, 250, 30, "moon-crater"),
        circle(236, 78, 13, "moon-crater"),
        circle(120, 300, 16, "moon-crater"),
        circle(_MIDDLE, _MIDDLE, 128, "alliance"),
        *lines,
        rect(_MIDDLE - 66, _MIDDLE - 20, 132, 40, "moon-plate", corner=12),
        text(_MIDDLE, _MIDDLE - 3, words["picture.allies"], "moon-word"),
        text(_MIDDLE, _MIDDLE + 13, words["picture.rivals"], "moon-word"),
        *[
            _tribe(seen, tribe, words, (_MIDDLE + x, _MIDDLE + y))
            for tribe, (x, y) in zip(seen.alliance_circle, _SEATS, strict=True)
        ],
        at=at,
    )


def _tribe(seen: Observation, tribe: Tribe, words: Words, at: Point) -> Element:
    view = seen.tribes[tribe]
    name = words[f"tribe.{tribe}"]
    parts = [
        circle(0, 0, 42, f"tribe-{tribe} tribe edge"),
        use(f"emblem-{tribe}", 0, -13, scale_permille=1700),
        text(0, 19, name, "on-tribe small mid"),
        group(
            circle(0, 0, 15, "coin edge"),
            circle(0, 0, 11, "coin-ring"),
            text(0, 5, view.supply, "coin-word"),
            element_id=f"supply-{tribe}",
            at=(32, 36),
        ),
    ]
    if view.scorn_holder is None:
        parts.append(scorn(tribe, words, (-32, 38)))
    return group(*parts, element_id=f"tribe-{tribe}", data={"tribe": tribe}, at=at, title=name)


def track_of(seen: Observation, words: Words, at: Point) -> Element:
    """A lane for each tribe, the white dot, and below them the Finish Circles with their awards."""
    last = BOX.last_space
    step = (TRACK[0] - _LABEL - 8) // (last + 1)
    lanes: list[Element] = [rect(0, 0, TRACK[0], TRACK[1], "panel", corner=12)]
    dot = _LABEL + BOX.white_dot * step
    lanes.append(rect(dot, 6, step, 6 * _LANE + 4, "dot-column", corner=6))
    for row, tribe in enumerate(TRIBES):
        y = 8 + _LANE * row
        view = seen.tribes[tribe]
        lanes += [
            circle(20, y + 12, 10, f"tribe-{tribe} tribe"),
            use(f"emblem-{tribe}", 20, y + 12, scale_permille=650),
            text(38, y + 16, words[f"tribe.{tribe}"], "label"),
            path("".join([f"M{_LABEL + step * space + 3} {y + 12}h{step - 6}" for space in range(last + 1)]), "spaces"),
        ]
        if view.rank is None:
            lanes.append(_stone(tribe, _LABEL + step * view.space + step // 2, y + 12, str(view.space), words))
    lanes += [
        text(_LABEL + step * space + step // 2, 12 + 6 * _LANE + 9, space, "tick") for space in range(0, last + 1, 5)
    ]
    lanes.append(circle(dot + step // 2, 6 + 6 * _LANE, 4, "dot"))
    lanes += _awards(seen, words)
    return group(*lanes, at=at)


def _awards(seen: Observation, words: Words) -> list[Element]:
    width = (TRACK[0] - 16) // len(BOX.awards)
    finished = {view.rank: tribe for tribe, view in seen.tribes.items() if view.rank is not None}
    shapes: list[Element] = []
    for award in BOX.awards:
        x, y = 8 + width * (award.rank - 1), 178
        worth = words["picture.award"].format(leader=award.leader, undersecretary=award.undersecretary)
        shapes += [
            circle(x + 18, y, 14, "finish"),
            text(x + 18, y + 5, award.rank, "finish-word"),
            group(
                use("crown", x + 48, y),
                text(x + 62, y + 5, award.leader, "number"),
                use("crown", x + 90, y + 2, scale_permille=650),
                text(x + 100, y + 5, award.undersecretary, "number"),
                title=worth,
            ),
        ]
        if award.rank in finished:
            shapes.append(_stone(finished[award.rank], x + 18, y, str(award.rank), words))
    return shapes


def _stone(tribe: Tribe, x: int, y: int, where: str, words: Words) -> Element:
    return group(
        path(
            f"M{x - 11} {y - 4}L{x - 5} {y - 10}H{x + 5}L{x + 11} {y - 4}V{y + 4}L{x + 5} {y + 10}H{x - 5}L{x - 11} {y + 4}z",
            f"tribe-{tribe} tribe edge",
        ),
        use(f"emblem-{tribe}", x, y, scale_permille=750),
        element_id=f"stone-{tribe}",
        title=f"{words[f'tribe.{tribe}']}: {where}",
    )
