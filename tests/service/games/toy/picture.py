"""The picture of the toy game: the cards shown last, a panel for each seat, and the viewer's hand."""

from typing import Final

from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, group, rect, text
from service.games.drawing.words import Words
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from tests.service.games.toy.state import Card
from tests.service.games.toy.view import Observation

SIZE: Final = (640, 420)


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    to_move = [seat for seat, waits in enumerate(seen.waiting) if waits]
    status_text = frame.status(to_move, None if seen.step == "over" else seen.step, viewer, words, outcome)
    table = [card_at(24 + 60 * index, 100, card) for index, card in enumerate(seen.table) if card is not None]
    panels = [
        frame.panel(
            seat,
            140,
            110,
            text(16, 80, seen.hands[seat], "number", element_id=f"seat-{seat}-hand"),
            at=(24 + 148 * seat, 180),
            viewer=viewer,
            words=words,
            to_move=seat in to_move,
            outcome=outcome,
            points=points,
        )
        for seat, points in enumerate(seen.points)
    ]
    return Picture(
        *SIZE,
        css_class="toy",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, status_text, seen.points, viewer),
        art=frame.MARKS,
        body=(*frame.heading(SIZE[0], words, status_text), *table, *panels, *hand_of(seen)),
    )


def hand_of(seen: Observation) -> list[Element]:
    return [card_at(24 + 60 * index, 310, card, named=True) for index, card in enumerate(seen.hand)]


def card_at(x: int, y: int, card: Card, *, named: bool = False) -> Element:
    return group(
        rect(0, 0, 52, 72, "panel edge", corner=6),
        text(26, 42, card, "number mid"),
        element_id=f"card-{card}",
        data={"card": card, "cards": card} if named else {},
        at=(x, y),
    )
