"""A match before its start: which seats are taken, and which wait for somebody."""

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
    """The seats of a match of a game, of which no table is there yet, or never will be."""
    said = words["waiting"].format(taken=sum(taken), seats=len(taken))
    if aborted:
        said = words["never_started"]
    elif all(taken):
        said = words["not_started"]
    rows = -(-len(taken) // 2)
    return Picture(
        _WIDTH,
        frame.HEADING + rows * (_SEAT[1] + _GAP) + _GAP,
        kind=game.replace("_", "-"),
        language=words["language"],
        title=words["title"],
        description=said,
        art=frame.MARKS,
        body=(*frame.heading(_WIDTH, words, said), *[_seat(seat, held, words) for seat, held in enumerate(taken)]),
    )


def _seat(seat: int, taken: bool, words: Words) -> Element:
    return group(
        rect(0, 0, *_SEAT, "panel edge" if taken else "nothing edge", corner=12),
        frame.mark(seat, 28, 28),
        text(52, 34, frame.name(seat, None, words), "name"),
        text(_SEAT[0] - 16, 34, words["taken" if taken else "free"], "label end"),
        thing=f"seat-{seat}",
        data={"seat": seat},
        at=(frame.MARGIN + (_SEAT[0] + _GAP) * (seat % 2), frame.HEADING + (_SEAT[1] + _GAP) * (seat // 2)),
    )
