"""Rates matches that are over: it writes an entry for each to the rating stream of its game, and updates the leaderboards.

All workers may rate at once. The log accepts an entry only at the head of its stream, and only one for each match. The
leaderboards are folded from the entries. A worker that finds them behind the stream folds the missing entries first.
"""

from collections.abc import Callable, Sequence
from typing import Final

from events.chain import seal
from events.due import DueTimes
from events.log import Append, Appended
from events.record import Head, MatchId
from service.errors import Corrupt
from service.match.due_times import due_times
from service.match.model import Match
from service.match.randomness import new_salts
from service.match.rating import (
    command_of,
    draft,
    entry_at,
    first_line,
    follow_entry,
    order_of_leaving,
    pairs_of,
    placings,
    stream_of,
)
from service.match.rating import rate as rate_match
from service.observability import failpoints, metrics
from service.repository.ports import ENDING_MS, Ports
from service.repository.rating_streams import version_of
from service.repository.ratings import Known, folded

ATTEMPTS: Final = 8
"""Maximum number of attempts to rate a match in one call: each fails if another match of the game is rated at the same time.
After the last one the match is due again when its lease ends, so that the deadlines that the same thread enforces do not wait."""
MAX_FOLDED: Final = 20
"""Maximum number of entries that the rating of one match folds, for the same reason. `catch_up` folds the rest in another thread."""
BATCH: Final = 200
"""Entries, or matches, per read."""


def rate(ports: Ports, match_id: MatchId) -> None:
    """Rate a match that is over, once, and remove its due time.

    All sweepers may do this at once, and again after a crash, since the command id allows one entry for each match.

    Raises:
        Corrupt: the rating stream is damaged, or is not the one that the leaderboards were folded from.
    """
    match, _ = ports.history.newest(match_id)
    if not match.is_to_be_rated or _is_rated(ports, match):
        failpoints.point("match-rated")
        ports.log.rearm(match_id, match.head.version, {"rating": None})


def _is_rated(ports: Ports, match: Match) -> bool:
    """Write the entry of a match and fold it into the leaderboards, unless that is done. Returns whether it is done now."""
    game, stream = match.created.game, stream_of(match.created.game)
    placed = placings(match, order_of_leaving(one.event for one in ports.history.verified_after(match, 0)))
    players = [one.player for one in placed]
    pairs = pairs_of([one.person for one in placed], match.ended_at or 0)
    for _ in range(ATTEMPTS):
        known = ports.ratings.known(game, players, pairs)
        head = _head(game, known)
        tail = ports.log.read(
            stream, first=max(1, head.version), last=head.version + MAX_FOLDED, command=command_of(match.id)
        )
        if later := _later(head, tail.events):
            fold(ports, game, head, later)
            if len(later) == MAX_FOLDED:
                return False
            continue
        if tail.seen is not None:
            return True
        failpoints.point("rating-decided")
        entry = rate_match(match, placed, known.standings, known.met)
        at = max(ports.now(), entry.ended_at, entry_at(head.version, tail.events[0]).at if tail.events else 0)
        (stored,), _ = seal(head, [draft(entry)], at, new_salts(1))
        appended = ports.log.append(Append(stream, command_of(match.id), "rate", head, (stored,)))
        failpoints.point("rating-appended")
        if isinstance(appended, Appended) and not appended.replayed:
            metrics.RATED.labels(game, "counted" if entry.counted else "not-counted").inc()
    return False


def _head(game: str, known: Known) -> Head:
    """The head of the stream as the leaderboards know it."""
    return first_line(game)[1] if known.head is None else known.head


def _later(head: Head, events: Sequence[bytes]) -> Sequence[bytes]:
    """The stored entries after `head`, of `events`, which begin with the entry of `head` if it is not that of an empty stream.

    Raises:
        Corrupt: the stream does not have `head`.
    """
    if head.version == 0:
        return events
    if not events or entry_at(head.version, events[0]).head != head:
        raise Corrupt(head.version, "the leaderboards know another entry; run `moonstone ratings rebuild`")
    return events[1:]


def fold(ports: Ports, game: str, head: Head, later: Sequence[bytes]) -> None:
    """Fold the stored entries after `head` into the leaderboards, up to one that another process folds first."""
    for stored in later:
        entry = follow_entry(head, stored)
        before = ports.ratings.known(game, entry.rated.players, entry.rated.pairs)
        if _head(game, before) != head or not ports.ratings.fold(game, folded(game, before, entry)):
            return
        failpoints.point("rating-folded")
        head = entry.head


def rebuild(ports: Ports, game: str) -> int:
    """Fold the leaderboards of a game anew from its rating stream; returns the number of entries. Workers may rate meanwhile.

    Raises:
        Corrupt: the stream is damaged.
        Refused: `engine-too-old`: a newer release wrote an entry.
    """
    ports.ratings.clear(game)
    return catch_up(ports, game)


def catch_up(ports: Ports, game: str, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Fold all entries that the leaderboards of a game lack; returns the number of entries that they have then.

    They lack entries after a rebuild or a restore that was interrupted. Workers may rate meanwhile. It ends early when
    `goes_on` says no.

    Raises:
        Corrupt: the stream is damaged, or is not the one that the leaderboards were folded from.
        Refused: `engine-too-old`: a newer release wrote an entry.
    """
    while True:
        head = _head(game, ports.ratings.known(game, (), ()))
        events = ports.log.read(stream_of(game), first=max(1, head.version), last=head.version + BATCH).events
        later = _later(head, events)
        if not (later and goes_on()):
            return head.version
        fold(ports, game, head, later)


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
    """The due times of a match whose due entries may be missing: those of `due_times`, but no rating if the match is rated."""
    times = due_times(match)
    is_rated = match.is_to_be_rated and version_of(ports.log, match) is not None
    return {**times, "rating": None} if is_rated else times
