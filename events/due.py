"""What a match is owed: an entry in the due set of each kind for which something is due."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from events.record import MatchId

Owed: TypeAlias = Mapping[str, int | None]
"""By the name of a kind: when it is due, in server milliseconds, or None where nothing of it is due.

The log knows no kinds: a kind that is not named stays as it is.
"""


class Due(msgspec.Struct, frozen=True):
    """An entry of a due set: `at` is server time in milliseconds."""

    match: MatchId
    kind: str
    at: int
