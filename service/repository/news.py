"""What happened to a player beside the player's matches: kept for a day, for the player's streams.

It is part of no match and no backup. Each item is posted once, however often a command is repeated.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from events.record import MatchId, Version

KEEP_MS: Final = 24 * 3_600_000
"""How long an item is kept, in milliseconds."""
MAX_ITEMS: Final = 100
"""Maximum number of items of a player; the oldest are removed."""

SeekEnd: TypeAlias = Literal[
    "expired", "no-stream", "too-many-open-matches", "too-many-seats", "invalid-options", "game-not-found"
]
"""Why a seek ended without a match: its time, or the player's last stream, was over; or the code of the refusal that
each player would have got who creates the match, or this player when taking a seat in it."""


class SeatFreed(msgspec.Struct, frozen=True, tag="seat_freed"):
    """The event at `version` freed the player's seat."""

    match: MatchId
    version: Version


class RematchAsked(msgspec.Struct, frozen=True, tag="rematch"):
    """Another player asked for a rematch of the match `rematch_of`; it is `match`."""

    match: MatchId
    rematch_of: MatchId


class SeekEnded(msgspec.Struct, frozen=True, tag="seek_ended"):
    """The player's seek ended without a match."""

    seek: str
    reason: SeekEnd


Item: TypeAlias = SeatFreed | RematchAsked | SeekEnded


class Posted(NamedTuple):
    """An item, and when it was posted first, in server milliseconds."""

    at: int
    item: Item


class News(Protocol):
    def post(self, player: str, item: Item, at: int) -> None:
        """Keep an item for a player, and wake the player's streams. An item that is posted again keeps its time."""
        ...

    def since(self, player: str, at: int) -> Sequence[Posted]:
        """The items that were posted at this time or later, oldest first."""
        ...
