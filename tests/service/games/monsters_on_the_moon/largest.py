"""The states with the longest legal lists of 200 random matches of four seats: most placements, and most walls.

They are stored in `largest_display.json` and `most_walls.json`: `laid` has cards with x, y and rotation, `ships` has x,
y and seat, `walls` has x, y, orientation, length and seat.
"""

import json
from pathlib import Path
from typing import Any, Final

from service.games.monsters_on_the_moon.components import BOX
from service.games.monsters_on_the_moon.effects import AreaEnclosed, SpaceshipPlaced, WallPlaced
from service.games.monsters_on_the_moon.grid import coordinates_of
from service.games.monsters_on_the_moon.squares import Place
from service.games.monsters_on_the_moon.state import State
from service.games.monsters_on_the_moon.walls import new_areas
from tests.service.games.monsters_on_the_moon.builders import after, table, turn_of, with_cards

FOLDER: Final = Path(__file__).parent


def largest_display() -> State:
    """Seat 0 has to lay one of five cards."""
    return turn_of(_read("largest_display.json", {}), 0, *BOX.decks[4][:5])


def most_walls() -> State:
    """Seat 0 has to lay walls, with the walls that it had left in the match. It has no card, so only walls are listed."""
    state = _read("most_walls.json", {"walls": True})
    areas = [AreaEnclosed(tuple([Place(*coordinates_of(cell)) for cell in area])) for area in new_areas(state)]
    return turn_of(after(state, areas), 0)


def _read(name: str, options: dict[str, Any]) -> State:
    stored = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    state = with_cards(table(4, options=options), *[tuple(laid) for laid in stored["laid"]])
    state = after(state, [SpaceshipPlaced(seat, x, y) for x, y, seat in stored["ships"]])
    walls = stored.get("walls", ())
    return after(state, [WallPlaced(seat, *wall) for *wall, seat in walls])
