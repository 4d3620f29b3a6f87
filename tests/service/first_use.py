"""`python -m tests.service.first_use`: plays a match of each game, and prints the types that msgspec meets only then.

A process has threads by then. msgspec 0.22 makes its description of a type in several steps, and Python may switch threads
between them. Another thread that decodes the type meanwhile reads a null pointer, and the process ends with SIGSEGV.
"""

import sys
import traceback
from types import CodeType, FrameType
from typing import Final

from msgspec import _utils as msgspec_utils

import workers.calls
import workers.process  # noqa: F401  (the modules of the processes with threads)
from service.automation import adoption
from service.games.registry import GAMES
from service.match.task import task
from service.repository.match_history import History
from service.subscriptions import webhook_news
from tests.service.arena import Arena

_CODE: Final[CodeType] = getattr(msgspec_utils, "get_class_annotations").__code__  # noqa: B009  (it has no public name)
"""What msgspec calls for each class that it meets."""
_met: dict[str, str] = {}


def _watch(frame: FrameType, event: str, _: object) -> None:
    if event == "call" and frame.f_code is _CODE:
        line = traceback.extract_stack(frame.f_back)[-1]
        _met.setdefault(str(frame.f_locals["obj"])[:200], f"{line.filename}:{line.lineno}")


def _play(arena: Arena, game: str) -> None:
    """A match of a person, who leaves, and bots, to its end. Then it is read with its snapshots, and without."""
    seats = min(GAMES[game].info.seats)
    match_id = arena.create(game, seats, bots=("random",) * (seats - 1), by="ada")
    arena.join(match_id, "ada")
    match = arena.match(match_id)
    task(match, match.seat_of("ada") or 0, "en")
    arena.leave(match_id, "ada")
    assert arena.play_out(match_id).status == "finished"
    for _ in range(2):
        history = History(arena.log, GAMES, arena.ports.secret)
        assert history.events(history.newest(match_id)[0], None, 0, 1_000)
        arena.log.forget_snapshots()
    webhook_news.collect(arena.ports, match_id)
    adoption.adopt(arena.ports, lambda: True)


if __name__ == "__main__":
    arena = Arena(*GAMES.values())
    sys.setprofile(_watch)
    for name in GAMES:
        _play(arena, name)
    sys.setprofile(None)
    for met, place in _met.items():
        print(f"{place} {met}")
