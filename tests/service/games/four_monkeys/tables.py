"""The tables at which the laws test 4 Monkeys."""

from collections import Counter
from typing import Final

from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import State, skins
from tests.service.games.matches import Table


def pieces(state: State) -> Counter[str]:
    """Every card, combo tile and banana skin."""
    found: Counter[str] = Counter()
    for area, (seats, stacks) in enumerate(zip(state.areas, state.stacks, strict=True)):
        tiles = [
            tile for seat in seats for held in (state.seats[seat],) for tile in held.tiles + held.repeated + held.wrong
        ]
        combos = [*(combo for stack in stacks for combo in stack), *(tile.combo for tile in tiles)]
        found.update(f"combo {len(seats)}{combo}" for combo in combos)
        found[f"skins {area}"] = sum(skins(state.seats[seat]) for seat in seats)
        found.update(card for tile in tiles for card in tile.cards)
    found.update(card for held in state.seats for card in held.deck + held.hand + held.discards)
    return +found


SKINS: Final = {"banana_skins": True, "countdown_seconds": 0}
FAMILY: Final = {"banana_skins": True, "family": True, "timer_visible": False, "round_seconds": 30}

TABLES: Final = (
    Table("four_monkeys of 2, with skins", GAME, 2, pieces, SKINS, seed=99),
    Table("four_monkeys of 3", GAME, 3, pieces, seed=26),
    Table("four_monkeys of 4, family", GAME, 4, pieces, FAMILY, seed=63),
    Table("four_monkeys of 5", GAME, 5, pieces, seed=36),
    Table("four_monkeys of 6, with skins", GAME, 6, pieces, SKINS, seed=53),
    Table("four_monkeys of 7, family", GAME, 7, pieces, FAMILY, seed=64),
    Table("four_monkeys of 8", GAME, 8, pieces, seed=7),
)
"""The seeds give matches with many rare situations."""
