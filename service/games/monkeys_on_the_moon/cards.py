"""Draws the pieces of Monkeys on the Moon: cards, chips, coins and ships. A piece keeps its id wherever it lies."""

from collections.abc import Sequence
from typing import Final

from service.games.drawing.svg import Data, Element, Point, circle, group, rect, text, use
from service.games.drawing.words import Words
from service.games.monkeys_on_the_moon.components import BOX, CardId, Tribe

CARD: Final = (66, 92)
"""Width and height of a card."""
SHIP: Final = (112, 92)
CHIP: Final = 40
"""Distance from one chip to the next."""


def card_title(tribe: Tribe, number: int, words: Words) -> str:
    return f"{words[f'tribe.{tribe}']} {number}"


def monkey_card(card: CardId, words: Words, at: Point, data: Data) -> Element:
    """A Monkey card: its tribe and its status."""
    monkey = BOX.monkeys[card]
    width, height = CARD
    return group(
        rect(0, 0, width, height, f"card tribe-{monkey.tribe} edge", corner=8),
        rect(5, 28, width - 10, height - 33, "card-face", corner=5),
        use(f"emblem-{monkey.tribe}", 16, 15),
        text(width - 10, 22, monkey.status, "on-tribe end"),
        use("monkey", width // 2, 58),
        element_id=f"monkey-{card}",
        data=data,
        at=at,
        title=card_title(monkey.tribe, monkey.status, words),
    )


def monkey_chip(card: CardId, words: Words, at: Point) -> Element:
    """A monkey on its way or at home, drawn small."""
    monkey = BOX.monkeys[card]
    return group(
        rect(0, 0, 36, 20, f"tribe-{monkey.tribe} tribe edge", corner=10),
        use(f"emblem-{monkey.tribe}", 12, 10, scale_permille=700),
        text(29, 15, monkey.status, "on-tribe small end"),
        element_id=f"monkey-{card}",
        at=at,
        title=card_title(monkey.tribe, monkey.status, words),
    )


def civilization_card(card: CardId, words: Words, at: Point, data: Data, scale_permille: int = 1000) -> Element:
    """A Civilization card: its tribe, and the number of spaces that it advances a stone."""
    civilization = BOX.civilization[card]
    width, height = CARD
    steps = [
        rect(width // 2 - 12, 74 - 12 * step, 24, 8, f"step tribe-{civilization.tribe}", corner=3)
        for step in range(civilization.spaces)
    ]
    return group(
        rect(0, 0, width, height, f"card tribe-{civilization.tribe} edge", corner=8),
        rect(5, 28, width - 10, height - 33, "card-face", corner=5),
        use(f"emblem-{civilization.tribe}", 16, 15),
        text(width - 10, 22, f"+{civilization.spaces}", "on-tribe end"),
        *steps,
        element_id=f"civilization-{card}",
        data=data,
        at=at,
        scale_permille=scale_permille,
        title=card_title(civilization.tribe, civilization.spaces, words),
    )


def ship_card(card: CardId, aboard: Sequence[CardId], words: Words, at: Point, data: Data) -> Element:
    """A Ship card with the monkeys aboard."""
    ship = BOX.ships[card]
    width, height = SHIP
    positions = [(width // 2 + 25 * index - 25 * (ship.capacity - 1) // 2, 74) for index in range(ship.capacity)]
    free = [circle(x, y, 11, "berth") for x, y in positions[len(aboard) :]]
    passengers = [_passenger(monkey, words, (x, y)) for monkey, (x, y) in zip(aboard, positions, strict=False)]
    return group(
        rect(0, 0, width, height, f"card tribe-{ship.tribe} edge", corner=8),
        rect(5, 28, width - 10, height - 33, "card-face", corner=5),
        use(f"emblem-{ship.tribe}", 16, 15),
        use("star", width - 32, 15),
        text(width - 10, 22, ship.points, "on-tribe end"),
        use("rocket", width // 2, 46, scale_permille=800),
        *free,
        *passengers,
        element_id=f"ship-{card}",
        data=data,
        at=at,
        title=words[f"ship.{card}"],
    )


def _passenger(card: CardId, words: Words, at: Point) -> Element:
    """A monkey aboard a ship, with its emblem and status."""
    monkey = BOX.monkeys[card]
    return group(
        rect(-12, -14, 24, 28, f"tribe-{monkey.tribe} tribe edge", corner=8),
        use(f"emblem-{monkey.tribe}", 0, -5, scale_permille=600),
        text(0, 11, monkey.status, "on-tribe tiny mid"),
        element_id=f"monkey-{card}",
        at=at,
        title=card_title(monkey.tribe, monkey.status, words),
    )


def coin(tribe: Tribe, at: Point, scale_permille: int = 1000) -> Element:
    """A Favor coin of a tribe."""
    return group(
        circle(0, 0, 12, "coin"),
        circle(0, 0, 9, f"tribe-{tribe}"),
        use(f"emblem-{tribe}", 0, 0, scale_permille=650),
        at=at,
        scale_permille=scale_permille,
    )


def scorn(tribe: Tribe, words: Words, at: Point) -> Element:
    """A tribe's Scorn card."""
    return group(
        use("scorn", css_class=f"tribe-{tribe} edge"),
        use(f"emblem-{tribe}", 0, -3, scale_permille=700),
        element_id=f"scorn-{tribe}",
        at=at,
        title=f"{words['picture.scorn']}: {words[f'tribe.{tribe}']}",
    )
