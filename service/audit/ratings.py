"""Checks a rating stream: its chain, every entry against the match that it names, and the leaderboards against the entries."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from events.record import Event, Head, Version
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import (
    INITIAL,
    Entry,
    MatchRated,
    Met,
    Placing,
    Rating,
    Standings,
    command_of,
    first_line,
    follow_entry,
    is_counted,
    order_of_leaving,
    placings,
    rated,
    step,
    stream_of,
)
from service.repository.ports import Ports

TOLERANCE: Final = 1
"""Millionths by which a rating may differ: machines compute the last digits of fractions differently."""
_BATCH: Final = 500


@dataclass(slots=True)
class Checked:
    """What was checked. `waiting` are matches that are over and have no entry yet, but a due time."""

    entries: int = 0
    players: int = 0
    waiting: int = 0


def faults(ports: Ports, game: str, checked: Checked) -> Iterator[str]:
    """The faults of a game's ratings, one sentence each; `checked` is counted up. A broken chain ends the check.

    A match that is rated while the check runs is no fault.
    """
    waiting = {due.match for due in ports.log.scheduled("rating")}
    state = _State({}, {}, first_line(game)[1])
    seen: set[str] = set()
    try:
        while events := ports.log.read(
            stream_of(game), first=state.head.version + 1, last=state.head.version + _BATCH
        ).events:
            for stored in events:
                entry = follow_entry(state.head, stored)
                for fault in _faults_of(ports, entry, state, seen):
                    yield f"version {entry.head.version}: {fault}"
                seen.add(entry.rated.match)
                standings, met = step(state.standings, state.met, entry.rated)
                state = _State({**state.standings, **standings}, {**state.met, **met}, entry.head)
                checked.entries += 1
    except (Corrupt, Refused) as error:
        yield _text(error)
        return
    checked.players += len(state.standings)
    yield from _of_leaderboards(ports, game, state)
    for match in _rated_matches(ports, game):
        if match.id in seen:
            continue
        version = _entry_version(ports, match)
        if version is None:
            checked.waiting += 1
            if match.id not in waiting:
                yield f"match {match.id} is over and is not rated, and nothing is due for it"
        elif not ports.log.read(stream_of(game), first=version, last=version).events:
            yield f"the stream lost version {version}, the entry of match {match.id}"


@dataclass(frozen=True, slots=True)
class _State:
    standings: Standings
    met: Met
    head: Head


def _faults_of(ports: Ports, entry: Entry, state: _State, seen: set[str]) -> Iterator[str]:
    one = entry.rated
    if one.match in seen:
        yield f"match {one.match} was rated before"
    try:
        match, _ = ports.history.newest(one.match)
        placed = placings(match, order_of_leaving(_events(ports, match))) if match.is_to_be_rated else ()
    except (Corrupt, Refused) as error:
        yield f"match {one.match}: {_text(error)}"
        return
    if not placed:
        yield f"match {one.match} is not a rated match that was scored"
        return
    if (one.head, one.ended_at) != (match.head.hash, match.ended_at):
        yield f"match {one.match} has another head, or ended at another time"
    if placed != tuple(Placing(seat.player, seat.kind, seat.rank, seat.owner or None) for seat in one.seats):
        yield f"match {one.match} has other players or ranks"
    yield from _of_numbers(one, state)


def _of_numbers(one: MatchRated, state: _State) -> Iterator[str]:
    for seat in one.seats:
        known = state.standings.get(seat.player)
        if seat.before != (INITIAL if known is None else known.rating):
            yield f"the rating of {seat.player} before match {one.match} is not the one after the match before"
    if one.counted != is_counted(one.persons, state.met, one.ended_at):
        yield f"whether match {one.match} counts does not follow from the earlier matches of that day"
    befores = [seat.before for seat in one.seats]
    expected = rated(befores, [seat.rank for seat in one.seats]) if one.counted else tuple(befores)
    for seat, after in zip(one.seats, expected, strict=True):
        if not _is_close(seat.after, after):
            yield f"the rating of {seat.player} after match {one.match} does not follow from those before"


def _text(error: Corrupt | Refused) -> str:
    return error.detail if isinstance(error, Refused) else str(error)


def _is_close(one: Rating, other: Rating) -> bool:
    return abs(one.mu - other.mu) <= TOLERANCE and abs(one.sigma - other.sigma) <= TOLERANCE


def _of_leaderboards(ports: Ports, game: str, state: _State) -> Iterator[str]:
    """The faults of the leaderboards, if they are as far as the check of the stream."""
    known = ports.ratings.known(game, (), ())
    if (known.head or first_line(game)[1]) != state.head:
        if known.head is not None and known.head.version >= state.head.version:
            yield "the leaderboards follow from another stream; run `moonstone ratings rebuild`"
        return  # workers fold the rest with the next match
    kept = dict(ports.ratings.everyone(game))
    if kept != state.standings:
        yield "the leaderboards do not follow from the entries; run `moonstone ratings rebuild`"


def _rated_matches(ports: Ports, game: str) -> Iterator[Match]:
    """The matches of a game that are to be rated, in the order of their ends."""
    after = 0
    while ended := ports.index.ended(after, _BATCH):
        found = ports.history.newest_each([entry.match_id for _, entry in ended])
        for match in found.values():
            if isinstance(match, Match) and match.is_to_be_rated and match.created.game == game:
                yield match
        after = ended[-1][0]


def _entry_version(ports: Ports, match: Match) -> Version | None:
    seen = ports.log.read(stream_of(match.created.game), first=1, last=0, command=command_of(match.id)).seen
    return None if seen is None else seen.version


def _events(ports: Ports, match: Match) -> Iterator[Event]:
    version: Version = 0
    while version < match.head.version:
        for event, head in ports.history.verified(match, version, _BATCH):
            yield event
            version = head.version
