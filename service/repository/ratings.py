"""The leaderboards: what follows from the rating streams, stored with the position up to which each stream was folded.

All of it is derived, so backups do not contain it, and `moonstone ratings rebuild` writes it again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from events.record import Head, MatchId, Version
from service.match.rating import Entry, Met, RatedSeat, Rating, step
from service.match.rating import Pair as Pair
from service.match.rating import Standing as Standing
from service.match.rating import Standings as Standings

Board: TypeAlias = Literal["all", "human", "hosted"]
"""A leaderboard of a game: of all players, of people, or of bots that accounts host."""


class Known(msgspec.Struct, frozen=True):
    """What is known of some players and pairs after the entry `head` of a rating stream; None: no entry was folded yet."""

    head: Head | None
    standings: Standings
    met: Met


class Leader(msgspec.Struct, frozen=True):
    """A player with a place on a leaderboard."""

    player: str
    standing: Standing


class Leaders(msgspec.Struct, frozen=True):
    """A page of a leaderboard. `ahead` players are listed before its first one, and `better` ones have a better rating than that.

    `last` is the position of its last player, after which the next page begins; None at the end.
    """

    ahead: int
    better: int
    leaders: tuple[Leader, ...]
    last: str | None


class PastMatch(msgspec.Struct, frozen=True):
    """A rated match in the history of a player; `version` is that of its entry, `at` the time of the entry."""

    game: str
    version: Version
    match: MatchId
    at: int
    counted: bool
    rank: int
    before: Rating
    after: Rating


class Folded(msgspec.Struct, frozen=True):
    """What follows from the next entry of a rating stream: the head after it, and for its players and pairs what was known before
    it and what is known after it. `past` is the match in the history of each player.
    """

    head: Head
    before: Known
    standings: Standings
    met: Met
    past: Mapping[str, PastMatch]


def folded(game: str, before: Known, entry: Entry) -> Folded:
    """What follows from an entry; `before` is what is known of its players and pairs before it."""
    standings, met = step(before.standings, before.met, entry.rated)
    past = {seat.player: past_match(game, entry, seat) for seat in entry.rated.seats}
    return Folded(entry.head, before, standings, met, past)


def past_match(game: str, entry: Entry, seat: RatedSeat) -> PastMatch:
    """The match of an entry in the history of the player of a seat."""
    rated, version = entry.rated, entry.head.version
    return PastMatch(game, version, rated.match, entry.at, rated.counted, seat.rank, seat.before, seat.after)


class Ratings(Protocol):
    """Each method is atomic."""

    def known(self, game: str, players: Sequence[str], pairs: Sequence[Pair]) -> Known: ...

    def fold(self, game: str, folded: Folded) -> bool:
        """Store what is known after the next entry, unless another process did that. Returns whether it was stored."""
        ...

    def clear(self, game: str) -> None:
        """Delete everything of a game, so that its stream is folded from its beginning."""
        ...

    def standings(self, game: str, players: Sequence[str]) -> Standings: ...

    def rank(self, game: str, standing: Standing) -> int:
        """The rank of a standing on the leaderboard of all players: one more than the number of better ratings."""
        ...

    def leaders(self, game: str, board: Board, after: str | None, limit: int) -> Leaders:
        """A page of a leaderboard, best first, after the position `after`, which is the `last` of another page."""
        ...

    def past(self, game: str, player: str, before: Version | None, limit: int) -> Sequence[PastMatch]:
        """The rated matches of a player, newest first, with entries before a version."""
        ...

    def everyone(self, game: str) -> Iterator[tuple[str, Standing]]:
        """All players with a counted match. It is read in parts, and some may come twice."""
        ...

    def pairs(self, game: str) -> Iterator[tuple[Pair, int]]:
        """All pairs with a counted match, and how many they had. It is read in parts, and some may come twice."""
        ...

    def adopted(self) -> int:
        """The number in the list of ended matches up to which all rated matches are known to have their due time."""
        ...

    def set_adopted(self, number: int) -> None: ...
