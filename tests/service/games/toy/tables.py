"""The tables at which the laws test the toy game."""

from collections import Counter
from typing import Final

from tests.service.games.matches import Table
from tests.service.games.toy.game import TOY
from tests.service.games.toy.state import State


def pieces(state: State) -> Counter[str]:
    shown = (card for card in (*state.table, *state.commits) if card is not None)
    return Counter([*state.deck, *state.discards, *shown, *(card for hand in state.hands for card in hand)])


TABLES: Final = (
    Table("toy of 2", TOY, 2, pieces),
    Table("toy of 3, long", TOY, 3, pieces, {"tricks": 12, "ties": "shared", "countdown_ms": 0}),
    Table("toy of 4, clock hidden", TOY, 4, pieces, {"hand": 5, "tricks": 6, "timer_visible": False}),
)
