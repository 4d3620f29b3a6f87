"""The tables at which the laws test Monkeys on the Moon."""

from typing import Final

from service.games.monkeys_on_the_moon.game import GAME
from tests.service.games.matches import Table
from tests.service.games.monkeys_on_the_moon.builders import pieces

TABLES: Final = (
    *(Table(f"monkeys_on_the_moon of {seats}", GAME, seats, pieces) for seats in GAME.info.seats),
    Table("monkeys_on_the_moon of 3, advanced", GAME, 3, pieces, {"maximum_scorn": True, "treachery": True}),
)
