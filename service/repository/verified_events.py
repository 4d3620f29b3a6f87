"""Events whose hash chain was checked: the newest from a cache that the fold fills, all others from the log."""

from collections.abc import Sequence
from typing import Final

from events.chain import BrokenChain, Verified, follow
from events.log import Log
from events.record import Head, MatchId, Version, decode
from service.errors import Corrupt
from service.match.model import Match
from service.observability import metrics

CACHED_EVENTS: Final = 16
"""Events of a match in the cache. Clients that follow a match live are rarely further behind."""


class VerifiedEvents:
    """Reads events; safe to share between threads and greenlets."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._cached: dict[MatchId, tuple[Verified, ...]] = {}

    def keep(self, match_id: MatchId, events: Sequence[Verified]) -> None:
        """Cache consecutive events that a fold has just checked; the last of them is the match's newest."""
        first = events[0].event
        before = self._cached.get(match_id, ())
        if before and before[-1].head != Head(first.version - 1, first.prev):
            before = ()
        self._cached[match_id] = (*before, *events)[-CACHED_EVENTS:]

    def forget(self, match_id: MatchId) -> None:
        self._cached.pop(match_id, None)

    def read(self, match: Match, after: Version, limit: int) -> Sequence[Verified]:
        """Up to `limit` events of a match after a version.

        Raises:
            Corrupt: the chain is broken.
        """
        last = min(match.head.version, after + limit)
        if after >= last:
            return ()
        cached = self._cached.get(match.id)
        if cached and cached[0].event.version <= after + 1 and _is_on(cached, match.head):
            start = after + 1 - cached[0].event.version
            return cached[start : start + last - after]
        return self._read(match, after, last)

    def _read(self, match: Match, after: Version, last: Version) -> Sequence[Verified]:
        first = max(after, 1)
        stored = self._log.read(match.id, first=first, last=last).events
        if len(stored) != last - first + 1:
            raise Corrupt(first + len(stored), "is not in the log any more")
        try:
            found = [_unlinked(first, stored[0])]
            for entry in stored[1:]:
                found.append(Verified(*follow(found[-1].head, entry)))
        except BrokenChain as error:
            metrics.CHAIN_BREAKS.inc()
            raise Corrupt(error.version, error.fault) from error
        return found[after - first + 1 :]


def _is_on(cached: Sequence[Verified], head: Head) -> bool:
    """Whether the cached events up to this head belong to the same history as the head."""
    index = head.version - cached[0].event.version
    return 0 <= index < len(cached) and cached[index].head == head


def _unlinked(version: Version, stored: bytes) -> Verified:
    """The event in stored bytes, without a check of its `prev`, since the event before it was not read.

    Raises:
        BrokenChain: the bytes are not an event, or an event of another version.
    """
    try:
        before = decode(stored).prev
    except (ValueError, RecursionError):
        before = ""  # not an event; `follow` raises with the fault
    return Verified(*follow(Head(version - 1, before), stored))
