"""Draws the Monkey Pool, the auction and the Ship Pool."""

from typing import Final

from service.games.drawing import frame
from service.games.drawing.svg import Element, Point, group, path, rect, text
from service.games.drawing.words import Words
from service.games.monkeys_on_the_moon.cards import CARD, SHIP, coin, monkey_card, ship_card
from service.games.monkeys_on_the_moon.components import SHIP_POOL
from service.games.monkeys_on_the_moon.view import AuctionView, Observation

MARKET: Final = (852, 168)
"""Width and height of the panel with the pools and the auction."""

_TOP: Final = 34
_STEP: Final = CARD[0] + 8


def market(seen: Observation, words: Words, at: Point) -> Element:
    """From the left: the Monkey Pool, the monkey up for auction and the Ship Pool, with the sizes of their decks below."""
    pool = [
        monkey_card(card, words, (12 + _STEP * index, _TOP), {"type": "select_monkey", "card": card})
        for index, card in enumerate(seen.monkey_pool)
    ]
    ships = [
        ship_card(card, (), words, (566 + (SHIP[0] + 8) * index, _TOP), {"type": "choose_ship", "card": card})
        for index, card in enumerate(seen.ship_pool[:SHIP_POOL])
    ]
    ships_left = seen.ship_deck + len(seen.ships_under_deck)
    return group(
        rect(0, 0, *MARKET, "panel", corner=12),
        text(12, 22, words["picture.pool"], "label"),
        *pool,
        text(
            12, 154, words["picture.monkeys"].format(deck=seen.monkey_deck, discards=len(seen.monkey_discard)), "label"
        ),
        path("M392 14V154M554 14V154", "rule"),
        text(404, 22, words["picture.auction"], "label"),
        *_auction(seen.auction, words),
        text(566, 22, words["picture.ships"], "label"),
        *ships,
        text(566, 154, words["picture.rockets"].format(deck=ships_left, discards=len(seen.ship_discard)), "label"),
        at=at,
    )


def _auction(auction: AuctionView | None, words: Words) -> list[Element]:
    if auction is None:
        return [rect(404, _TOP, *CARD, "nothing", corner=8)]
    shapes = [monkey_card(auction.monkey, words, (404, _TOP), {})]
    if auction.bidder is not None:
        coins = [tribe for tribe, count in auction.coins.items() for _ in range(count)]
        step = min(22, 54 // max(1, len(coins) - 1))
        shapes += [
            frame.mark(auction.bidder, 492, 48, 900),
            text(512, 55, auction.points, "score", element_id="bid"),
            *[coin(tribe, (490 + step * index, 86)) for index, tribe in enumerate(coins)],
        ]
    else:
        shapes.append(text(480, 54, words["picture.no_bid"], "label"))
    shapes += [frame.mark(seat, 416 + 30 * index, 146, 800) for index, seat in enumerate(auction.still_in)]
    return shapes
