"""How long bots may take to choose, and which of them are left alone after they failed."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, TypeAlias

from events.record import MatchId

REST_MS: Final = 30_000
"""A bot that failed where there is no default action is not asked again for the same decision for so long."""
REMEMBERED: Final = 1024

Limit: TypeAlias = Callable[[], AbstractContextManager[object]]
"""What a choice is made in; it may end one that takes too long by an exception of its own."""


class Patience:
    """One process's patience with bots: a bot that hangs costs it one choice's time in `REST_MS`, and delays no other more.

    Nothing of it is in the log: another process asks once by itself, and so does this one after a restart.
    """

    def __init__(self, limit: Limit = nullcontext) -> None:
        self.limit = limit
        self._until: OrderedDict[tuple[MatchId, str], int] = OrderedDict()

    def leave_alone(self, match: MatchId, decision: str, at: int) -> None:
        self._until[match, decision] = at + REST_MS
        while len(self._until) > REMEMBERED:
            self._until.popitem(last=False)

    def is_left_alone(self, match: MatchId, decision: str, at: int) -> bool:
        return at < self._until.get((match, decision), at)
