"""Draws Monkeys on the Moon: the tribes, the pools, and the seats with their ships, coins and hands."""

from typing import Final

from service.games.drawing import frame
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, Point, group, rect, text, use
from service.games.drawing.words import Words
from service.games.monkeys_on_the_moon.art import ART
from service.games.monkeys_on_the_moon.cards import (
    CHIP,
    SHIP,
    civilization_card,
    coin,
    monkey_chip,
    scorn,
    ship_card,
)
from service.games.monkeys_on_the_moon.components import BOX, TRIBES, CardId
from service.games.monkeys_on_the_moon.market import MARKET, market
from service.games.monkeys_on_the_moon.tribes import CIRCLE, TRACK, circle_of, track_of
from service.games.monkeys_on_the_moon.view import Observation, SeatView
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

_WIDTH: Final = 1280
_TOP: Final = frame.HEADING + 4
_SEATS_TOP: Final = _TOP + CIRCLE + 16
_PANEL: Final = 196
_GAP: Final = 12
_ART: Final = {**frame.MARKS, **ART}


def picture(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    """The table as a viewer sees it, with the viewer's hand and coins at the bottom."""
    status_text = frame.status(
        [seen.awaited.seat] if seen.awaited else [],
        None if seen.awaited is None else seen.awaited.step,
        viewer,
        words,
        outcome,
    )
    order = frame.seating_order(range(len(seen.seats)), viewer)
    others = [seat for seat in order if seat != viewer]
    height = _SEATS_TOP + (_PANEL + _GAP) * (2 if len(others) < len(order) else 1) + _GAP
    return Picture(
        _WIDTH,
        height,
        css_class="monkeys-on-the-moon",
        language=words["language"],
        title=words["title"],
        description=frame.summary(words, status_text, None if outcome is None else outcome.scores, viewer),
        art=_ART,
        body=(
            *frame.heading(_WIDTH, words, status_text, *_facts(seen, words)),
            circle_of(seen, words, (frame.MARGIN, _TOP)),
            track_of(seen, words, (_WIDTH - frame.MARGIN - TRACK[0], _TOP)),
            market(seen, words, (_WIDTH - frame.MARGIN - MARKET[0], _TOP + TRACK[1] + 16)),
            *_panels(seen, others, viewer, words, outcome),
        ),
    )


def _facts(seen: Observation, words: Words) -> list[str]:
    facts = [words["picture.round"].format(round=seen.round, rounds=seen.rounds)]
    variants = [name for name in ("maximum_scorn", "treachery") if getattr(seen.options, name)]
    if variants:
        facts.append(", ".join([words[f"option.{name}"].partition(":")[0] for name in variants]))
    played, deck = len(seen.civilization_discard), seen.civilization_deck
    return [*facts, words["picture.civilization"].format(deck=deck, discards=played)]


def _panels(
    seen: Observation, others: list[Seat], viewer: Viewer, words: Words, outcome: Outcome | None
) -> list[Element]:
    whole = _WIDTH - 2 * frame.MARGIN
    lefts = [frame.MARGIN + (whole + _GAP) * index // len(others) for index in range(len(others) + 1)]
    panels = [
        _panel(seen, seat, right - left - _GAP, (left, _SEATS_TOP), viewer, words, outcome)
        for seat, left, right in zip(others, lefts, lefts[1:], strict=False)
    ]
    if viewer is not None:
        at = (frame.MARGIN, _SEATS_TOP + _PANEL + _GAP)
        panels.append(_panel(seen, viewer, whole, at, viewer, words, outcome))
    return panels


def _panel(
    seen: Observation, seat: Seat, width: int, at: Point, viewer: Viewer, words: Words, outcome: Outcome | None
) -> Element:
    held = seen.seats[seat]
    own = held.coins is not None and seat == viewer
    content = _ship(seen, seat, words) if outcome is None else _breakdown(seat, words, outcome)
    content += _scorn(seen, seat, words)
    content += _launched(seat, held, 420 if own else width - 150, 66 if own else 90, words)
    content += _own(held, words) if own else _counts(seat, held)
    if seen.turn_order[0] == seat:
        content.append(use("moonstone", 212 if own else 150, 26))
    return frame.panel(
        seat,
        width,
        _PANEL,
        *content,
        at=at,
        viewer=viewer,
        words=words,
        to_move=seen.awaited is not None and seen.awaited.seat == seat,
        outcome=outcome,
    )


def _ship(seen: Observation, seat: Seat, words: Words) -> list[Element]:
    """A seat's ship with the monkeys aboard. Monkeys without a ship, and those about to board, are drawn in its place."""
    held = seen.seats[seat]
    waiting = () if held.ship is not None else held.aboard
    if seen.awaited is not None and seen.awaited.seat == seat:
        waiting += seen.boarding
    shapes = [rect(16, 50, *SHIP, "nothing", corner=8)] if held.ship is None else []
    if held.ship is not None:
        shapes.append(ship_card(held.ship, held.aboard, words, (16, 50), {}))
    shapes += [
        monkey_chip(card, words, (20 + CHIP * (index % 3) - 4 * (index % 3), 56 + 24 * (index // 3)))
        for index, card in enumerate(waiting)
    ]
    return [group(*shapes, element_id=f"seat-{seat}-ship")]


def _scorn(seen: Observation, seat: Seat, words: Words) -> list[Element]:
    held = [tribe for tribe in TRIBES if seen.tribes[tribe].scorn_holder == seat]
    step = min(32, 96 // max(1, len(held) - 1))
    cards = [scorn(tribe, words, (32 + step * index, 168)) for index, tribe in enumerate(held)]
    return [group(*cards, element_id=f"seat-{seat}-scorn")]


def _breakdown(seat: Seat, words: Words, outcome: Outcome) -> list[Element]:
    """The parts of the score, drawn at the end in place of the ship."""
    parts = outcome.breakdown[seat].items()
    return [
        text(16, 68 + 22 * row, f"{words[f'breakdown.{part}']}: {points}", "label")
        for row, (part, points) in enumerate(parts)
    ]


def _launched(seat: Seat, held: SeatView, room: int, y: int, words: Words) -> list[Element]:
    """The number and the points of full ships, and the launched monkeys sorted by tribe and status."""
    home = sorted(held.launched, key=lambda card: (TRIBES.index(BOX.monkeys[card].tribe), -BOX.monkeys[card].status))
    in_row = max(1, room // CHIP)
    chips = [
        monkey_chip(card, words, (142 + CHIP * (index % in_row), y + 16 + 24 * (index // in_row)))
        for index, card in enumerate(home)
    ]
    points = sum(BOX.ships[ship].points for ship in held.full_ships)
    return [
        use("rocket", 160, y, scale_permille=600),
        text(186, y + 6, len(held.full_ships), "number", element_id=f"seat-{seat}-full"),
        use("star", 216, y),
        text(230, y + 6, points, "number", element_id=f"seat-{seat}-stars"),
        group(*chips, element_id=f"seat-{seat}-home"),
    ]


def _counts(seat: Seat, held: SeatView) -> list[Element]:
    """The numbers of coins and cards of a seat whose coins and cards are hidden from the viewer."""
    return [
        use("purse", 158, 62),
        text(186, 68, held.coin_count, "number", element_id=f"seat-{seat}-coins"),
        use("back", 216, 62, scale_permille=750),
        text(230, 68, held.hand_count, "number", element_id=f"seat-{seat}-hand"),
    ]


def _own(held: SeatView, words: Words) -> list[Element]:
    """The viewer's coins by tribe, and its hand."""
    coins: list[Element] = []
    for index, tribe in enumerate(TRIBES):
        count = (held.coins or {}).get(tribe, 0)
        stack = [coin(tribe, (0, -5 * level)) for level in range(count)]
        coins.append(
            group(
                rect(-20, -64, 40, 104, "well", corner=10),
                *stack,
                text(0, 34, count, "number mid"),
                element_id=f"coins-{tribe}",
                data={"coins": tribe},
                at=(640 + 48 * index, 114),
                title=words[f"tribe.{tribe}"],
            )
        )
    hand = [_civilization(card, words, (942 + 94 * index, 54)) for index, card in enumerate(held.hand or ())]
    return [
        group(use("purse"), data={"with": "coin"}, at=(632, 36), title=words["with.coin"]),
        text(650, 41, words["picture.coins"], "label"),
        group(
            use("scorn", css_class="muted", scale_permille=700),
            data={"with": "scorn"},
            at=(740, 36),
            title=words["with.scorn"],
        ),
        text(756, 41, words["picture.scorn"], "label"),
        *coins,
        *hand,
    ]


def _civilization(card: CardId, words: Words, at: Point) -> Element:
    return civilization_card(card, words, at, {"type": "play_civilization", "card": card}, 1250)
