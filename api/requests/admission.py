"""Limits of new matches: for a player, for an address, and for the whole service."""

from typing import Final

from api.http import context
from service.errors import Refused
from service.match.model import HINT_MS
from service.repository.limits import Policy

CREATION_WINDOW: Final = 60
"""Seconds for the quota of new matches of a player or an address. Limited, since events are stored for ever."""
BOT_MATCH_WINDOW: Final = 600
"""Seconds for the quota of matches of bots alone that an address starts. Limited, since workers play each to its end."""


def admit_creation() -> None:
    """Count a new match of the caller.

    Raises:
        Refused: `rate-limited`.
    """
    limits = context.container().settings
    context.take(Policy("creations", limits.creations_by_token, CREATION_WINDOW), context.caller().id)
    by_address = Policy("creations-by-address", limits.creations_by_address, CREATION_WINDOW)
    context.take(by_address, context.address(), quiet=True)


def admit_match_of_bots() -> None:
    """Count a match of bots alone that is about to start.

    Raises:
        Refused: `rate-limited`; `bots-busy` while the maximum number of such matches waits for a worker.
    """
    limits, ports = context.container().settings, context.ports()
    by_address = Policy("bot-matches", limits.bot_matches_by_address, BOT_MATCH_WINDOW)
    context.take(by_address, context.address(), quiet=True)
    if ports.log.count_due("bots", ports.now() + HINT_MS) >= limits.bot_matches_waiting:
        raise Refused("bots-busy", "Too many matches of bots alone are waiting; start this one later.")
