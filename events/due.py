"""When a match needs work: per kind of work, such as a bot's turn or a deadline, an entry in a due set."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from events.record import MatchId

DueTimes: TypeAlias = Mapping[str, int | None]
"""Due times of one match by kind, in server milliseconds; None if nothing of that kind is due.

Kinds are any names. A kind that is missing from the mapping stays unchanged.
"""


class Due(msgspec.Struct, frozen=True):
    """An entry of a due set: `at` is server time in milliseconds."""

    match: MatchId
    kind: str
    at: int
