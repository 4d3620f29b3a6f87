"""Seeks: players who wait for others with the same wishes. They are short-lived, and part of no match and no backup."""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from events.record import MatchId
from service.match.new_match import NewMatch

DONE_S: Final = 3_600
"""Seconds for which a seek that led to a match is remembered."""


class Seek(msgspec.Struct, frozen=True):
    """A player's wish for a match. Times are in server milliseconds. `match` is None while the player waits.

    `rating_from` and `rating_to` are the least and the greatest rating of the other players; None is no limit.
    """

    id: str
    player: str
    wanted: NewMatch
    created_at: int
    expires_at: int
    match: MatchId | None = None
    rating_from: int | None = None
    rating_to: int | None = None


class Pairing(msgspec.Struct, frozen=True):
    """Seeks that were put together, as many as their match has seats. The match may not exist yet, or not be full."""

    match: MatchId
    seeks: tuple[Seek, ...]


class Waiting(msgspec.Struct, frozen=True):
    """A seek, and when its player's stream was last seen (0 if never)."""

    seek: Seek
    seen_at: int


class Seeks(Protocol):
    """All seeks and unfinished pairings; a player has one seek at most. Each method is atomic."""

    def add(self, seek: Seek, limit: int) -> Seek | None:
        """Add a seek, unless it led to a match already, the player has another one, or `limit` seeks wait.

        Returns the seek with this id as it is now, or the other seek; None at the limit. The player's streams are
        woken, so that they call `see` at once.
        """
        ...

    def of(self, player: str) -> Seek | None: ...

    def done(self, seek_id: str) -> Seek | None:
        """A seek that led to a match, for a while."""
        ...

    def remove(self, seek: Seek) -> bool:
        """Remove a seek that still waits. Returns whether it did."""
        ...

    def see(self, player: str) -> None:
        """Record that the player's stream is open now, if the player has a seek. The time is that of the server."""
        ...

    def waiting(self) -> Sequence[Waiting]: ...

    def pair(self, pairing: Pairing) -> bool:
        """Replace these seeks by a pairing, if all of them still wait. Returns whether they did."""
        ...

    def pairings(self) -> Sequence[Pairing]: ...

    def finish(self, pairing: Pairing, again: Sequence[Seek], ended: Sequence[Seek]) -> None:
        """Remove a pairing. The players of `again` wait again, unless they have another seek; `ended` are over."""
        ...
