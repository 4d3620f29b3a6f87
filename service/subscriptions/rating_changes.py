"""The change of a player's rating in the notice about the end of a rated match. The stream delays this notice until the match
is rated, but not for long.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import MatchRated
from service.repository.ports import Ports
from service.repository.rating_streams import entry_of
from service.subscriptions.notices import Kind
from service.views.ratings import RatingChange, change

RATING_WAIT_MS: Final = 3_000
"""How long after the end of a match its notice waits for the rating. After that it is sent without, at the next heartbeat."""


def awaits_rating(ports: Ports, match: Match) -> bool:
    """Whether a match that has just ended is about to be rated."""
    if not match.is_to_be_rated or ports.now() > (match.ended_at or 0) + RATING_WAIT_MS:
        return False
    return _entry(ports, match) is None


def rating_change(ports: Ports, kind: Kind, match: Match, player: str) -> RatingChange | UnsetType | None:
    """The change of the rating in a notice: UNSET in other kinds and for matches that are not rated, None if it is not known."""
    if kind != "finished" or not match.is_to_be_rated:
        return UNSET
    entry = _entry(ports, match)
    return None if entry is None else change(entry, player)


def _entry(ports: Ports, match: Match) -> MatchRated | None:
    """The entry of a match in its rating stream; None also if it cannot be read."""
    try:
        found = entry_of(ports.log, match)
    except (Corrupt, Refused):
        return None
    return None if found is None else found.rated
