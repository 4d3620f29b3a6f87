"""Checks the ratings of a game: the chain of its rating stream, each entry against its match, the leaderboards against the entries.

Matches may be rated while a check runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar, get_args

import msgspec

from events.record import Head, MatchId, Version, digest
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import (
    INITIAL,
    Entry,
    MatchRated,
    Pair,
    Placing,
    Rating,
    Standing,
    first_line,
    is_counted,
    order_of_leaving,
    placings,
    rated,
    step,
    stream_of,
)
from service.repository.ports import Ports
from service.repository.rating_streams import entries, version_of
from service.repository.ratings import Board, PastMatch, past_match

TOLERANCE: Final = 1
"""Millionths by which a rating may differ: machines compute the last digits of fractions differently."""
_BATCH: Final = 500
"""Matches per read."""
_PAGE: Final = 1_000
"""Places of a leaderboard, or past matches of a player, per read."""
_REBUILD: Final = "run `moonstone ratings rebuild`"

T = TypeVar("T")
_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Checked:
    """What was checked. `waiting` are matches that are over and have no entry yet, but a due time."""

    entries: int = 0
    players: int = 0
    waiting: int = 0


@dataclass(slots=True)
class _State:
    """What follows from the entries of a game up to `head`, whose time is `at`."""

    game: str
    head: Head
    at: int = 0
    standings: dict[str, Standing] = field(default_factory=dict)
    met: dict[Pair, int] = field(default_factory=dict)
    versions: dict[MatchId, Version] = field(default_factory=dict)
    """The version of each match's entry."""
    past: dict[str, str] = field(default_factory=dict)
    """A hash of each player's past matches, which takes less memory than they do."""
    changed: set[str] = field(default_factory=set)
    """The players of the entries since this set was cleared."""

    def add(self, entry: Entry) -> None:
        standings, met = step(self.standings, self.met, entry.rated)
        self.standings.update(standings)
        self.met.update(met)
        self.versions[entry.rated.match] = entry.head.version
        for seat in entry.rated.seats:
            past = past_match(self.game, entry, seat)
            self.past[seat.player] = _hash_with(self.past.get(seat.player, ""), past)
            self.changed.add(seat.player)
        self.head, self.at = entry.head, entry.at


def faults(ports: Ports, game: str, checked: Checked) -> Iterator[str]:
    """The faults of a game's ratings, one sentence each; `checked` is counted up. A broken chain ends the check."""
    state = _State(game, first_line(game)[1])
    try:
        yield from _of_leaderboards(ports, state, checked)
        yield from _of_entries(ports, state, checked)
    except (Corrupt, Refused) as error:
        yield _text(error)
        return
    checked.players += len(state.standings)
    yield from _of_unrated(ports, state, checked)


def _of_entries(ports: Ports, state: _State, checked: Checked, until: Version | None = None) -> Iterator[str]:
    """The faults of the entries after the head of `state`, which are added to it; up to the version `until` if it is given."""
    if state.head.version == until:
        return
    for entry in entries(ports.log, state.game, state.head):
        for fault in _of_entry(ports, entry, state):
            yield f"version {entry.head.version}: {fault}"
        state.add(entry)
        checked.entries += 1
        if entry.head.version == until:
            return


def _of_entry(ports: Ports, entry: Entry, state: _State) -> Iterator[str]:
    one = entry.rated
    if entry.at < state.at:
        yield "its time is before that of the entry before"
    if one.match in state.versions:
        yield f"match {one.match} was rated before"
    try:
        match, _ = ports.history.newest(one.match)
        events = (verified.event for verified in ports.history.verified_after(match, 0))
        placed = placings(match, order_of_leaving(events)) if match.is_to_be_rated else ()
    except (Corrupt, Refused) as error:
        yield f"match {one.match}: {_text(error)}"
        return
    if not placed or match.created.game != state.game:
        yield f"match {one.match} is not a rated match of this game that was scored"
        return
    if version_of(ports.log, match) != entry.head.version:
        yield f"the log does not know it as the entry of match {one.match}, which may be rated again"
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


def _is_close(one: Rating, other: Rating) -> bool:
    return abs(one.mu - other.mu) <= TOLERANCE and abs(one.sigma - other.sigma) <= TOLERANCE


def _text(error: Corrupt | Refused) -> str:
    return error.detail if isinstance(error, Refused) else str(error)


def _of_leaderboards(ports: Ports, state: _State, checked: Checked) -> Iterator[str]:
    """The faults of the leaderboards, and of the entries that they were folded from, which are added to `state`.

    They are read in many steps. Players whose matches were rated meanwhile are not compared.
    """
    game, head = state.game, ports.ratings.known(state.game, (), ()).head
    if head is None:
        head = state.head
    yield from _of_entries(ports, state, checked, head.version)
    if state.head != head:
        yield f"the leaderboards follow from another stream; {_REBUILD}"
        return
    state.changed.clear()
    standings = dict(ports.ratings.everyone(game))
    met = dict(ports.ratings.pairs(game))
    boards = {board: list(_players(ports, game, board)) for board in get_args(Board)}
    past = {player: _hash_of_past(ports, game, player) for player in state.past}
    now = ports.ratings.known(game, (), ()).head
    if (0 if now is None else now.version) < head.version:
        yield "the leaderboards were rebuilt meanwhile, and were not compared; check them again"
        return
    if now is not None:
        yield from _of_entries(ports, state, checked, now.version)
    expected = {board: _expected(state.standings, board) for board in boards}
    if not (
        _equal(standings, state.standings, state.changed)
        and _equal(met, state.met, state.changed)
        and _equal(past, state.past, state.changed)
        and all(
            [player for player in players if player not in state.changed]
            == [player for player in expected[board] if player not in state.changed]
            for board, players in boards.items()
        )
    ):
        yield f"the leaderboards do not follow from the entries; {_REBUILD}"


def _players(ports: Ports, game: str, board: Board) -> Iterator[str]:
    """The players of a leaderboard, best first."""
    after: str | None = None
    while True:
        page = ports.ratings.leaders(game, board, after, _PAGE)
        yield from (leader.player for leader in page.leaders)
        after = page.last
        if after is None:
            return


def _expected(standings: Mapping[str, Standing], board: Board) -> list[str]:
    """The players that a leaderboard must have, best first."""
    places = (
        (standing.rating.order, player)
        for player, standing in standings.items()
        if standing.is_placed and board in {"all", standing.kind}
    )
    return [player for _, player in sorted(places, reverse=True)]


def _hash_of_past(ports: Ports, game: str, player: str) -> str:
    past: list[PastMatch] = []
    while page := ports.ratings.past(game, player, past[-1].version if past else None, _PAGE):
        past += page
    found = ""
    for one in reversed(past):
        found = _hash_with(found, one)
    return found


def _hash_with(before: str, past: PastMatch) -> str:
    return digest(before.encode() + _encode(past))


def _equal(one: Mapping[str, T], other: Mapping[str, T], without: set[str]) -> bool:
    """Whether two mappings have the same values. Keys are players or pairs; those of the players `without` are not compared."""
    different = (key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    return all(not without.isdisjoint(key.split()) for key in different)


def _of_unrated(ports: Ports, state: _State, checked: Checked) -> Iterator[str]:
    """The faults of matches that are to be rated and have no entry in `state`; those that are due are counted."""
    due = {one.match for one in ports.log.scheduled("rating")}
    for match in _rated_matches(ports, state.game):
        if match.id in state.versions:
            continue
        version = version_of(ports.log, match)
        if version is None and match.id not in due:  # it ended, or was rated, since `due` was read
            due = {one.match for one in ports.log.scheduled("rating")}
            version = version_of(ports.log, match)
        if version is None:
            checked.waiting += 1
            if match.id not in due:
                yield f"match {match.id} is over and is not rated, and nothing is due for it"
        elif (
            version <= state.head.version
            or not ports.log.read(stream_of(state.game), first=version, last=version).events
        ):
            yield f"the stream lost version {version}, the entry of match {match.id}"


def _rated_matches(ports: Ports, game: str) -> Iterator[Match]:
    """The matches of a game that are to be rated, in the order of their ends."""
    after = 0
    while ended := ports.index.ended(after, _BATCH):
        found = ports.history.newest_each([entry.match_id for _, entry in ended])
        for match in found.values():
            if isinstance(match, Match) and match.is_to_be_rated and match.created.game == game:
                yield match
        after = ended[-1][0]
