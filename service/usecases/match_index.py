"""The index of matches: which lists a match is in.

The index is written before the log and corrected by readers: after a crash it may have wrong entries, but no entry is
missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from service.errors import Corrupt, Refused
from service.match.events import SeatTaken
from service.match.model import Match, Status
from service.repository.ports import ENDING_MS, Ports, StatusList

_STATUS_LISTS: Final[Mapping[Status, StatusList]] = {
    "open": "open",
    "running": "running",
    "suspended": "running",
    "finished": "finished",
    "aborted": "aborted",
}
IN_FLIGHT_MS: Final = 2 * ENDING_MS
"""Within this age, the match of an entry may still be created, or may still end. An older entry without it is wrong."""


def is_there(error: Corrupt | Refused) -> bool:
    """Whether the match of an error is in the log, although it cannot be read."""
    return isinstance(error, Corrupt) or error.code != "match-not-found"


def creation_failed(ports: Ports, error: Corrupt | Refused, created_at: int) -> bool:
    """Whether the creation of a match failed before its append: the log does not have it after `IN_FLIGHT_MS`."""
    return not is_there(error) and ports.now() - created_at > IN_FLIGHT_MS


def status_list_of(match: Match) -> StatusList:
    """The list of the index where a match belongs."""
    return _STATUS_LISTS[match.status]


def announce(ports: Ports, before: Match, after: Match) -> None:
    """Update the index before an append, so that no list lacks a match if the process dies in between."""
    if after.seats is not before.seats:
        arriving = sorted(after.players - before.players)
        for player in arriving:
            ports.index.enrol(player, after.id, after.created_at)
        publish(ports, after, arriving)
    if after.ended_at is not None and before.ended_at is None:
        _announce_end(ports, after, after.ended_at)


def withdraw(ports: Ports, before: Match, after: Match) -> None:
    """Remove an announced end that was not appended, unless another command ended the match: lists wait for it."""
    if after.ended_at is None or before.ended_at is not None:
        return
    newest, _ = ports.history.newest(before.id)
    if not newest.is_over:
        ports.index.withdraw(before.id, before.created_at)


def _announce_end(ports: Ports, match: Match, at: int) -> None:
    if not match.created.private:
        ports.index.end(match.id, match.created_at, at)


def publish(ports: Ports, match: Match, players: Sequence[str] | None = None) -> None:
    """Add a match to the public lists of these players, by default of all its people, unless it is private."""
    if not match.created.private:
        everyone = sorted(match.players | {match.creator}) if players is None else players
        ports.index.publish(everyone, match.id, match.created_at)


def remove_left_match(ports: Ports, match: Match, player: str) -> Match | None:
    """Move a match to those that a player has left before the start, unless they have joined again since.

    Returns the newest version if they have.
    """
    if match.is_of(player):
        return None
    ports.index.add_left(player, match.id, match.created_at)
    ports.index.dismiss(player, match.id, match.created_at)
    newest, _ = ports.history.newest(match.id)
    if not newest.is_of(player):
        return None
    ports.index.enrol(player, match.id, match.created_at)
    publish(ports, match, (player,))
    return newest


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


def update_index(ports: Ports, match: Match, *, just_written: bool = False) -> None:
    """Put a match into the list where it belongs; may be repeated. `just_written`: its end was appended just now.

    Such an append may have taken so long, for example on a machine that slept, that readers have passed the announced
    number. Then the match gets a new number.
    """
    if match.ended_at is not None:
        _announce_end(ports, match, max(match.ended_at, ports.now()) if just_written else match.ended_at)
    ports.index.move(match.id, match.created_at, match.creator, status_list_of(match), private=match.created.private)
    publish(ports, match)  # again, since a process of an older release has no public lists


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
