"""The tables at which the laws test Ape Town."""

from typing import Final

from service.games.ape_town.components import SEATS
from service.games.ape_town.game import GAME
from tests.service.games.ape_town.builders import pieces
from tests.service.games.matches import Table

TABLES: Final = tuple(Table(f"ape_town of {seats}", GAME, seats, pieces) for seats in SEATS)
