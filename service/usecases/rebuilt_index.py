"""Writes the match index again from the log: after a restore, or when the index was lost."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from service.match.events import SeatTaken
from service.match.model import Match
from service.repository.ports import Ports
from service.usecases.match_index import update_index


def record_leavers(ports: Ports, match: Match) -> None:
    """Add a match to the lists of those who left it before the start, which an index that was lost does not have."""
    seated: set[str] = set()
    for event, _ in ports.history.verified_after(match, 0):
        if event.type == "match_started":
            break
        if event.type == "seat_taken":
            taken = msgspec.json.decode(event.data, type=SeatTaken)
            seated |= set() if taken.kind == "bot" else {taken.player}
    for player in sorted(seated):
        if not match.is_of(player):  # who joins meanwhile keeps the match in the other lists
            ports.index.add_left(player, match.id, match.created_at)


def update_index_of_ended(ports: Ports, matches: Iterable[Match]) -> None:
    """Put all matches that are over into their lists; those without a number get one in the order of their ends."""
    over = [
        replace(match, state=None) for match in matches if match.is_over
    ]  # without states, to save memory: a store may have many
    for match in sorted(over, key=lambda one: one.ended_at or 0):
        update_index(ports, match)


def rebuild_entries(ports: Ports, match: Match) -> None:
    """Write the entries of a match into an index that lost them.

    The rest is written by `update_index_of_ended` for matches that are over, and by `service.automation.adoption` for
    open ones.
    """
    for player in sorted(match.players | {match.creator}):
        ports.index.enrol(player, match.id, match.created_at)
        if match.ended_at is not None:
            ports.index.conclude(player, match.id, match.created_at, match.ended_at)
    if not match.is_over:
        update_index(ports, match)
