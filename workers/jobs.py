"""What the queue may ask for: an id in, one use case. A job is safe to run twice, and safe to lose."""

import os
from collections.abc import Callable
from typing import Final

from events.record import MatchId
from service.container import build
from service.settings import read
from workers.alarm import alarm
from workers.turns import Turns

_play: Final[list[Callable[[MatchId], object]]] = []
"""RQ calls functions by name, so what they work with belongs to the process."""


def use(play: Callable[[MatchId], object]) -> None:
    """Let this process's jobs be played by a function."""
    _play[:] = [play]


def advance(match_id: MatchId) -> None:
    """Play what a match owes."""
    if not _play:
        use(Turns(build(read(os.environ), listen=False).ports, bot_limit=alarm).play)
    _play[0](match_id)
