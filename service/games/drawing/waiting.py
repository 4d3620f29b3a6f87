"""The picture of a match that has not started: which seats are taken, and which are free."""

from collections.abc import Sequence
from typing import Final

from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, group, rect, text
from service.games.drawing.words import Words

_WIDTH: Final = 640
_SEAT: Final = (290, 56)
_GAP: Final = 12


def waiting(game: str, taken: Sequence[bool], words: Words, *, aborted: bool) -> Picture:
    """The seats of a match that has not started yet, or was aborted before it started."""
    status_text = words["waiting"].format(taken=sum(taken), seats=len(taken))
    if aborted:
        status_text = words["never_started"]
    elif all(taken):
        status_text = words["not_started"]
    rows = -(-len(taken) // 2)
    return Picture(
        _WIDTH,
        frame.HEADING + rows * (_SEAT[1] + _GAP) + _GAP,
        css_class=game.replace("_", "-"),
        language=words["language"],
        title=words["title"],
        description=status_text,
        art=frame.MARKS,
        body=(
            *frame.heading(_WIDTH, words, status_text),
            *[_seat(seat, is_taken, words) for seat, is_taken in enumerate(taken)],
        ),
    )


def _seat(seat: int, taken: bool, words: Words) -> Element:
    return group(
        rect(0, 0, *_SEAT, "panel edge" if taken else "nothing edge", corner=12),
        frame.mark(seat, 28, 28),
        text(52, 34, frame.seat_name(seat, None, words), "name"),
        text(_SEAT[0] - 16, 34, words["taken" if taken else "free"], "label end"),
        element_id=f"seat-{seat}",
        data={"seat": seat},
        at=(frame.MARGIN + (_SEAT[0] + _GAP) * (seat % 2), frame.HEADING + (_SEAT[1] + _GAP) * (seat // 2)),
    )
