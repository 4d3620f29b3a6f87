"""What a match is owed next, and when."""

from typing import Literal, TypeAlias

import msgspec

from events.record import MatchId

DueKind: TypeAlias = Literal["job", "clock"]
"""`job`: work for the queue (a bot's turn, scoring), claimed with a lease. `clock`: a deadline, enforced by any sweeper."""
DUE_KINDS: tuple[DueKind, ...] = ("job", "clock")


class Due(msgspec.Struct, frozen=True):
    """What a match is owed, and when: `at` is server time in milliseconds."""

    match: MatchId
    kind: DueKind
    at: int
