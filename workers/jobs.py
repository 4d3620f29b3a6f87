"""The only function that a job in the queue may call. A job is safe to run twice, and safe to lose."""

import os
from collections.abc import Callable
from typing import Final

from events.record import MatchId
from service.container import build
from service.settings import read
from workers.time_limits import wall_time_limit
from workers.turns import Turns

_play: Final[list[Callable[[MatchId], object]]] = []
"""RQ calls functions by name, so what they need is global to the process."""


def use(play: Callable[[MatchId], object]) -> None:
    """Set the function that plays a match for this process's jobs."""
    _play[:] = [play]


def advance(match_id: MatchId) -> None:
    """Play the turns that are due in a match."""
    if not _play:
        use(Turns(build(read(os.environ), listen=False).ports, bot_limit=wall_time_limit).play)
    _play[0](match_id)
