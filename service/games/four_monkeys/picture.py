"""Draws 4 Monkeys: the stacks and seats of each area, with the viewer's own tiles and hand at the bottom."""

from collections.abc import Sequence
from typing import Final

from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Data, Element, Point, group, rect, text, use
from service.games.drawing.words import Words
from service.games.four_monkeys.art import ART
from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.stacks import STRIP, stacks_of
from service.games.four_monkeys.tiles import TILE, card, sign_of, small_card, step_of, tile
from service.games.four_monkeys.view import Observation, SeatView, TileView
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

_WIDTH: Final = 1280
_WHOLE: Final = _WIDTH - 2 * frame.MARGIN
_PANEL: Final = 184
_OWN: Final = 296
_GAP: Final = 12
_MAX_IN_ROW: Final = 4
"""Seats beside each other. More seats make two rows."""
_ART: Final = {**frame.MARKS, **ART}


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    """The table as a viewer sees it. The viewer's own area comes last."""
    awaited, step = _awaited(seen)
    status_text = frame.status(awaited, step, viewer, words, outcome)
    totals = [_total(held) for held in seen.seats]
    body: list[Element] = []
    y = frame.HEADING
    for number in sorted(range(len(seen.areas)), key=lambda number: viewer in seen.areas[number].seats):
        shapes, y = _area(seen, number, viewer, words, outcome, y)
        body += shapes
    return Picture(
        _WIDTH,
        y + frame.MARGIN - _GAP,
        css_class="four-monkeys",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, status_text, totals if outcome is None else outcome.scores, viewer),
        art=_ART,
        body=(*frame.heading(_WIDTH, words, status_text, *_facts(seen, words)), *body),
    )


def _awaited(seen: Observation) -> tuple[Sequence[Seat], str | None]:
    """The seats that the match waits for, and the step. During a round no seats are named, because all may act."""
    if seen.checking is not None:
        return (seen.checking.seat,), "check"
    return (), None if seen.phase == "over" else "play"


def _total(held: SeatView) -> int:
    return sum(held.points) + BOX.false_stop * held.false_stops


def _facts(seen: Observation, words: Words) -> list[str]:
    options = (
        [words["picture.seconds"].format(seconds=seen.options.round_seconds)] if seen.options.timer_visible else []
    )
    if seen.options.family:
        options.append(words["option.family"].partition(":")[0])
    return [words["picture.round"].format(round=seen.round, rounds=seen.rounds), " · ".join(options)]


def _area(
    seen: Observation, number: int, viewer: Viewer, words: Words, outcome: Outcome | None, y: int
) -> tuple[list[Element], int]:
    """Draw an area from height `y` on. Also returns the height below it."""
    area = seen.areas[number]
    others = [seat for seat in frame.seating_order(area.seats, viewer) if seat != viewer]
    shapes = [stacks_of(seen, number, viewer, words, (frame.MARGIN, y))]
    y += STRIP[1] + _GAP
    in_row = len(others) if len(others) <= _MAX_IN_ROW else -(-len(others) // 2)
    for first in range(0, len(others), in_row):
        row = others[first : first + in_row]
        lefts = [frame.MARGIN + (_WHOLE + _GAP) * index // len(row) for index in range(len(row) + 1)]
        shapes += [
            _panel(seen, seat, number, right - left - _GAP, (left, y), viewer, words, outcome)
            for seat, left, right in zip(row, lefts, lefts[1:], strict=False)
        ]
        y += _PANEL + _GAP
    if viewer in area.seats:
        shapes.append(_own(seen, viewer, number, (frame.MARGIN, y), words, outcome))
        y += _OWN + _GAP
    return shapes, y


def _panel(
    seen: Observation,
    seat: Seat,
    area: int,
    width: int,
    at: Point,
    viewer: Viewer,
    words: Words,
    outcome: Outcome | None,
) -> Element:
    """The panel of another seat; for spectators, of any seat."""
    held = seen.seats[seat]
    tiles = [
        tile(
            view.combo,
            words,
            at=index,
            element_id=f"combo-{area}-{view.combo}",
            burned=view.burned,
            sign=sign_of(view, aside),
            scale_permille=720,
        )
        for (view, aside), index in zip(_tiles(held), _positions(held, width - 32, 50, 78, 50), strict=True)
    ]
    data: Data = {"seat": seat, "to": seat} if viewer in seen.areas[area].seats else {"seat": seat}
    return frame.panel(
        seat,
        width,
        _PANEL,
        *_counts(seen, seat, words),
        *_rounds(held, width),
        group(*tiles, element_id=f"seat-{seat}-tiles"),
        at=at,
        viewer=viewer,
        words=words,
        to_move=_may_act(seen, seat),
        outcome=outcome,
        points=_total(held),
        data=data,
    )


def _may_act(seen: Observation, seat: Seat) -> bool:
    """Whether the match waits for this seat alone."""
    return seen.checking is not None and seen.checking.seat == seat


def _tiles(held: SeatView) -> list[tuple[TileView, str | None]]:
    """The tiles that a seat keeps, then those that it set aside."""
    return [
        *[(view, None) for view in held.tiles],
        *[(view, "wrong") for view in held.wrong],
        *[(view, "repeated") for view in held.repeated],
    ]


def _positions(held: SeatView, room: int, wanted: int, top: int, down: int) -> list[Point]:
    """The positions of a seat's tiles: one row while they fit, then two. If even these are full, tiles overlap."""
    count = len(_tiles(held))
    in_row = max(1, room // wanted)
    first = min(count, in_row) if count <= 2 * in_row else (count + 1) // 2
    steps = (step_of(first, wanted, room - wanted), step_of(count - first, wanted, room - wanted))
    return [
        (16 + steps[0] * index, top) if index < first else (16 + steps[1] * (index - first), top + down)
        for index in range(count)
    ]


def _counts(seen: Observation, seat: Seat, words: Words) -> list[Element]:
    """Numbers of cards, the Hand replenish tile, banana skins, and the crown of the Smartest Monkey."""
    held = seen.seats[seat]
    used = "orange" if held.replenish_used else "green"
    shapes = [
        group(use("hand", scale_permille=800), at=(28, 60), title=words["picture.hand"]),
        text(42, 65, held.hand_count, "number", element_id=f"seat-{seat}-hand"),
        group(
            use("deck", css_class=f"deck-{held.colour}", scale_permille=800), at=(76, 60), title=words["picture.deck"]
        ),
        text(92, 65, held.deck, "number", element_id=f"seat-{seat}-deck"),
        group(use("discards", scale_permille=800), at=(126, 60), title=words["picture.discards"]),
        text(140, 65, held.discard_count, "number", element_id=f"seat-{seat}-discards"),
        group(
            rect(-11, -11, 22, 22, f"combo {used} edge", corner=5),
            use("extra", 0, 0, scale_permille=800),
            element_id=f"seat-{seat}-replenish",
            at=(180, 60),
            title=words["picture.replenish"],
        ),
    ]
    if seen.options.banana_skins:
        skins = held.own_skin + held.received_skins
        shapes += [
            group(use("skin"), at=(210, 60), title=words["picture.skins"]),
            text(224, 65, skins, "number", element_id=f"seat-{seat}-skins"),
        ]
    if seat in seen.smartest:
        shapes.append(use("crown", 150 if held.hand is None else 200, 26))
    return shapes


def _rounds(held: SeatView, width: int) -> list[Element]:
    """The points of each round, then those of false stops."""
    parts = [str(points) for points in held.points]
    if held.false_stops:
        parts.append(str(BOX.false_stop * held.false_stops))
    return [text(width - 16, 64, " · ".join(parts), "label end")] if len(parts) > 1 else []


def _own(seen: Observation, seat: Seat, area: int, at: Point, words: Words, outcome: Outcome | None) -> Element:
    """The viewer's seat: its tiles with the cards under them, and its hand."""
    held = seen.seats[seat]
    views = _tiles(held)
    step = step_of(len(views), TILE + 8, _WHOLE - 32 - TILE)
    tiles = [
        tile(
            view.combo,
            words,
            at=(16 + step * index, 84),
            element_id=f"combo-{area}-{view.combo}",
            burned=view.burned,
            sign=sign_of(view, aside),
            data={"area": area, "combo": view.combo},
            under=_under(seen, view, words),
        )
        for index, (view, aside) in enumerate(views)
    ]
    return frame.panel(
        seat,
        _WHOLE,
        _OWN,
        *_counts(seen, seat, words),
        *(_modes(held, words) if seen.phase == "play" else ()),
        *_rounds(held, _WHOLE),
        group(*tiles, element_id=f"seat-{seat}-tiles"),
        _hand(seen, seat, words),
        at=at,
        viewer=seat,
        words=words,
        to_move=_may_act(seen, seat),
        outcome=outcome,
        points=_total(held),
    )


def _under(seen: Observation, view: TileView, words: Words) -> list[Element]:
    """The cards under a tile. Their lower edges are visible below the tile, three in a row."""
    shown = view.cards or ()
    down = min(17, 51 // max(1, -(-len(shown) // 3)))
    return [
        small_card(name, _colour(seen, name), words, (21 * (index % 3), TILE + 3 + down * (index // 3)), named=True)
        for index, name in enumerate(shown)
    ]


def _colour(seen: Observation, name: str) -> str:
    return seen.seats[BOX.cards[name].seat].colour


def _modes(held: SeatView, words: Words) -> list[Element]:
    """Buttons for the two ways to use the Hand replenish tile, while it is unused."""
    if held.replenish_used:
        return []
    return [
        group(
            rect(0, 0, 40, 24, "mode", corner=12),
            use(mode, 20, 12, "dark-line", scale_permille=800),
            data={"mode": mode},
            at=(270 + 48 * index, 48),
            title=words[f"mode.{mode}"],
        )
        for index, mode in enumerate(("redraw", "extra"))
    ]


def _hand(seen: Observation, seat: Seat, words: Words) -> Element:
    cards = seen.seats[seat].hand or ()
    step = step_of(len(cards), 62, _WHOLE - 90)
    shown = [
        card(name, _colour(seen, name), words, (16 + step * index, _OWN - 90), {"cards": name})
        for index, name in enumerate(cards)
    ]
    return group(*shown, element_id=f"seat-{seat}-cards")
