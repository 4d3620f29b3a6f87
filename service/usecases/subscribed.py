"""Which appends make news due: news are what a player with webhooks may get a notice about.

A match of such a player has an entry of the kind `news` all the time. It waits for the next event, and the append of an event
makes it due, without a read. Only an append that brings a player into a match has to look for webhooks.
"""

from collections.abc import Mapping
from typing import Final

from events.due import DueTimes
from service.match.due_times import due_times
from service.match.model import Match
from service.repository.ports import Ports

NEWS: Final = "news"


def due_with_news(ports: Ports, after: Match, before: Match | None = None) -> tuple[DueTimes, Mapping[str, int]]:
    """The due times of a match after an append, and those that only replace others. `before` is None if it creates the match."""
    due, if_any = due_times(after), {NEWS: after.at}
    if before is None:
        arriving = {after.creator}
    elif after.seats is not before.seats:
        arriving = after.players - before.players
    else:
        return due, if_any
    return ({**due, **if_any}, {}) if arriving and ports.webhooks.of(sorted(arriving)) else (due, if_any)
