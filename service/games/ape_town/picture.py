"""Draws Ape Town: the board inside its track, the display with its prices, and the seats on the right."""

from typing import Final

from service.games.ape_town.art import ART
from service.games.ape_town.board import (
    FIELD_CENTRES,
    HEIGHT,
    OUTLINES,
    POND,
    PRINTED_TILES,
    WIDTH,
    centre,
    segment_position,
)
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
_TAKEN_AT: Final = centre((4, 4))[0] + 32, centre((4, 4))[1]
_ART: Final = {**frame.MARKS, **ART}


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    """The table as a viewer sees it. Nothing is hidden; only the order of the seats depends on the viewer."""
    awaited = () if seen.step is None else (seen.active,)
    status_text = frame.status(awaited, seen.step, viewer, words, outcome)
    points_now = [_points(held) for held in seen.seats]
    order = frame.seating_order(range(len(seen.seats)), viewer)
    column = frame.MARGIN * 2 + WIDTH
    panels = [
        _panel(seen, seat, viewer, words, outcome, (column, _TOP + position * (_PANEL + _GAP)))
        for position, seat in enumerate(order)
    ]
    return Picture(
        *_TOTAL,
        css_class="ape-town",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, status_text, points_now if outcome is None else outcome.scores, viewer),
        art=_ART,
        body=(
            *frame.heading(_TOTAL[0], words, status_text, words["picture.supply"].format(count=seen.supply)),
            group(*_board(seen, words), *_track(seen, words), at=(frame.MARGIN, _TOP)),
            *panels,
            _legend(words, (column, _TOP + HEIGHT - 132)),
        ),
    )


def _points(held: SeatView) -> int:
    return held.placement + held.boss + held.neighbours


def _board(seen: Observation, words: Words) -> list[Element]:
    shapes = [use("pond", *centre(cell)) for cell in POND]
    shapes += [
        group(use(f"tile-{tile}"), at=centre(cell), css_class="printed", title=words[f"tile.{tile}"])
        for cell, tile in PRINTED_TILES
    ]
    shapes += [_field(seen, field, words) for field in FIELDS]
    for district in DISTRICTS:
        complete = all(FIELDS[position].id in seen.board for position in district.fields)
        kind = "district complete" if complete else "district"
        shapes.append(path(points(OUTLINES[district.id]), kind, element_id=f"district-{district.id}"))
    if seen.taken is not None:
        shapes.append(_taken(seen.active, seen.taken, words))
    return shapes


def _field(seen: Observation, field: Field, words: Words) -> Element:
    tile, owner = seen.board.get(field.id), seen.discs.get(field.id)
    title = words["picture.field"].format(field=field.id, district=DISTRICTS[field.district].id)
    shapes = [use(f"field-{field.colour}")]
    if tile is None:
        shapes += [use(f"glyph-{field.colour}"), text(0, 25, field.id, f"where {field.colour}")]
    else:
        title = f"{title}: {words[f'tile.{tile}']}"
        shapes.append(use(f"tile-{tile}"))
    shapes.append(use("rim", css_class="edge"))
    if owner is not None:
        shapes.append(frame.mark(owner, 16, 15, 660))
    position = FIELD_CENTRES[field.id]
    return group(*shapes, element_id=f"field-{field.id}", data={"field": field.id}, at=position, title=title)


def _taken(seat: Seat, taken: Taken, words: Words) -> Element:
    """The tile that was taken and not placed yet, drawn over the pond with its seat and the colour that it needs."""
    return group(
        rect(-70, -50, 140, 100, "panel turn", corner=16),
        frame.mark(seat, -50, -30, 800),
        _tile(taken.segment, f"tile-{taken.tile}", words[f"tile.{taken.tile}"], 1150),
        group(use(f"field-{taken.colour}", scale_permille=550), use(f"glyph-{taken.colour}"), at=(44, 22)),
        at=_TAKEN_AT,
    )


def _tile(segment: int, tile: str, title: str, scale_permille: int) -> Element:
    """A tile of the track. Its element id names the segment that it lies at, or was taken from."""
    return group(
        use(tile),
        use("rim", css_class="edge"),
        element_id=f"segment-{segment}-tile",
        scale_permille=scale_permille,
        title=title,
    )


def _track(seen: Observation, words: Words) -> list[Element]:
    display = {shown.segment: shown.tile for shown in seen.display}
    ring = [_divider(section * SEGMENTS_PER_SECTION) for section in range(SECTIONS)]
    for segment, colour in enumerate(BOX.track):
        position, (right, down) = segment_position(segment)
        shapes = [
            rect(-31, -31, 62, 62, f"segment {colour} edge", corner=9),
            use(f"glyph-{colour}", -22 * (right or 1), -22 * (down or 1), scale_permille=800),
        ]
        title = words["picture.segment"].format(segment=segment)
        if segment in display:
            tile = display[segment]
            shapes.append(_tile(segment, f"tile-{tile}", words[f"tile.{tile}"], 850))
        elif segment in seen.face_down:
            shapes.append(_tile(segment, "tile-back", title, 750))
        if seen.track_money[segment]:
            shapes.append(_money(seen.track_money[segment], 20 * (right or 1), -20 * (down or -1)))
        ring.append(
            group(*shapes, element_id=f"segment-{segment}", data={"segment": segment}, at=position, title=title)
        )
    return ring + _prices(seen)


def _prices(seen: Observation) -> list[Element]:
    """The price of each tile of the display for the active seat while it takes one.

    Prices that it cannot pay are drawn faintly.
    """
    if seen.step != "take_tile":
        return []
    prices = []
    for price, shown in enumerate(seen.display):
        (x, y), (right, down) = segment_position(shown.segment)
        kind = "price" if price <= seen.seats[seen.active].money else "price dear"
        aside = 22 if down == 1 else 0  # in the top row, the tile has its value at the inner edge
        prices.append(frame.badge(x + 31 * right + aside, y + 31 * down, price, kind))
    return prices


def _divider(segment: int) -> Element:
    """A line before the first segment of a section; before segment 0, the street sign."""
    (x, y), (right, down) = segment_position(segment)
    half = 34
    if segment == 0:
        return use("sign", x - half + 6, y - half - 2)
    along_x, along_y = down * half, -right * half
    if segment == 20:  # a section begins at the bottom right corner
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
        use("coin", 34, 76, scale_permille=1300),
        text(54, 82, held.money, "number", element_id=f"seat-{seat}-money"),
        use("disc", 90, 76, f"seat-{seat}", scale_permille=1300),
        text(108, 82, held.discs, "number", element_id=f"seat-{seat}-discs"),
        *rows,
        at=at,
        viewer=viewer,
        words=words,
        to_move=seen.step is not None and seat == seen.active,
        outcome=outcome,
        points=_points(held),
    )


def _legend(words: Words, at: tuple[int, int]) -> Element:
    """The names of the tiles."""
    entries: list[Element] = []
    for number, tile in enumerate(ORDER):
        x, y = 22 + 150 * (number % 2), 22 + 44 * (number // 2)
        worth = f" · {VALUES[tile]}" if tile in VALUES else ""
        entries += [
            use(f"tile-{tile}", x, y, scale_permille=600),
            text(x + 24, y + 5, words[f"tile.{tile}"] + worth, "label"),
        ]
    return group(*entries, at=at)
