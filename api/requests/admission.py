"""How many new matches one caller, one address and the whole service bear."""

from typing import Final

from api.http import context
from api.http.rate_limit import Policy
from service.errors import Refused
from service.match.model import HINT_MS

CREATION_WINDOW: Final = 60
"""Seconds in which a player, and an address, may make its quota of matches: the events of each are kept for ever."""
BOT_MATCH_WINDOW: Final = 600
"""Seconds in which an address may begin its quota of matches of bots alone: each plays on by itself to its end."""


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
    """Count a match of bots alone that is about to begin.

    Raises:
        Refused: `rate-limited`; `bots-busy` while as many as allowed wait for a worker, whoever began them.
    """
    limits, ports = context.container().settings, context.ports()
    by_address = Policy("bot-matches", limits.bot_matches_by_address, BOT_MATCH_WINDOW)
    context.take(by_address, context.address(), quiet=True)
    if ports.log.count_due("bots", ports.now() + HINT_MS) >= limits.bot_matches_waiting:
        raise Refused("bots-busy", "The service plays as many matches of bots alone as it can; begin this one later.")
