"""Delays before a match that failed is tried again. The delay doubles with each failure."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from events.record import MatchId

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 64.0
MAX_MATCHES: Final = 10_000
"""The most matches that are remembered; the one that failed first is forgotten first."""


class RetryDelays:
    """The failed matches that one thread skips. It is kept in memory only: every process tries each match by itself."""

    def __init__(self, first: float = FIRST_DELAY_S, steady: Callable[[], float] = time.monotonic) -> None:
        self._first = first
        self._steady = steady
        self._delays: OrderedDict[MatchId, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._delays)

    def failed(self, match_id: MatchId) -> None:
        """Record a failure: skip the match for twice as long as the last time."""
        _, last = self._delays.pop(match_id, (0.0, 0.0))
        seconds = min(last * 2, LONGEST_DELAY_S) if last else self._first
        self._delays[match_id] = (self._steady() + seconds, seconds)
        if len(self._delays) > MAX_MATCHES:
            self._delays.popitem(last=False)

    def succeeded(self, match_id: MatchId) -> None:
        """Record a success: forget earlier failures."""
        self._delays.pop(match_id, None)

    def is_delayed(self, match_id: MatchId) -> bool:
        """Whether the match is still to be skipped."""
        return self._steady() < self._delays.get(match_id, (0.0, 0.0))[0]
