"""Puts players together who seek the same match.

A pairing takes its seeks in one step, with the id of their match. All commands that follow have fixed keys, so a
pairing that a process did not finish is finished by another one: nobody is seated twice, and whoever got no seat waits
again. A player whose seek ends without a match gets to know why.
"""

import hashlib
import logging
import secrets
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from events.record import MatchId, canonical
from service.errors import Corrupt, Refused
from service.match.new_match import complete
from service.observability import failpoints
from service.repository.news import SeekEnd, SeekEnded
from service.repository.ports import Ports
from service.repository.seeks import Pairing, Seek
from service.usecases.finding import is_between, ratings_of
from service.usecases.match_codes import match_id_of
from service.usecases.match_lifecycle import create_as, join
from service.usecases.submit import CommandKey

STREAM_GRACE_MS: Final = 30_000
"""A seek ends when its player has had no stream for this long; a client needs less to connect again."""
MAX_PASSED: Final = 200
"""How many seeks with other ratings are passed over when somebody's opponents are looked for."""
Unseated: TypeAlias = SeekEnd | Literal["again"]
_REFUSALS: Final[Mapping[str, SeekEnd]] = {
    "too-many-open-matches": "too-many-open-matches",
    "too-many-seats": "too-many-seats",
    "bot-busy": "too-many-seats",
    "token-invalid": "expired",
    "invalid-options": "invalid-options",
    "game-not-found": "game-not-found",
}
"""Codes of refusals that end a seek, since the player would get them again. `token-invalid`: a hosted bot that was deleted."""

_log = logging.getLogger("moonstone.pairing")


def put_together(ports: Ports) -> int:
    """End the seeks whose time or stream is over, pair the others, and complete their matches.

    Returns the number of matches. May run in several processes at once.
    """
    now = ports.now()
    groups: dict[bytes, list[Seek]] = defaultdict(list)
    for waiting in ports.seeks.waiting():
        seek = waiting.seek
        if now >= seek.expires_at:
            _end(ports, seek, "expired")
        elif now - max(seek.created_at, waiting.seen_at) > STREAM_GRACE_MS:
            _end(ports, seek, "no-stream")
        elif waiting.seen_at:
            wanted = replace(seek.wanted, clock=complete(seek.wanted.clock))
            groups[canonical(msgspec.to_builtins(wanted))].append(seek)
    for group in groups.values():
        for table in _tables(ports, sorted(group, key=lambda seek: (seek.created_at, seek.id))):
            if not _drop_erased(ports, table):
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


def _drop_erased(ports: Ports, table: Sequence[Seek]) -> bool:
    """End the seeks of erased players; returns whether there are any. The others wait for the next round.

    The erasure removes the player's seek. But a pairing that could not be completed may put a seek back later.
    """
    erased = ports.accounts.in_erasure([seek.player for seek in table])
    for seek in table:
        if seek.player in erased:
            ports.seeks.remove(seek)
    return bool(erased)


def _new_id(ports: Ports) -> MatchId:
    return match_id_of(ports.secret, "", f"pairing:{secrets.token_hex(16)}")


def _end(ports: Ports, seek: Seek, reason: SeekEnd) -> None:
    """End a seek that waits, unless it has just been paired."""
    if ports.seeks.remove(seek):
        _report_end(ports, seek, reason)


def _report_end(ports: Ports, seek: Seek, reason: SeekEnd) -> None:
    ports.news.post(seek.player, SeekEnded(seek.id, reason), ports.now())


def _complete(ports: Ports, pairing: Pairing) -> None:
    """Complete the match of a pairing. If that fails now, it is tried again until all its seeks have ended."""
    unseated: Mapping[str, Unseated]
    try:
        unseated = _create_and_seat(ports, pairing)
    except (Refused, Corrupt) as error:
        if ports.now() < max(seek.expires_at for seek in pairing.seeks):
            return
        _log.error("match %s of a pairing cannot be completed: %s", pairing.match, error)
        unseated = dict.fromkeys((seek.player for seek in pairing.seeks), "expired")
    again: list[Seek] = []
    ended: list[Seek] = []
    for seek in pairing.seeks:
        outcome = unseated.get(seek.player)
        if outcome == "again":
            again.append(seek)
        elif outcome is not None:
            _report_end(ports, seek, outcome)
            ended.append(seek)
    ports.seeks.finish(pairing, again, ended)


def _create_and_seat(ports: Ports, pairing: Pairing) -> Mapping[str, Unseated]:
    """Create the match of a pairing, and seat its players.

    Returns the players who got no seat: `again` if they wait again, since others took their seats, or why their seeks
    end.

    The last seat starts the match, so a player who holds as many seats as allowed can still take that one: such players
    are tried once more after the others.
    """
    refusals = _create(ports, pairing)
    if len(refusals) == len(pairing.seeks):
        return refusals
    unseated = _seat(ports, pairing.match, pairing.seeks)
    holders = [seek for seek in pairing.seeks if unseated.get(seek.player) == "too-many-seats"]
    for seek in holders:
        del unseated[seek.player]
    return unseated | _seat(ports, pairing.match, holders)


def _seat(ports: Ports, match: MatchId, seeks: Sequence[Seek]) -> dict[str, Unseated]:
    """Seat the players of these seeks; returns as `_create_and_seat`."""
    unseated: dict[str, Unseated] = {}
    for seek in seeks:
        try:
            join(ports, seek.player, match, f"seek-{match}")
        except Refused as refusal:
            if refusal.code in {"match-full", "match-not-open"}:
                unseated[seek.player] = "again"
            elif refusal.code in _REFUSALS:
                unseated[seek.player] = _REFUSALS[refusal.code]
            elif refusal.code != "already-seated":
                raise
    return unseated


def _create(ports: Ports, pairing: Pairing) -> Mapping[str, Unseated]:
    """Create the match as the first player who may. Returns, by player, why those before may not."""
    name = f"pairing:{pairing.match}"
    key = CommandKey(name, hashlib.sha256(name.encode()).hexdigest())
    refusals: dict[str, Unseated] = {}
    for seek in pairing.seeks:
        try:
            create_as(ports, seek.player, seek.wanted, pairing.match, key)
        except Refused as refusal:
            if refusal.code not in _REFUSALS:
                raise
            refusals[seek.player] = _REFUSALS[refusal.code]
        else:
            break
    return refusals
