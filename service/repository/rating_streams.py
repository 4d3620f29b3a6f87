"""Reads the rating streams of the log: all entries in order, and the entry of one match."""

from collections.abc import Iterator, Sequence
from typing import Final

from events.log import Log
from events.record import Head, Version
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import Entry, command_of, entry_at, first_line, follow_entry, stream_of

BATCH: Final = 200
"""Entries per read."""


def entries(log: Log, game: str, after: Head | None = None) -> Iterator[Entry]:
    """The entries of a game's rating stream after the head `after`, by default from the first one on.

    Raises:
        Corrupt: the stream is damaged, or does not continue `after`.
        Refused: `engine-too-old`: a newer release wrote an entry.
    """
    head = first_line(game)[1] if after is None else after
    while True:
        events = log.read(stream_of(game), first=head.version + 1, last=head.version + BATCH).events
        for stored in events:
            entry = follow_entry(head, stored)
            yield entry
            head = entry.head
        if len(events) < BATCH:
            return


def version_of(log: Log, match: Match) -> Version | None:
    """The version of a match's entry in the rating stream of its game; None if the match is not rated (yet)."""
    seen = log.read(stream_of(match.created.game), first=1, last=0, command=command_of(match.id)).seen
    return None if seen is None else seen.version


def entry_of(log: Log, match: Match) -> Entry | None:
    """The entry of a match; None if the match is not rated (yet).

    Raises:
        Corrupt: the entry is damaged or lost.
        Refused: `engine-too-old`: a newer release wrote it.
    """
    version = version_of(log, match)
    if version is None:
        return None
    events = log.read(stream_of(match.created.game), first=version, last=version).events
    if not events:
        raise Corrupt(version, "is not in the log any more")
    return entry_at(version, events[0])


def lines(log: Log, game: str, after: Version, head: str, limit: int) -> Sequence[bytes]:
    """Up to `limit` entries of a game's rating stream after the entry `after`, as they are stored. If it is 0, the first line is first.

    `head` is the beginning of the hash of the line before them, as the client knows it.

    Raises:
        Refused: `history-diverged`: the stream has no entry `after`, or it has another hash; `ratings-corrupt`: an entry is damaged;
            `engine-too-old`: a newer release wrote an entry.
    """
    line, at = first_line(game)
    events = log.read(stream_of(game), first=max(1, after), last=after + limit).events
    try:
        if after > 0 and events:
            at, events = entry_at(after, events[0]).head, events[1:]
        if at.version != after or not at.hash.startswith(head):
            raise Refused("history-diverged", f"The ratings of this game do not have entry {after} as you know it.")
        for stored in events:
            at = follow_entry(at, stored).head
    except Corrupt as error:
        fault = f"The entry with version {error.version} is damaged."
        raise Refused("ratings-corrupt", fault, version=error.version) from error
    return events if after > 0 else (line, *events)
