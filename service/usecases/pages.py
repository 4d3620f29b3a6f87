"""Pages of lists of the match index: reads entries with their matches until a page is full."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from service.errors import Corrupt, Refused
from service.match.model import Match
from service.repository.index_entry import IndexEntry
from service.repository.ports import Ports
from service.views.match_views import MatchSummary, summaries

MAX_READ: Final = 200
"""Maximum number of matches that are read for a page. The page may then have fewer than `limit` matches."""

P = TypeVar("P")
"""A position in a list."""

Read: TypeAlias = Match | Corrupt | Refused
"""A match, or why it cannot be read."""
Judgement: TypeAlias = Match | Literal["skip", "stop"]
"""A match for the page, or what to do with an entry that gives none: `stop` ends the page before it."""


class Page(NamedTuple, Generic[P]):
    """The matches of a page, the position after it, and whether the list has no more entries now."""

    matches: tuple[MatchSummary, ...]
    position: P
    is_last: bool


def page(
    ports: Ports,
    start: P,
    read: Callable[[P], Sequence[tuple[P, IndexEntry]]],
    judge: Callable[[P, IndexEntry, Read], Judgement],
    *,
    limit: int,
    batch: int,
) -> Page[P]:
    """Up to `limit` matches after a position.

    `read` returns the next `batch` entries after a position, each with its own position; fewer only at the end of the
    list. `judge` decides about each of them. At most MAX_READ matches are read, so a page that is not the last may have
    few matches.
    """
    found: list[Match] = []
    position = start
    read_count = 0
    while len(found) < limit and read_count < MAX_READ:
        entries = read(position)
        read_count += batch
        matches = matches_at(ports, [entry for _, entry in entries])
        for (place, _), (entry, match) in zip(entries, matches, strict=True):
            kept = judge(place, entry, match)
            if kept == "stop":
                return Page(summaries(ports, found), position, is_last=True)
            position = place
            if isinstance(kept, Match):
                found.append(kept)
            if len(found) == limit:
                return Page(summaries(ports, found), position, is_last=False)
        if len(entries) < batch:
            return Page(summaries(ports, found), position, is_last=True)
    return Page(summaries(ports, found), position, is_last=False)


def matches_at(ports: Ports, entries: Sequence[IndexEntry]) -> Sequence[tuple[IndexEntry, Read]]:
    """The entries with their matches, read in one round trip. For an unreadable match it has the exception instead."""
    found = ports.history.newest_each([entry.match_id for entry in entries])
    return [(entry, found[entry.match_id]) for entry in entries]


def positioned(entries: Sequence[IndexEntry]) -> Sequence[tuple[IndexEntry | None, IndexEntry]]:
    """The entries of a list in which each entry is its own position, and None is the beginning."""
    return [(entry, entry) for entry in entries]
