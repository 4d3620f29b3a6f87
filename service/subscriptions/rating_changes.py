"""The change of a player's rating, in the notice about the end of a rated match. The notice waits for it for a while."""

from typing import Final

from msgspec import UNSET, UnsetType

from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import MatchRated
from service.repository.ports import Ports
from service.subscriptions.notices import Kind
from service.views.ratings import RatingChange, change, entry_of

RATING_WAIT_MS: Final = 3_000
"""How long the notice waits."""


def awaits_rating(ports: Ports, match: Match) -> bool:
    """Whether a match that has just ended is about to be rated."""
    if not match.is_to_be_rated or ports.now() > (match.ended_at or 0) + RATING_WAIT_MS:
        return False
    return _entry(ports, match) is None


def rating_change(ports: Ports, kind: Kind, match: Match, player: str) -> RatingChange | UnsetType | None:
    """What a notice says about the rating: UNSET if it is of another kind, or of a match that is not rated."""
    if kind != "finished" or not match.is_to_be_rated:
        return UNSET
    entry = _entry(ports, match)
    return None if entry is None else change(entry, player)


def _entry(ports: Ports, match: Match) -> MatchRated | None:
    """The entry of a match in its rating stream; None also if it cannot be read."""
    try:
        return entry_of(ports, match)
    except (Corrupt, Refused):
        return None
