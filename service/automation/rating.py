"""Rates matches that are over: an entry in the rating stream of the game for each, and the leaderboards that follow from it.

All workers may rate at once. The log takes an entry only at the head of its stream, and only once for each match. The
leaderboards are folded from the entries; whoever finds them behind the stream folds what is missing.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from events.chain import seal
from events.due import DueTimes
from events.log import Append, Appended, Tail
from events.record import Event, Head, MatchId
from service.errors import Corrupt
from service.match.due_times import due_times
from service.match.model import Match
from service.match.randomness import new_salts
from service.match.rating import (
    Entry,
    command_of,
    draft,
    entry_at,
    first_line,
    follow_entry,
    order_of_leaving,
    pairs_of,
    placings,
    step,
    stream_of,
)
from service.match.rating import rate as rate_match
from service.observability import failpoints, metrics
from service.repository.ports import ENDING_MS, Ports
from service.repository.ratings import Folded, Known

ATTEMPTS: Final = 8
"""How often a match is tried at once if other matches of the game are rated first. After that it is due again later, so that
the deadlines that the same thread enforces do not wait."""
MAX_FOLDED: Final = 50
"""The most entries that the rating of one match folds, for the same reason."""
BATCH: Final = 200
"""Entries, or matches, per read."""
_EVENTS: Final = 1_000
"""Events of a match per read."""


def rate(ports: Ports, match_id: MatchId) -> None:
    """Rate a match that is over, once, and remove its due time.

    All sweepers may do this at once, and again after a crash: the command id is that of the match's only entry.

    Raises:
        Corrupt: the rating stream is damaged, or is not the one that the leaderboards were folded from.
    """
    match, _ = ports.history.newest(match_id)
    if not match.is_to_be_rated or _is_rated(ports, match):
        failpoints.point("match-rated")
        ports.log.rearm(match_id, match.head.version, {"rating": None})


def _is_rated(ports: Ports, match: Match) -> bool:
    """Whether the match has its entry and the leaderboards have it too, after a try to achieve that."""
    game, stream = match.created.game, stream_of(match.created.game)
    placed = placings(match, order_of_leaving(_events(ports, match)))
    players = [one.player for one in placed]
    pairs = pairs_of([one.person for one in placed], match.ended_at or 0)
    for _ in range(ATTEMPTS):
        known = ports.ratings.known(game, players, pairs)
        head = _head(game, known)
        tail = ports.log.read(
            stream, first=max(1, head.version), last=head.version + MAX_FOLDED, command=command_of(match.id)
        )
        if later := _later(head, tail):
            fold(ports, game, head, later)
            if len(later) == MAX_FOLDED:
                return False
            continue
        if tail.seen is not None:
            return True
        failpoints.point("rating-decided")
        entry = rate_match(match, placed, known.standings, known.met)
        at = max(ports.now(), entry_at(head.version, tail.events[0]).at if tail.events else 0)
        (stored,), _ = seal(head, [draft(entry)], at, new_salts(1))
        appended = ports.log.append(Append(stream, command_of(match.id), "rate", head, (stored,)))
        failpoints.point("rating-appended")
        if isinstance(appended, Appended) and not appended.replayed:
            metrics.RATED.labels(game, "counted" if entry.counted else "not-counted").inc()
    return False


def _head(game: str, known: Known) -> Head:
    """The head of the stream as the leaderboards know it."""
    return first_line(game)[1] if known.head is None else known.head


def _later(head: Head, tail: Tail) -> Sequence[bytes]:
    """The stored entries of a tail after `head`; the tail begins with the entry of `head`, if there is one.

    Raises:
        Corrupt: the stream does not have `head`.
    """
    if head.version == 0:
        return tail.events
    if not tail.events or entry_at(head.version, tail.events[0]).head != head:
        raise Corrupt(head.version, "the leaderboards know another entry; run `moonstone ratings rebuild`")
    return tail.events[1:]


def fold(ports: Ports, game: str, head: Head, later: Sequence[bytes]) -> None:
    """Fold the stored entries after `head` into the leaderboards, up to one that another process folds first."""
    for stored in later:
        entry = follow_entry(head, stored)
        rated = entry.rated
        before = ports.ratings.known(game, rated.players, rated.pairs)
        if _head(game, before) != head:
            return
        standings, met = step(before.standings, before.met, rated)
        if not ports.ratings.fold(game, Folded(entry, before, standings, met)):
            return
        failpoints.point("rating-folded")
        head = entry.head


def _events(ports: Ports, match: Match) -> Iterator[Event]:
    version = 0
    while version < match.head.version:
        for event, head in ports.history.verified(match, version, _EVENTS):
            yield event
            version = head.version


def entries(ports: Ports, game: str) -> Iterator[Entry]:
    """The entries of a game's rating stream from the first one on.

    Raises:
        Corrupt: the stream is damaged.
        Refused: `engine-too-old`: a newer release wrote an entry.
    """
    head = first_line(game)[1]
    while True:
        events = ports.log.read(stream_of(game), first=head.version + 1, last=head.version + BATCH).events
        for stored in events:
            entry = follow_entry(head, stored)
            yield entry
            head = entry.head
        if len(events) < BATCH:
            return


def rebuild(ports: Ports, game: str) -> int:
    """Fold the leaderboards of a game anew from its rating stream; returns the number of entries. Workers may rate meanwhile."""
    ports.ratings.clear(game)
    while True:
        head = _head(game, ports.ratings.known(game, (), ()))
        events = ports.log.read(stream_of(game), first=head.version + 1, last=head.version + BATCH).events
        if not events:
            return head.version
        fold(ports, game, head, events)


def adopt(ports: Ports, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Set the due times of rated matches that a process of an older release scored; returns how many there were.

    It continues where it stopped the last time, in the order in which matches ended. It ends early when `goes_on` says no.
    """
    adopted, after = 0, ports.ratings.adopted()
    known = {due.match for due in ports.log.scheduled("rating")}
    while goes_on():
        ended = ports.index.ended(after, BATCH)
        found = ports.history.newest_each([entry.match_id for _, entry in ended])
        for number, entry in ended:
            match = found[entry.match_id]
            is_over = isinstance(match, Match) and match.is_over
            if not is_over and ports.now() - number <= 2 * ENDING_MS:  # about to end
                return adopted
            if isinstance(match, Match) and match.id not in known and due_now(ports, match).get("rating") is not None:
                adopted += ports.log.rearm(match.id, match.head.version, due_times(match))
            after = number
        ports.ratings.set_adopted(after)
        if len(ended) < BATCH:
            break
    return adopted


def due_now(ports: Ports, match: Match) -> DueTimes:
    """The due times of a match whose due entries are missing: `due_times`, without the rating of a match that has its entry."""
    times = due_times(match)
    if match.is_to_be_rated:
        stream = stream_of(match.created.game)
        if ports.log.read(stream, first=1, last=0, command=command_of(match.id)).seen is not None:
            return {**times, "rating": None}
    return times
