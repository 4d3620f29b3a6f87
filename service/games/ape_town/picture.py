"""Ape Town drawn: the board inside its track, the display with its prices, and the seats beside it."""

from typing import Final

from service.games.ape_town.art import ART
from service.games.ape_town.board import FIELD_PLACES, HEIGHT, OUTLINES, POND, PRINTED, WIDTH, middle, place_of
from service.games.ape_town.components import (
    BOX,
    DISTRICTS,
    FIELDS,
    ORDER,
    SECTIONS,
    SEGMENTS_PER_SECTION,
    VALUES,
    Field,
)
from service.games.ape_town.state import Taken
from service.games.ape_town.view import Observation, SeatView
from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, group, path, points, rect, text, use
from service.games.drawing.words import Words
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

_COLUMN: Final = 352
_PANEL: Final = 124
_GAP: Final = 8
_TOP: Final = frame.HEADING + 12
_TOTAL: Final = (3 * frame.MARGIN + WIDTH + _COLUMN, _TOP + HEIGHT + frame.MARGIN)
_TAKEN_AT: Final = middle((4, 4))[0] + 32, middle((4, 4))[1]
_ART: Final = {**frame.MARKS, **ART}


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    """The table as a viewer sees it; all of it lies open, and only the order of the seats differs."""
    asked = () if seen.step is None else (seen.active,)
    said = frame.status(asked, seen.step, viewer, words, outcome)
    points_now = [_points(held) for held in seen.seats]
    order = frame.around(range(len(seen.seats)), viewer)
    column = frame.MARGIN * 2 + WIDTH
    panels = [
        _panel(seen, seat, viewer, words, outcome, (column, _TOP + place * (_PANEL + _GAP)))
        for place, seat in enumerate(order)
    ]
    return Picture(
        *_TOTAL,
        kind="ape-town",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, said, points_now if outcome is None else outcome.scores, viewer),
        art=_ART,
        body=(
            *frame.heading(_TOTAL[0], words, said, words["picture.supply"].format(count=seen.supply)),
            group(*_board(seen, words), *_track(seen, words), at=(frame.MARGIN, _TOP)),
            *panels,
            _legend(words, (column, _TOP + HEIGHT - 132)),
        ),
    )


def _points(held: SeatView) -> int:
    return held.placement + held.boss + held.neighbours


def _board(seen: Observation, words: Words) -> list[Element]:
    shapes = [use("pond", *middle(cell)) for cell in POND]
    shapes += [
        group(use(f"tile-{tile}"), at=middle(cell), kind="printed", called=words[f"tile.{tile}"])
        for cell, tile in PRINTED
    ]
    shapes += [_field(seen, field, words) for field in FIELDS]
    for district in DISTRICTS:
        complete = all(FIELDS[place].id in seen.board for place in district.fields)
        kind = "district complete" if complete else "district"
        shapes.append(path(points(OUTLINES[district.id]), kind, thing=f"district-{district.id}"))
    if seen.taken is not None:
        shapes.append(_taken(seen.active, seen.taken, words))
    return shapes


def _field(seen: Observation, field: Field, words: Words) -> Element:
    tile, owner = seen.board.get(field.id), seen.discs.get(field.id)
    called = words["picture.field"].format(field=field.id, district=DISTRICTS[field.district].id)
    shapes = [use(f"field-{field.colour}")]
    if tile is None:
        shapes += [use(f"glyph-{field.colour}"), text(0, 25, field.id, f"where {field.colour}")]
    else:
        called = f"{called}: {words[f'tile.{tile}']}"
        shapes.append(use(f"tile-{tile}"))
    shapes.append(use("rim", kind="edge"))
    if owner is not None:
        shapes.append(frame.mark(owner, 16, 15, 660))
    place = FIELD_PLACES[field.id]
    return group(*shapes, thing=f"field-{field.id}", data={"field": field.id}, at=place, called=called)


def _taken(seat: Seat, taken: Taken, words: Words) -> Element:
    """The tile on its way, over the pond, with whose it is and the colour that it wants."""
    return group(
        rect(-70, -50, 140, 100, "panel turn", corner=16),
        frame.mark(seat, -50, -30, 800),
        _tile(taken.segment, f"tile-{taken.tile}", words[f"tile.{taken.tile}"], 1150),
        group(use(f"field-{taken.colour}", thousandths=550), use(f"glyph-{taken.colour}"), at=(44, 22)),
        at=_TAKEN_AT,
    )


def _tile(segment: int, tile: str, called: str, thousandths: int) -> Element:
    """A tile by the segment where it lay or lies, which names it until it is on a field."""
    return group(
        use(tile), use("rim", kind="edge"), thing=f"segment-{segment}-tile", thousandths=thousandths, called=called
    )


def _track(seen: Observation, words: Words) -> list[Element]:
    display = {shown.segment: shown.tile for shown in seen.display}
    ring = [_divider(section * SEGMENTS_PER_SECTION) for section in range(SECTIONS)]
    for segment, colour in enumerate(BOX.track):
        place, (right, down) = place_of(segment)
        shapes = [
            rect(-31, -31, 62, 62, f"segment {colour} edge", corner=9),
            use(f"glyph-{colour}", -22 * (right or 1), -22 * (down or 1), thousandths=800),
        ]
        called = words["picture.segment"].format(segment=segment)
        if segment in display:
            tile = display[segment]
            shapes.append(_tile(segment, f"tile-{tile}", words[f"tile.{tile}"], 850))
        elif segment in seen.face_down:
            shapes.append(_tile(segment, "tile-back", called, 750))
        if seen.track_money[segment]:
            shapes.append(_money(seen.track_money[segment], 20 * (right or 1), -20 * (down or -1)))
        ring.append(group(*shapes, thing=f"segment-{segment}", data={"segment": segment}, at=place, called=called))
    return ring + _prices(seen)


def _prices(seen: Observation) -> list[Element]:
    """What each tile of the display costs the active seat, where it takes one; less strong if it cannot pay that."""
    if seen.step != "take_tile":
        return []
    prices = []
    for price, shown in enumerate(seen.display):
        (x, y), (right, down) = place_of(shown.segment)
        kind = "price" if price <= seen.seats[seen.active].money else "price dear"
        prices.append(frame.badge(x + 31 * right, y + 31 * down, price, kind))
    return prices


def _divider(segment: int) -> Element:
    """A line before the first segment of a section; before the first of all, the street sign."""
    (x, y), (right, down) = place_of(segment)
    half = 34
    if segment == 0:
        return use("sign", x - half + 6, y - half - 2)
    along_x, along_y = down * half, -right * half
    if segment == 20:  # the corner at the bottom right, which the section begins
        return path(f"M{x - half} {y - half}H{x + half}", "divider")
    return path(
        f"M{x - along_x - right * half} {y - along_y - down * half}l{2 * right * half} {2 * down * half}", "divider"
    )


def _money(count: int, x: int, y: int) -> Element:
    return group(use("coin", x, y), text(x, y + 4, count, "coin-word"))


def _panel(
    seen: Observation, seat: Seat, viewer: Viewer, words: Words, outcome: Outcome | None, at: tuple[int, int]
) -> Element:
    held = seen.seats[seat]
    parts = [(name, getattr(held, name)) for name in ("placement", "boss", "neighbours")]
    rows = [
        line
        for number, (name, worth) in enumerate(parts)
        for line in (
            text(140, 68 + 20 * number, words[f"breakdown.{name}"], "label"),
            text(_COLUMN - 16, 68 + 20 * number, worth, "label end"),
        )
    ]
    return frame.panel(
        seat,
        _COLUMN,
        _PANEL,
        use("coin", 34, 76, thousandths=1300),
        text(54, 82, held.money, "number", thing=f"seat-{seat}-money"),
        use("disc", 90, 76, f"seat-{seat}", thousandths=1300),
        text(108, 82, held.discs, "number", thing=f"seat-{seat}-discs"),
        *rows,
        at=at,
        viewer=viewer,
        words=words,
        to_move=seen.step is not None and seat == seen.active,
        outcome=outcome,
        points=_points(held),
    )


def _legend(words: Words, at: tuple[int, int]) -> Element:
    """What the tiles are called."""
    entries: list[Element] = []
    for number, tile in enumerate(ORDER):
        x, y = 22 + 150 * (number % 2), 22 + 44 * (number // 2)
        worth = f" · {VALUES[tile]}" if tile in VALUES else ""
        entries += [
            use(f"tile-{tile}", x, y, thousandths=600),
            text(x + 24, y + 5, words[f"tile.{tile}"] + worth, "label"),
        ]
    return group(*entries, at=at)
