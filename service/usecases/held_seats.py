"""Limits how many seats one player holds in matches that have not started.

Otherwise one player could take a seat in every open match. The index counts the seats before they are taken, so that
the limit also holds for concurrent requests; wrong entries, which refused joins and crashes leave, are removed at the
limit.
"""

from typing import Final

from service.errors import Refused
from service.match.model import Match
from service.repository.ports import Ports
from service.usecases.match_index import IN_FLIGHT_MS

HELD_SEATS: Final = 20
"""Maximum number of seats of one player in matches that have not started."""


def hold_seats(ports: Ports, before: Match, after: Match) -> None:
    """Count the seats that people take by an append that does not start the match; called before the append.

    Raises:
        Refused: `too-many-seats`.
    """
    if after.status != "open" or after.seats is before.seats:
        return
    for player in sorted(after.players - before.players):
        if _hold(ports, after, player):
            continue
        _remove_wrong_entries(ports, player)
        if not _hold(ports, after, player):
            raise Refused(
                "too-many-seats", f"You have {HELD_SEATS} seats in matches that have not started; leave one first."
            )


def _hold(ports: Ports, match: Match, player: str, limit: int = HELD_SEATS) -> bool:
    return ports.index.hold_seat(player, match.id, match.created_at, ports.now(), limit)


def _remove_wrong_entries(ports: Ports, player: str) -> None:
    """Remove entries of seats that the player does not have. New ones stay: these seats may be about to be taken."""
    entries = [entry for at, entry in ports.index.held_seats(player) if ports.now() - at > IN_FLIGHT_MS]
    found = ports.history.newest_each([entry.match_id for entry in entries])
    for entry in entries:
        match = found[entry.match_id]
        if isinstance(match, Match) and match.status == "open" and match.seat_of(player) is not None:
            continue
        ports.index.release_seat(player, entry.match_id, entry.created_at)


def release_seats(ports: Ports, match: Match) -> None:
    """Count the seats of a match that has started or ended no longer."""
    for player in sorted(match.players):
        ports.index.release_seat(player, match.id, match.created_at)


def count_seats(ports: Ports, match: Match) -> None:
    """Count the seats of a match that an older release, or a backup, has stored; beyond the limit too."""
    if match.status == "open":
        for player in sorted(match.players):
            _hold(ports, match, player, limit=2**31)
