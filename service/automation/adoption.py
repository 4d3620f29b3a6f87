"""Takes over what older releases stored: due times, counts and lists that they did not have."""

from collections.abc import Callable, Iterator
from typing import Final, get_args

from service.match.due_times import due_times
from service.match.model import Match
from service.repository.index_entry import IndexEntry
from service.repository.ports import Ports, StatusList
from service.usecases import finding
from service.usecases.held_seats import count_seats
from service.usecases.match_index import publish
from service.usecases.pages import matches_at

READ_BATCH: Final = 200
"""Matches per read."""


def adopt(ports: Ports, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Take over the open matches of older releases; returns how many there were.

    The first time, all matches are also added to the public lists of their players. Older processes may still run
    beside this one and store more, so it is repeated from time to time. It ends early when `goes_on` says no.
    """
    known = {due.match for due in ports.log.scheduled("open")}
    adopted = 0
    new = sorted({entry.match_id for entry in ports.index.all_open()} - known)
    for first in range(0, len(new), READ_BATCH):
        if not goes_on():
            return adopted
        # A match that is not in the log (yet), or cannot be read by this release, is left out.
        read = ports.history.newest_each(new[first : first + READ_BATCH])
        found = [match for match in read.values() if isinstance(match, Match)]
        adopted += sum(adopt_match(ports, match) for match in found if match.status == "open")
    if not ports.index.is_published():
        for match in _all_listed(ports, goes_on):
            publish(ports, match)
        if goes_on():
            ports.index.set_published()
    return adopted


def adopt_match(ports: Ports, match: Match) -> bool:
    """Count the seats of an open match, add it to all lists, and set its due times; may be repeated.

    The due times come last: a match that has them is not taken over again. Returns whether they are set, which another
    command can have done first.
    """
    count_seats(ports, match)
    publish(ports, match)
    finding.add_to_lists(ports, match)
    return ports.log.rearm(match.id, match.head.version, due_times(match))


def _all_listed(ports: Ports, goes_on: Callable[[], bool]) -> Iterator[Match]:
    """All public matches, each list newest first."""
    for status_list in get_args(StatusList):
        before: IndexEntry | None = None
        while goes_on():
            entries = ports.index.page(status_list, before, READ_BATCH)
            for entry, match in matches_at(ports, entries):
                if isinstance(match, Match) and match.created_at == entry.created_at:
                    yield match
            if len(entries) < READ_BATCH:
                break
            before = entries[-1]
