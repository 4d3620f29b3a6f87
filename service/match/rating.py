"""Ratings: the entries of a game's rating stream, how an entry follows from a match, and what follows from the entries.

A game has one rating stream. It has the envelope and the hash chain of a match, and an entry `match_rated` for each rated match
that was scored. The standing of a player is the fold of the entries. The model is Plackett–Luce of the library openskill, with
its usual parameters. Entries have integers, millionths of the model's numbers, so that everyone reads the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from openskill.models import PlackettLuce

from events.chain import BrokenChain, Draft, NewerEvent, follow
from events.record import Event, Head, MatchId, Version, canonical, decode, digest
from service.errors import Corrupt, Refused
from service.games.visibility import Seat
from service.match.events import SeatKind
from service.match.model import Match

FORMAT: Final = "moonstone-ratings/1"
MILLION: Final = 1_000_000
DAY_MS: Final = 24 * 3_600_000
COUNTED_A_DAY: Final = 10
"""How many matches of the same two players count in one day (UTC), by the time of their ends."""
OPPONENTS: Final = 10
"""How many different opponents a player needs for a place on the leaderboard."""
PLACED_SIGMA: Final = 7_000_000
"""The largest uncertainty of a player with a place on the leaderboard, in millionths; a new player has 8,333,333."""

_MODEL: Final = PlackettLuce(mu=25.0, sigma=25.0 / 3, beta=25.0 / 6, kappa=0.0001, tau=25.0 / 300)

Millionths: TypeAlias = int
Pair: TypeAlias = str
"""Two persons and a day: `<days since 1970> <lower id> <higher id>`."""


class Rating(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The estimated skill of a player and its uncertainty, in millionths."""

    mu: Millionths
    sigma: Annotated[Millionths, msgspec.Meta(ge=1)]

    @property
    def order(self) -> Millionths:
        """What leaderboards are sorted by: the skill that the player almost certainly has."""
        return self.mu - 3 * self.sigma

    @property
    def shown(self) -> int:
        """The rating as a whole number, by the same order. A new player has 1000."""
        return 1000 + self.order * 40 // MILLION


INITIAL: Final = Rating(25 * MILLION, 25 * MILLION // 3)


class RatedSeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seat of a rated match: the player who had it at the start, its rank in the rating, and the rating before and after.

    `owner`: the player who owns the hosted bot of the seat; absent for any other.
    """

    player: str
    kind: SeatKind
    rank: Annotated[int, msgspec.Meta(ge=1)]
    before: Rating
    after: Rating
    owner: str | UnsetType = UNSET

    @property
    def person(self) -> str:
        """Who is behind the player: all bots of one owner, and the owner, are one person."""
        return self.player if self.owner is UNSET else self.owner


class MatchRated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data of an entry. `head` is the hash of the match's last event, `seats` are in order.

    A match is not `counted`, and changes no rating, if a person is behind two of its players, or if two of its persons met
    in `COUNTED_A_DAY` counted matches of that day.
    """

    match: MatchId
    head: str
    ended_at: int
    counted: bool
    seats: tuple[RatedSeat, ...]

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(seat.player for seat in self.seats)

    @property
    def persons(self) -> tuple[str, ...]:
        return tuple(seat.person for seat in self.seats)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return pairs_of(self.persons, self.ended_at)


class Entry(msgspec.Struct, frozen=True):
    """An entry of a rating stream, its time (server milliseconds), and the head of the stream after it."""

    head: Head
    at: int
    rated: MatchRated


class Placing(msgspec.Struct, frozen=True):
    """The player who had a seat at the start, and its rank in the rating. `owner`: that of a hosted bot."""

    player: str
    kind: SeatKind
    rank: int
    owner: str | None = None

    @property
    def person(self) -> str:
        return self.owner or self.player


class Standing(msgspec.Struct, frozen=True):
    """What follows for a player from the counted matches of a game. `won`: nobody had a better or the same rank; `shared`: nobody had a better rank, but somebody the same one.
    `opponents` are the first `OPPONENTS` different persons.
    """

    kind: SeatKind
    rating: Rating = INITIAL
    matches: int = 0
    won: int = 0
    shared: int = 0
    lost: int = 0
    opponents: tuple[str, ...] = ()

    @property
    def is_placed(self) -> bool:
        """Whether the player has a place on the leaderboard."""
        return len(self.opponents) >= OPPONENTS and self.rating.sigma <= PLACED_SIGMA


Standings: TypeAlias = Mapping[str, Standing]
"""By player; players without a counted match may be missing."""
Met: TypeAlias = Mapping[Pair, int]
"""How many counted matches each pair had; pairs without one may be missing."""


def stream_of(game: str) -> MatchId:
    """The id of a game's rating stream in the log. No match has such an id."""
    return f"ratings:{game}"


def command_of(match_id: MatchId) -> str:
    """The command id of a match's entry: with it, a rating stream gets one entry for each match."""
    return f"rate:{match_id}"


def first_line(game: str) -> tuple[bytes, Head]:
    """The first line of a game's rating file, and the head of the stream without entries."""
    line = canonical({"format": FORMAT, "game": game})
    return line, Head(0, digest(line))


def pairs_of(persons: Iterable[str], ended_at: int) -> tuple[Pair, ...]:
    day = ended_at // DAY_MS
    return tuple(f"{day} {first} {second}" for first, second in combinations(sorted(persons), 2))


def is_counted(persons: Sequence[str], met: Met, ended_at: int) -> bool:
    """Whether a match of these persons, one for each seat, counts: none plays against itself or meets another too often."""
    pairs = pairs_of(persons, ended_at)
    return len(set(persons)) == len(persons) and all(met.get(pair, 0) < COUNTED_A_DAY for pair in pairs)


class _OfSeat(msgspec.Struct, frozen=True):
    seat: Seat


_of_seat: Final = msgspec.json.Decoder(_OfSeat).decode


def order_of_leaving(events: Iterable[Event]) -> tuple[Seat, ...]:
    """The seats that resigned or were handed over, in this order. In a rated match nobody takes a seat back."""
    left = [_of_seat(event.data).seat for event in events if event.type in {"resigned", "seat_handed_over"}]
    return tuple(dict.fromkeys(left))


def placings(match: Match, left: Sequence[Seat]) -> tuple[Placing, ...]:
    """The first holders of the seats of a scored match, and their ranks.

    Seats that stayed have the order of the outcome. Those that left (`left`) come after them; who left later is ahead.
    """
    if match.outcome is None:
        raise ValueError("the match is not scored")
    outcome = match.outcome.ranks
    stayed = [rank for seat, rank in enumerate(outcome) if seat not in left]
    found = []
    for seat, holder in enumerate(match.seats):
        if holder is None:
            raise ValueError(f"seat {seat} is empty")
        rank = len(outcome) - left.index(seat) if seat in left else 1 + sum(other < outcome[seat] for other in stayed)
        found.append(Placing(holder.account or holder.player, holder.account_kind, rank, holder.owner))
    return tuple(found)


def rated(befores: Sequence[Rating], ranks: Sequence[int]) -> tuple[Rating, ...]:
    """The ratings after a match. Another machine may get a last digit that differs by one."""
    teams = [[_MODEL.rating(mu=one.mu / MILLION, sigma=one.sigma / MILLION)] for one in befores]
    found = _MODEL.rate(teams, ranks=[float(rank) for rank in ranks])
    return tuple(Rating(round(one.mu * MILLION), round(one.sigma * MILLION)) for (one,) in found)


def rate(match: Match, placed: Sequence[Placing], standings: Standings, met: Met) -> MatchRated:
    """The entry of a match after all earlier entries, whose result are `standings` and `met`."""
    ended_at = match.ended_at or 0
    befores = [standings[one.player].rating if one.player in standings else INITIAL for one in placed]
    counted = is_counted([one.person for one in placed], met, ended_at)
    afters = rated(befores, [one.rank for one in placed]) if counted else befores
    seats = [
        RatedSeat(one.player, one.kind, one.rank, before, after, one.owner or UNSET)
        for one, before, after in zip(placed, befores, afters, strict=True)
    ]
    return MatchRated(match.id, match.head.hash, ended_at, counted, tuple(seats))


def draft(entry: MatchRated) -> Draft:
    return Draft("match_rated", "worker", canonical(entry))


def step(standings: Standings, met: Met, entry: MatchRated) -> tuple[Standings, Met]:
    """The standings of the players of an entry, and the numbers of their pairs, after it."""
    if not entry.counted:
        return {}, {}
    return (
        {seat.player: _standing(standings.get(seat.player), seat, entry.seats) for seat in entry.seats},
        {pair: met.get(pair, 0) + 1 for pair in entry.pairs},
    )


def _standing(before: Standing | None, seat: RatedSeat, seats: Sequence[RatedSeat]) -> Standing:
    known = before or Standing(seat.kind)
    others = [one for one in seats if one.player != seat.player]
    is_shared = any(one.rank == seat.rank for one in others)
    opponents = dict.fromkeys((*known.opponents, *(one.person for one in others)))
    return replace(
        known,
        kind=seat.kind,
        rating=seat.after,
        matches=known.matches + 1,
        won=known.won + (seat.rank == 1 and not is_shared),
        shared=known.shared + (seat.rank == 1 and is_shared),
        lost=known.lost + (seat.rank > 1),
        opponents=tuple(opponents)[:OPPONENTS],
    )


_data: Final = msgspec.json.Decoder(MatchRated).decode


def follow_entry(head: Head, stored: bytes) -> Entry:
    """The entry in stored bytes, which must come directly after `head`.

    Raises:
        Corrupt: the bytes break the chain, or are not an entry.
        Refused: `engine-too-old`: a newer release wrote the entry.
    """
    try:
        event, after = follow(head, stored)
        if event.type != "match_rated":
            raise _too_old(event.version)
        if event.by != "worker":
            raise Corrupt(event.version, "was not written by a worker")
        return Entry(after, event.at, _data(event.data))
    except NewerEvent as error:
        raise _too_old(error.version) from error
    except BrokenChain as error:
        raise Corrupt(error.version, error.fault) from error
    except msgspec.ValidationError as error:
        raise _too_old(head.version + 1) from error


def entry_at(version: Version, stored: bytes) -> Entry:
    """The entry in stored bytes, without a check of its `prev`. Raises the same as `follow_entry`."""
    try:
        before = decode(stored).prev
    except (ValueError, RecursionError):
        before = ""  # not an event; `follow_entry` raises with the fault
    return follow_entry(Head(version - 1, before), stored)


def _too_old(version: Version) -> Refused:
    return Refused("engine-too-old", f"This service is too old for this rating stream: see its version {version}.")
