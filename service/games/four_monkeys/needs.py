"""Decides whether cards fulfil the need of a combo (FOU-22)."""

from collections import Counter
from collections.abc import Sequence

from service.games.four_monkeys.components import BOX, CardId, Colour, ComboId, Need


def is_correct(combo: ComboId, cards: Sequence[CardId], colours: Sequence[Colour]) -> bool:
    """Whether the cards fulfil the need, and no card could be left out. `colours` are the deck colours by seat.

    Additional cards never make a fulfilled need unfulfilled, so it is enough to try each single card.
    """
    need = BOX.combos[combo].need
    return fulfils(need, cards, colours) and not any(
        fulfils(need, [*cards[:index], *cards[index + 1 :]], colours) for index in range(len(cards))
    )


def fulfils(need: Need, cards: Sequence[CardId], colours: Sequence[Colour]) -> bool:
    """Whether the cards fulfil the need. Additional figures and cards are allowed."""
    found = [BOX.cards[card] for card in cards]
    if need.golden is not None:
        return sum(card.golden for card in found) >= need.golden
    if need.groups is None:
        by_colour = Counter(colours[card.seat] for card in found)
        return max(by_colour.values(), default=0) >= (need.same_colour_cards or 0)
    have = sorted([sum(column) for column in zip(*[card.counts for card in found], strict=True)], reverse=True)
    return bool(have) and all(count >= group for count, group in zip(have, need.groups, strict=False))


def shortest(combo: ComboId, hand: Sequence[CardId], colours: Sequence[Colour]) -> tuple[CardId, ...]:
    """Cards of the hand that make a correct combo; empty if the hand cannot fulfil it.

    Starting with the whole hand, cards are dropped in the hand's order as long as the rest fulfils the need.
    """
    need = BOX.combos[combo].need
    cards = list(hand)
    if not fulfils(need, cards, colours):
        return ()
    for card in hand:
        cards.remove(card)
        if not fulfils(need, cards, colours):
            cards.append(card)
    return tuple(cards)
