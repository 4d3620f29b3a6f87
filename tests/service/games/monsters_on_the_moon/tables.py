"""The tables at which the laws test Monsters on the Moon."""

from collections.abc import Mapping
from typing import Any, Final

from service.games.monsters_on_the_moon.game import GAME
from tests.service.games.matches import Table
from tests.service.games.monsters_on_the_moon.builders import pieces

OWN_LAYOUT: Final = [
    {"card": "d1", "x": 0, "y": 0, "rotation": 90},
    {"card": "ARM", "x": 2, "y": 1, "rotation": 270},
    {"card": "d2", "x": -3, "y": 1, "rotation": 180},
]


def _table(seats: int, name: str = "", options: Mapping[str, Any] | None = None) -> Table:
    return Table(f"monsters_on_the_moon of {seats}{name}", GAME, seats, pieces, options or {})


TABLES: Final = (
    *(_table(seats) for seats in GAME.info.seats),
    _table(2, ", open missions", {"missions": "open", "layout": OWN_LAYOUT, "monsters": ["vampire", "witch"]}),
    _table(2, ", walls", {"walls": True, "layout": "confrontation"}),
    _table(3, ", walls and open missions", {"walls": True, "missions": "open"}),
    _table(4, ", walls and secret missions", {"walls": True, "missions": "secret"}),
    _table(3, ", secret missions", {"missions": "secret", "layout": "confrontation"}),
)
