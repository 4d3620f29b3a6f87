"""Brings the index up to date after an upgrade: lists that the previous release did not have."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, get_args

from service.match.facets import facets_of
from service.match.model import Match
from service.repository.index_entry import IndexEntry
from service.repository.ports import Ports, StatusList
from service.usecases import finding
from service.usecases.match_index import matches_at, publish

REFILE_BATCH: Final = 200
"""Matches per read."""


def refile(ports: Ports, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Add the matches of an older release to the lists that it did not have; returns how many open ones were added.

    Open matches are added to the lists of their facets. The first time, all matches are also added to the public lists of
    their players. May be repeated; ends early when `goes_on` says no.
    """
    filed = 0
    for match in _walk(ports, "open", goes_on, ports.index.unfiled):
        if facets_of(match):
            publish(ports, match)
            finding.file(ports, match)
            filed += 1
    if ports.index.is_published():
        return filed
    for status_list in get_args(StatusList):
        for match in _walk(ports, status_list, goes_on):
            publish(ports, match)
    if goes_on():
        ports.index.set_published()
    return filed


def _walk(
    ports: Ports,
    status_list: StatusList,
    goes_on: Callable[[], bool],
    chosen: Callable[[Sequence[IndexEntry]], Sequence[IndexEntry]] = lambda entries: entries,
) -> Iterator[Match]:
    """The matches of the chosen entries of a list, newest first."""
    before: IndexEntry | None = None
    while goes_on():
        entries = ports.index.page(status_list, before, REFILE_BATCH)
        for entry, match in matches_at(ports, chosen(entries)):
            if isinstance(match, Match) and match.created_at == entry.created_at:
                yield match
        if len(entries) < REFILE_BATCH:
            return
        before = entries[-1]
