"""Ends what an erased account leaves behind: its seek, its open matches and its seats.

The account is in a list until this is done. Every step may be repeated, and done by several processes at once.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from events.log import LogUnavailable
from events.record import MatchId
from service.automation.bot_turns import suspend
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.observability import failpoints
from service.repository.ports import Ports
from service.usecases.erasure import erase_bots
from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.match_lifecycle import leave
from service.usecases.submit import CommandKey

SETTLED_MS: Final = IN_FLIGHT_MS
"""A request that was accepted before the erasure may still take a seat. After this time none can."""
AGAIN_MS: Final = 15_000
"""Pause before the next try for an account that has to wait, for example for a match that is suspended."""
_PAGE: Final = 200
"""Matches per read of the index."""
_ROUNDS: Final = 4
"""Maximum number of commands to a match in one pass: a creator leaves the seat, then the match, and may lose races."""

_log = logging.getLogger("moonstone.erasure")


class Erasures:
    """Carries out the erasures that are not finished; each worker process has one."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._next: dict[str, int] = {}
        """The time of the next try for an account, in server milliseconds."""

    def step(self, goes_on: Callable[[], bool] = lambda: True) -> int:
        """Make one pass over the accounts whose erasure is not finished; returns how many were finished."""
        ports, now = self._ports, self._ports.now()
        begun = ports.accounts.erasing()
        self._next = {player: at for player, at in self._next.items() if player in begun}
        finished = 0
        for player, at in begun.items():
            if not goes_on():
                break
            if now < self._next.get(player, 0):
                continue
            ports.accounts.erase(player, at)
            erase_bots(ports, player, at)
            ports.webhooks.erase(player)
            is_done = _end_all(ports, player)
            if is_done and now - at >= SETTLED_MS:
                ports.accounts.finish_erasure(player, at)
                finished += 1
            else:
                self._next[player] = now + AGAIN_MS
        return finished


def _end_all(ports: Ports, player: str) -> bool:
    """End the seek of a player and leave all matches. Returns whether nothing has to wait."""
    seek = ports.seeks.of(player)
    if seek is not None:
        ports.seeks.remove(seek)
    is_paired = any(one.player == player for pairing in ports.seeks.pairings() for one in pairing.seeks)
    left = [_leave_or_suspend(ports, player, match) for match in _active(ports, player)]
    return all(left) and not is_paired


def _active(ports: Ports, player: str) -> Iterator[MatchId]:
    before = None
    while True:
        entries = ports.index.matches_of(player, "active", before, _PAGE)
        yield from (entry.match_id for entry in entries)
        if len(entries) < _PAGE:
            return
        before = entries[-1]


def _leave_or_suspend(ports: Ports, player: str, match_id: MatchId) -> bool:
    """As `_leave`. If the rules of the match fail, suspend it, so that an operator notices; other matches are left."""
    try:
        return _leave(ports, player, match_id)
    except LogUnavailable:
        raise
    except Exception as error:  # noqa: BLE001  (rules may fail in any way)
        _log.exception("match %s cannot be left for an erased player", match_id)
        with suppress(Exception):
            suspend(ports, ports.history.newest(match_id)[0], type(error).__name__)
        return False


def _leave(ports: Ports, player: str, match_id: MatchId) -> bool:
    """Leave a match for an erased player. Returns whether this is done: a suspended match is left once it resumes."""
    for _ in range(_ROUNDS):
        try:
            match, _seen = ports.history.newest(match_id)
            if not has_to_leave(match, player):
                return True
            if match.status == "suspended":
                return False
            # A client cannot send this key, so it has not used it for another command.
            key = CommandKey(f"erase:{player}:{match.head.version}", "erase")
            leave(ports, player, match_id, key.id, command_key=key)
            failpoints.point("seat-left")
        except Corrupt:
            return True  # nobody can play it; `moonstone check` reports it
        except Refused as refusal:
            if refusal.code in {"engine-too-old", "match-not-found"}:
                return refusal.code == "match-not-found"
            _log.info("match %s is left again: %s", match_id, refusal.code)
    return False


def has_to_leave(match: Match, player: str) -> bool:
    """Whether an erased player still takes part in a match."""
    if match.is_over:
        return False
    seat = match.seat_of(player)
    holder = None if seat is None else match.seats[seat]
    if holder is not None:
        return holder.is_present or holder.is_hosted
    return match.status == "open" and match.creator == player
