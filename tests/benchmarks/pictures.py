"""The time and the size of pictures: the maximum over all tables that the laws of games use, and over all viewers."""

import time
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from service.games.drawing.page import document
from service.games.drawing.words import picture_words
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from tests.service.games.matches import positions
from tests.service.games.monsters_on_the_moon.largest import largest_display, most_walls
from tests.service.games.tables import HOSTED

REPEATS: Final = 5


class Drawn(msgspec.Struct, frozen=True):
    """The processor time (ms) of the slowest picture, as the best of several runs, and the size (bytes) of the largest
    one.
    """

    ms: float
    size: int


def worst(game_id: str) -> Drawn:
    """The largest figures of a game; the time is from the observation to the document."""
    drawn = [_drawn(GAMES[game_id], state, seats) for state, seats in _states(game_id)]
    return Drawn(max(one.ms for one in drawn), max(one.size for one in drawn))


def _states(game_id: str) -> Iterator[tuple[Any, int]]:
    for table in HOSTED:
        if table.game.info.id == game_id:
            yield from ((position.state, table.seats) for position in positions(table, 6))
    if game_id == "monsters_on_the_moon":
        yield from ((state, 4) for state in (largest_display(), most_walls()))


def _drawn(game: AnyGame, state: Any, seats: int) -> Drawn:
    words = picture_words(game.texts, "de")
    slowest, largest = 0.0, 0
    for viewer in (None, *range(seats)):
        seen, times = game.observation(state, viewer), []
        for _ in range(REPEATS):
            began = time.process_time()
            drawn = document(game.picture(seen, viewer, words, None))
            times.append(time.process_time() - began)
        slowest, largest = max(slowest, min(times)), max(largest, len(drawn.encode()))
    return Drawn(1000 * slowest, largest)
