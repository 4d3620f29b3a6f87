"""The parts that all pictures share: the heading, the seats' panels, and small marks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.games.drawing.svg import UNSCALED, Data, Element, Point, art, circle, group, path, points, rect, text, use
from service.games.drawing.words import Words, wrap
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

HEADING: Final = 88
"""Height of the heading."""
MARGIN: Final = 24

_SHAPES: Final = (
    circle(0, 0, 13, "seat-0"),
    rect(-12, -12, 24, 24, "seat-1", corner=4),
    path("M0 -15L15 11Q15 13 13 13L-13 13Q-15 13 -15 11z", "seat-2"),
    path(points(((0, -16), (16, 0), (0, 16), (-16, 0))), "seat-3"),
    path(points(((0, -15), (14, -5), (9, 12), (-9, 12), (-14, -5))), "seat-4"),
    path(points(((-8, -14), (8, -14), (16, 0), (8, 14), (-8, 14), (-16, 0))), "seat-5"),
    path(points(((-6, -14), (6, -14), (14, -6), (14, 6), (6, 14), (-6, 14), (-14, 6), (-14, -6))), "seat-6"),
    path("M-13 -12H13V2Q13 11 0 16Q-13 11 -13 2z", "seat-7"),
)
MARKS: Final[Mapping[str, Element]] = {
    f"seat-{seat}": art(f"seat-{seat}", shape, text(0, 6 if seat == 2 else 5, seat, "mark"))
    for seat, shape in enumerate(_SHAPES)
}
"""The mark of each seat: a shape, a colour and the seat number."""


def mark(seat: Seat, x: int, y: int, scale_permille: int = UNSCALED) -> Element:
    """The mark of a seat, 26 wide, centred at a point."""
    return use(f"seat-{seat}", x, y, scale_permille=scale_permille)


def seat_name(seat: Seat, viewer: Viewer, words: Words) -> str:
    return words["own_seat" if seat == viewer else "seat"].format(seat=seat)


def seating_order(seats: Iterable[Seat], viewer: Viewer) -> tuple[Seat, ...]:
    """The seats in clockwise order, starting at the viewer's left and ending with the viewer.

    Spectators see the given order.
    """
    order = tuple(seats)
    after = order.index(viewer) + 1 if viewer in order else 0
    return order[after:] + order[:after]


def status(seats: Sequence[Seat], step: str | None, viewer: Viewer, words: Words, outcome: Outcome | None) -> str:
    """What the match waits for and which seats must act; after the end, who won."""
    if outcome is not None:
        return words["won"].format(names=", ".join(seat_name(seat, viewer, words) for seat in outcome.winners))
    if step is None:
        return words["over"]
    if not seats:
        return words["all_asked"].format(step=words[f"step.{step}"])
    names = ", ".join(seat_name(seat, viewer, words) for seat in seats)
    return words["asked"].format(names=names, step=words[f"step.{step}"])


def heading(width: int, words: Words, status_text: str, *facts: str) -> tuple[Element, ...]:
    """The game's title and the status on the left; facts such as the round on the right."""
    lines = wrap(status_text, width // 11)
    return (
        text(MARGIN, 44, words["title"], "title"),
        *[text(MARGIN, 70 + 18 * number, line, "said") for number, line in enumerate(lines[:2])],
        *[text(width - MARGIN, 40 + 20 * number, fact, "fact end") for number, fact in enumerate(facts)],
    )


def panel(
    seat: Seat,
    width: int,
    height: int,
    *content: Element,
    at: Point,
    viewer: Viewer,
    words: Words,
    to_move: bool,
    outcome: Outcome | None,
    points: int | None = None,
    data: Data | None = None,
) -> Element:
    """A seat's panel: its mark and name, its points (after the end its rank and score) on the right, and `content`
    below.
    """
    won = outcome is not None and seat in outcome.winners
    score = points if outcome is None else outcome.scores[seat]
    css_class = "panel" + (" turn" if to_move else "") + (" won" if won else "")
    parts = [rect(0, 0, width, height, css_class, corner=12), mark(seat, 26, 26)]
    parts.append(text(48, 32, seat_name(seat, viewer, words), "name"))
    if to_move:
        parts.append(chip(width - (76 if score is not None else 16), 26, words["to_move"], "turn"))
    if outcome is not None:
        parts.append(chip(width - 76, 26, words["rank"].format(rank=outcome.ranks[seat]), "won" if won else "plain"))
    if score is not None:
        parts.append(text(width - 16, 35, score, "score end", element_id=f"seat-{seat}-points"))
    return group(*parts, *content, at=at, data=data or {"seat": seat})


def chip(right: int, middle: int, words: str, css_class: str) -> Element:
    """A word in a rounded box; `right` is the x of its right edge."""
    width = 18 + 7 * len(words)
    return group(
        rect(right - width, middle - 11, width, 22, f"chip {css_class}", corner=11),
        text(right - width // 2, middle + 5, words, f"chip-word {css_class}"),
    )


def badge(x: int, y: int, number: int, css_class: str) -> Element:
    """A number in a small circle."""
    return group(circle(x, y, 10, f"{css_class} edge"), text(x, y + 4, number, f"{css_class.partition(' ')[0]}-word"))


def summary(words: Words, status_text: str, scores: Sequence[int] | None, viewer: Viewer) -> str:
    """The picture described in one or two sentences."""
    if scores is None:
        return status_text
    scores_text = ", ".join(f"{seat_name(seat, viewer, words)} {score}" for seat, score in enumerate(scores))
    return f"{status_text} {words['scores'].format(scores=scores_text)}"
