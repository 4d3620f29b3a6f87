"""Puts players together who seek the same match.

A pairing takes its seeks in one step, with the id of their match. All commands that follow have fixed keys, so a pairing that
a process did not finish is finished by another one: nobody is seated twice, and whoever got no seat waits again.
"""

import hashlib
import logging
import secrets
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from events.record import MatchId, canonical
from service.errors import Corrupt, Refused
from service.observability import failpoints
from service.repository.ports import Ports
from service.repository.seeks import Pairing, Seek
from service.usecases.finding import is_between, ratings_of
from service.usecases.match_lifecycle import create_as, join, match_id_of
from service.usecases.submit import CommandKey

STREAM_GRACE_MS: Final = 30_000
"""A seek ends when its player has had no stream for this long; a client needs less to connect again."""
MAX_PASSED: Final = 200
"""How many seeks with other ratings are passed over when somebody's opponents are looked for."""

_log = logging.getLogger("moonstone.pairing")


def put_together(ports: Ports) -> int:
    """End the seeks whose time or stream is over, pair the others, and complete their matches. Returns the number of matches.

    May run in several processes at once.
    """
    now = ports.now()
    groups: dict[bytes, list[Seek]] = defaultdict(list)
    for one in ports.seeks.waiting():
        if now >= one.seek.expires_at or now - max(one.seek.created_at, one.seen_at) > STREAM_GRACE_MS:
            ports.seeks.remove(one.seek)
        elif one.seen_at:
            groups[canonical(msgspec.to_builtins(one.seek.wanted))].append(one.seek)
    for group in groups.values():
        for table in _tables(ports, sorted(group, key=lambda seek: (seek.created_at, seek.id))):
            ports.seeks.pair(Pairing(_new_id(ports), table))
            failpoints.point("seeks-paired")
    pairings = ports.seeks.pairings()
    for pairing in pairings:
        _complete(ports, pairing)
    return len(pairings)


def _tables(ports: Ports, group: Sequence[Seek]) -> Iterator[tuple[Seek, ...]]:
    """Seeks for the same match, put together so that everyone accepts everyone's rating; who waits longest comes first."""
    wanted = group[0].wanted
    has_limits = any(one.rating_from is not None or one.rating_to is not None for one in group)
    ratings = ratings_of(ports, wanted.game, [one.player for one in group]) if has_limits else {}

    def accepts(one: Seek, other: Seek) -> bool:
        return not has_limits or is_between(ratings[other.player], one.rating_from, one.rating_to)

    waiting = deque(group)
    while len(waiting) >= wanted.seats:
        table = [waiting.popleft()]
        passed: list[Seek] = []
        while waiting and len(table) < wanted.seats and len(passed) < MAX_PASSED:
            one = waiting.popleft()
            suits = all(accepts(one, other) and accepts(other, one) for other in table)
            (table if suits else passed).append(one)
        waiting.extendleft(reversed(passed))
        if len(table) == wanted.seats:
            yield tuple(table)
        else:  # the others may still find each other without the one who waits longest
            waiting.extendleft(reversed(table[1:]))


def _complete(ports: Ports, pairing: Pairing) -> None:
    """Complete the match of a pairing. One that cannot be completed now is tried again until all its seeks have ended."""
    try:
        unseated = _unseated(ports, pairing)
    except (Refused, Corrupt) as error:
        if ports.now() < max(seek.expires_at for seek in pairing.seeks):
            return
        _log.error("match %s of a pairing cannot be completed: %s", pairing.match, error)
        unseated = ()
    ports.seeks.finish(pairing, unseated)


def _new_id(ports: Ports) -> MatchId:
    return match_id_of(ports.secret, "", f"pairing:{secrets.token_hex(16)}")


def _unseated(ports: Ports, pairing: Pairing) -> Sequence[Seek]:
    """Create the match of a pairing and seat its players. Returns the seeks of those whose seats others took meanwhile.

    If none of the players may create a match, their seeks end.
    """
    if not _create(ports, pairing):
        return ()
    unseated = []
    for one in pairing.seeks:
        try:
            join(ports, one.player, pairing.match, f"seek-{pairing.match}")
        except Refused as refusal:
            if refusal.code in {"match-full", "match-not-open"}:
                unseated.append(one)
            elif refusal.code != "already-seated":
                raise
    return unseated


def _create(ports: Ports, pairing: Pairing) -> bool:
    name = f"pairing:{pairing.match}"
    key = CommandKey(name, hashlib.sha256(name.encode()).hexdigest())
    for one in pairing.seeks:
        try:
            create_as(ports, one.player, one.wanted, pairing.match, key)
        except Refused as refusal:
            if refusal.code not in {"too-many-open-matches", "invalid-options", "game-not-found"}:
                raise
        else:
            return True
    return False
