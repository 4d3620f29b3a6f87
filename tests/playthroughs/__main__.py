"""`make playthroughs`: write all golden playthroughs again, for review of the diff."""

from service.games.registry import GAMES
from tests.playthroughs.record import cases, path, played, record

for game in GAMES:
    for case in cases(game):
        path(game, case).write_text(record(game, case, *played(game, case)), encoding="utf-8")
        print(path(game, case).name)
