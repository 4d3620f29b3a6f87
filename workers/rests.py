"""Matches that failed are left alone for a while, each time for twice as long."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from events.record import MatchId

REST: Final = 1.0
"""Seconds of the first rest."""
LONGEST_REST: Final = 64.0
REMEMBERED: Final = 10_000


class Rests:
    """Which matches one thread leaves alone. Nothing of it is stored: another process tries once by itself."""

    def __init__(self, first: float = REST, steady: Callable[[], float] = time.monotonic) -> None:
        self._first = first
        self._steady = steady
        self._rests: OrderedDict[MatchId, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rests)

    def begin(self, match_id: MatchId) -> None:
        """The match failed."""
        _, last = self._rests.pop(match_id, (0.0, 0.0))
        seconds = min(last * 2, LONGEST_REST) if last else self._first
        self._rests[match_id] = (self._steady() + seconds, seconds)
        if len(self._rests) > REMEMBERED:
            self._rests.popitem(last=False)

    def end(self, match_id: MatchId) -> None:
        """The match did not fail."""
        self._rests.pop(match_id, None)

    def is_resting(self, match_id: MatchId) -> bool:
        """Whether the match is still left alone."""
        return self._steady() < self._rests.get(match_id, (0.0, 0.0))[0]
