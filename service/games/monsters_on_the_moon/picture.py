"""Draws Monsters on the Moon: the display, the crystal track, the seats, and the viewer's hand and missions."""

from typing import Final

from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, Point, circle, group, path, rect, text, use
from service.games.drawing.words import Words, wrap
from service.games.monsters_on_the_moon import moon
from service.games.monsters_on_the_moon.art import ART, CELL
from service.games.monsters_on_the_moon.components import BOX, CardId, MissionId
from service.games.monsters_on_the_moon.grid import ROTATIONS
from service.games.monsters_on_the_moon.view import Observation, SeatView
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

_WIDTH: Final = 1280
_WHOLE: Final = _WIDTH - 2 * frame.MARGIN
_TOP: Final = frame.HEADING + 8
_COLUMN: Final = frame.MARGIN + moon.SIZE[0] + 16
_PANEL: Final = (_WIDTH - frame.MARGIN - _COLUMN, 142)
_TRACK: Final = (moon.SIZE[0], 84)
_HAND: Final = 152
_GAP: Final = 10
_MISSION: Final = (172, 116)
_CARD: Final = 850
"""The scale of a card in hand (permille). With many cards it is smaller."""
_ART: Final = {**frame.MARKS, **ART}
_SOLO: Final = 1


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    """The table as a viewer sees it, with the viewer's cards and missions at the bottom."""
    awaited = _awaited(seen)
    status_text = _status(seen, awaited, viewer, words, outcome)
    order = frame.seating_order(range(len(seen.seats)), viewer)
    y = _TOP + moon.SIZE[1] + _GAP
    body = [
        rect(frame.MARGIN, _TOP, *moon.SIZE, "night", corner=14),
        circle(frame.MARGIN + moon.SIZE[0] // 2, _TOP + moon.SIZE[1] // 2, 280, "far-moon"),
        moon.display(
            seen, (frame.MARGIN, _TOP), cards=_is_placing_cards(seen, viewer), walls=_is_placing_walls(seen, viewer)
        ),
        *[_panel(seen, seat, index, seat in awaited, viewer, words, outcome) for index, seat in enumerate(order)],
    ]
    if len(seen.seats) > _SOLO:
        body.append(_track(seen, words, (frame.MARGIN, y)))
        y += _TRACK[1] + _GAP
    if viewer is not None or seen.open_missions:
        body.append(_hand(seen, viewer, words, (frame.MARGIN, y)))
        y += _HAND + _GAP
    return Picture(
        _WIDTH,
        y + frame.MARGIN - _GAP,
        css_class="monsters-on-the-moon",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, status_text, None if outcome is None else outcome.scores, viewer),
        art=_ART,
        body=(*frame.heading(_WIDTH, words, status_text, *_facts(seen, words)), *body),
    )


def _awaited(seen: Observation) -> list[Seat]:
    """The seats that the match waits for."""
    if seen.step is None:
        return []
    if seen.awaited is not None:
        return [seen.awaited]
    chosen = [held.gift_chosen if seen.step == "give_card" else held.mission_chosen for held in seen.seats]
    return [seat for seat, done in enumerate(chosen) if not done]


def _status(seen: Observation, awaited: list[Seat], viewer: Viewer, words: Words, outcome: Outcome | None) -> str:
    if not seen.options.walls:  # the text of the step names walls
        words = {**words, "step.place_card": words["picture.place_card"]}
    status_text = frame.status(awaited, seen.step, viewer, words, outcome)
    if seen.rating is None:
        return status_text
    return f"{words['over']} {words[f'rank.{seen.rating.rank}']}"


def _is_placing_cards(seen: Observation, viewer: Viewer) -> bool:
    if viewer is None or viewer != seen.awaited:
        return False
    return seen.step == "place_card" and seen.seats[viewer].hand_count > 0


def _is_placing_walls(seen: Observation, viewer: Viewer) -> bool:
    if viewer is None or viewer != seen.awaited:
        return False
    return seen.options.walls and seen.step in {"place_card", "place_wall"}


def _facts(seen: Observation, words: Words) -> list[str]:
    facts = [words["picture.pile"].format(count=seen.pile)]
    variants = [words["picture.walls"]] if seen.options.walls else []
    if seen.options.missions is not None:
        variants.append(words[f"picture.{seen.options.missions}"])
    return [*facts, " · ".join(variants)]


def _panel(
    seen: Observation, seat: Seat, index: int, to_move: bool, viewer: Viewer, words: Words, outcome: Outcome | None
) -> Element:
    held = seen.seats[seat]
    head = group(use(f"head-{held.monster}"), at=(40, 80), scale_permille=1250, title=words[f"kind.{held.monster}"])
    content = _breakdown(seat, words, outcome) if outcome is not None else _pieces(seen, seat, viewer, words)
    return frame.panel(
        seat,
        *_PANEL,
        head,
        *content,
        at=(_COLUMN, _TOP + (_PANEL[1] + _GAP) * index),
        viewer=viewer,
        words=words,
        to_move=to_move,
        outcome=outcome,
        points=_points(held) if len(seen.seats) > _SOLO else None,
    )


def _points(held: SeatView) -> int:
    """The public part of a seat's score: the interim scoring and the points of its marker's field."""
    return held.interim_singles + held.interim_groups + held.crystals


def _pieces(seen: Observation, seat: Seat, viewer: Viewer, words: Words) -> list[Element]:
    """What a seat has, and what it has scored. A single player only has a hand."""
    held = seen.seats[seat]
    shapes = [
        group(use("night-back"), at=(94, 66), title=words["picture.cards"]),
        text(110, 71, held.hand_count, "number", element_id=f"seat-{seat}-hand"),
    ]
    if len(seen.seats) == _SOLO:
        return shapes
    shapes += [
        group(
            use("spaceship", css_class=f"seat-{seat}", scale_permille=700), at=(142, 66), title=words["picture.ships"]
        ),
        text(158, 71, held.ships, "number", element_id=f"seat-{seat}-ships"),
        group(use("plate"), at=(190, 66), title=words["picture.plates"]),
        text(206, 71, held.plates, "number", element_id=f"seat-{seat}-plates"),
        text(84, 112, words["picture.interim"], "label"),
        text(
            _PANEL[0] - 16,
            112,
            held.interim_singles + held.interim_groups,
            "label end",
            element_id=f"seat-{seat}-interim",
        ),
        text(84, 130, words["breakdown.crystals"], "label"),
        text(_PANEL[0] - 16, 130, held.crystals, "label end", element_id=f"seat-{seat}-crystals"),
    ]
    if seen.options.walls:
        shapes += _walls(seat, held, words, own=seat == viewer)
    if held.mission_count:
        shown = f"{held.mission_count} ✓" if held.mission_chosen else held.mission_count
        shapes += [
            group(use("mission"), at=(294, 66), title=words["picture.missions"]),
            text(308, 71, shown, "number", element_id=f"seat-{seat}-missions"),
        ]
    return shapes


def _walls(seat: Seat, held: SeatView, words: Words, *, own: bool) -> list[Element]:
    """A seat's walls of each length. The viewer's own carry the length as a data attribute."""
    return [
        group(
            path(f"M228 {y}h{14 * length}", f"wall seat-{seat}-line"),
            text(266, y + 5, count, "number", element_id=f"seat-{seat}-walls-{length}"),
            data={"length": length} if own else {},
            title=words["picture.length"].format(length=length),
        )
        for length, count, y in ((2, held.long_walls, 66), (1, held.short_walls, 88))
    ]


def _breakdown(seat: Seat, words: Words, outcome: Outcome) -> list[Element]:
    """The parts of the score that are not 0."""
    shown = [f"{words[f'breakdown.{part}']}: {points}" for part, points in outcome.breakdown[seat].items() if points]
    lines = wrap(", ".join(shown), 40)
    return [text(84, 64 + 16 * number, line, "label") for number, line in enumerate(lines)]


def _track(seen: Observation, words: Words, at: Point) -> Element:
    """The crystal track: the points of its fields, the plates on red-framed fields, and the markers."""
    track = BOX.tracks[len(seen.seats)]
    step = (_TRACK[0] - 48) // len(track.points)
    fields: list[Element] = []
    for field, points in enumerate(track.points):
        kind = "field red" if field in track.red else "field"
        markers = [seat for seat, held in enumerate(seen.seats) if held.field == field]
        plates = [held for held in seen.seats if field in track.red[len(track.red) - held.plates :]]
        fields.append(
            group(
                rect(0, 0, step - 4, 64, f"crystal-{kind}", corner=8),
                text(8, 18, points, "number"),
                *[use("plate", step - 14 - 10 * index, 12, scale_permille=450) for index, _ in enumerate(plates)],
                *[_marker(seat, index) for index, seat in enumerate(markers)],
                element_id=f"field-{field}",
                at=(42 + step * field, 10),
            )
        )
    gem = group(use("gem", scale_permille=1400), at=(22, 42), title=words["picture.track"])
    return group(rect(0, 0, *_TRACK, "panel", corner=12), gem, *fields, at=at)


def _marker(seat: Seat, index: int) -> Element:
    """A seat's marker on a field, which has room for four."""
    at = (14 + 22 * (index % 2), 34 + 18 * (index // 2))
    return group(frame.mark(seat, 0, 0, 620), element_id=f"marker-{seat}", at=at)


def _hand(seen: Observation, viewer: Viewer, words: Words, at: Point) -> Element:
    """The viewer's cards and selectable missions. Other viewers see only open missions."""
    held = None if viewer is None else seen.seats[viewer]
    cards = () if held is None else held.hand or ()
    missions = seen.open_missions or (() if held is None else held.missions or ())
    chosen = None if held is None else held.mission
    left = _WHOLE - (_MISSION[0] + _GAP) * len(missions) - 6
    step = min(144, (left - 120) // max(1, len(cards)))
    content = [
        _card(card, (16 + step * index, 34), min(_CARD, 1000 * (step - 8) // (3 * CELL)))
        for index, card in enumerate(cards)
    ]
    if _is_placing_cards(seen, viewer):
        content += _rotation_buttons(words, (16 + step * len(cards), 40))
    content += [
        _mission(mission, words, (left + (_MISSION[0] + _GAP) * index, 24), chosen=mission == chosen)
        for index, mission in enumerate(missions)
    ]
    gift = None if held is None or held.gift is None or seen.step != "give_card" else held.gift
    label = words["picture.hand"] if gift is None else words["picture.gift"].format(card=gift)
    return group(
        rect(0, 0, _WHOLE, _HAND, "panel", corner=12),
        *((text(16, 22, label, "label"),) if held is not None else ()),
        *((text(left, 18, words["picture.missions"], "label"),) if missions else ()),
        *content,
        at=at,
    )


def _card(card: CardId, at: Point, scale_permille: int) -> Element:
    """A card of the hand, not rotated."""
    squares = [
        use(f"{face.kind}-{face.heads}", CELL * (index % 3), CELL * (index // 3))
        for index, face in enumerate(BOX.faces[card, 0])
    ]
    outline = rect(0, 0, 3 * CELL, 2 * CELL, "hand-card edge", corner=4)
    return group(
        *squares,
        outline,
        element_id=f"card-{card}",
        data={"card": card},
        at=at,
        scale_permille=scale_permille,
        title=card,
    )


def _rotation_buttons(words: Words, at: Point) -> list[Element]:
    """Buttons for the clockwise rotations of a card."""
    return [
        group(
            rect(-20, -11, 40, 22, "turn-by", corner=11),
            text(0, 5, f"{rotation}°", "turn-by-word"),
            data={"rotation": rotation},
            at=(at[0] + 24 + 46 * (index % 2), at[1] + 22 + 32 * (index // 2)),
            title=words["picture.turned"].format(rotation=rotation),
        )
        for index, rotation in enumerate(ROTATIONS)
    ]


def _mission(mission: MissionId, words: Words, at: Point, *, chosen: bool) -> Element:
    name, _, rest = words[f"mission.{mission}"].partition(": ")
    lines = wrap(rest, 23)
    return group(
        rect(0, 0, *_MISSION, "mission-card chosen edge" if chosen else "mission-card edge", corner=8),
        text(12, 22, name, "number"),
        text(_MISSION[0] - 12, 22, BOX.missions[mission], "score-small end"),
        *[text(12, 42 + 15 * number, line, "label") for number, line in enumerate(lines)],
        element_id=f"mission-{mission}",
        data={"mission": mission},
        at=at,
    )
