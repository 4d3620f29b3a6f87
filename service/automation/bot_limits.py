"""A time limit for bots, and a circuit breaker for decisions in which a bot failed."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, TypeAlias

from events.record import MatchId

SKIP_MS: Final = 30_000
"""How long a decision is skipped after its bot failed and there was no default action."""
MAX_SKIPPED: Final = 1024
"""Maximum number of decisions that are remembered; the oldest is forgotten first."""

Limit: TypeAlias = Callable[[], AbstractContextManager[object]]
"""Creates the context in which a bot chooses; it may end a choice that takes too long by raising an exception."""


class CircuitBreaker:
    """Skips a failed bot's decision for `SKIP_MS`, so that a bot that hangs does not delay other matches again and again.

    It is kept in the memory of one process. Every other process, and this one after a restart, calls the bot once more.
    """

    def __init__(self, limit: Limit = nullcontext) -> None:
        self.limit = limit
        self._until: OrderedDict[tuple[MatchId, str], int] = OrderedDict()

    def skip(self, match: MatchId, decision: str, at: int) -> None:
        """Skip a decision from `at` (milliseconds) on."""
        self._until[match, decision] = at + SKIP_MS
        while len(self._until) > MAX_SKIPPED:
            self._until.popitem(last=False)

    def is_skipped(self, match: MatchId, decision: str, at: int) -> bool:
        return at < self._until.get((match, decision), at)
