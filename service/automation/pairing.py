"""Puts players together who seek the same match.

A pairing takes its seeks in one step, with the id of their match. All commands that follow have fixed keys, so a pairing that
a process did not finish is finished by another one: nobody is seated twice, and whoever got no seat waits again.
"""

import hashlib
import logging
import secrets
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec

from events.record import MatchId, canonical
from service.errors import Corrupt, Refused
from service.observability import failpoints
from service.repository.ports import Ports
from service.repository.seeks import Pairing, Seek
from service.usecases.match_lifecycle import create_as, join, match_id_of
from service.usecases.submit import CommandKey

STREAM_GRACE_MS: Final = 30_000
"""A seek ends when its player has had no stream for this long; a client needs less to connect again."""

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
        group.sort(key=lambda seek: (seek.created_at, seek.id))
        seats = group[0].wanted.seats
        for first in range(0, len(group) - seats + 1, seats):
            ports.seeks.pair(Pairing(_new_id(ports), tuple(group[first : first + seats])))
            failpoints.point("seeks-paired")
    pairings = ports.seeks.pairings()
    for pairing in pairings:
        _complete(ports, pairing)
    return len(pairings)


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
