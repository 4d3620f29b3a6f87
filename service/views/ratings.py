"""Views of ratings: leaderboards, a player's ratings and rated matches, and the entries of a rating stream.

Names are read from the accounts for each answer, so an erased player has none.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from events.record import MatchId, Version
from service.match.events import SeatKind
from service.match.new_match import game_named
from service.match.rating import MatchRated, Rating, Standing
from service.repository import cursors, rating_streams
from service.repository.bots import is_hosted
from service.repository.ports import Ports
from service.repository.ratings import Board, PastMatch

_POSITION: Final = re.compile(r"-?[0-9]{1,20}:.{1,64}")
"""The form of `Leaders.last`."""
_EntryVersion = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class RatingView(msgspec.Struct, frozen=True):
    rating: int
    mu: int
    sigma: int


class PlayerRating(msgspec.Struct, frozen=True):
    """The rating of a player in one game. `rank` is the player's rank on the leaderboard; null without a place on it.

    `opponents` is how many different persons the player met, up to the number that a place needs.
    """

    game: str
    rating: int
    mu: int
    sigma: int
    rank: int | None
    opponents: int
    matches: int
    won: int
    shared: int
    lost: int


class PlayerPage(msgspec.Struct, frozen=True):
    """A player and its ratings, in the order of the games. A game without a counted match is absent."""

    id: str
    name: str | None
    kind: SeatKind
    ratings: tuple[PlayerRating, ...]


class LeaderView(msgspec.Struct, frozen=True):
    """A player with a place on a leaderboard. Players with equal ratings share a rank."""

    rank: int
    player: str
    name: str | None
    kind: SeatKind
    rating: int
    mu: int
    sigma: int
    matches: int
    won: int
    shared: int
    lost: int


class Leaderboard(msgspec.Struct, frozen=True):
    """A page of a game's leaderboard, best first; `next` is the cursor of the next page, null at the end."""

    game: str
    players: tuple[LeaderView, ...]
    next: str | None


class RatedMatch(msgspec.Struct, frozen=True):
    """A rated match of a player. `rated_at` is the time of its entry, which has this `version` in the game's ratings."""

    game: str
    version: Version
    match: MatchId
    rated_at: int
    counted: bool
    rank: int
    before: RatingView
    after: RatingView


class RatingHistory(msgspec.Struct, frozen=True):
    """A page of a player's rated matches, newest first; `next` is the cursor of the next page, null at the end."""

    matches: tuple[RatedMatch, ...]
    next: str | None


class RatingChange(msgspec.Struct, frozen=True):
    """How a match changed the rating of a player."""

    counted: bool
    rank: int
    before: RatingView
    after: RatingView


class RatingEntry(msgspec.Struct, frozen=True):
    """An entry of a game's ratings as it is stored: an event with the envelope and the chain of a match."""

    version: Version
    type: Literal["match_rated"]
    at: int
    by: str
    data: MatchRated
    prev: str
    salt: str


class RatingsFirstLine(msgspec.Struct, frozen=True):
    """The first line of a game's ratings."""

    format: str
    game: str


def view(rating: Rating) -> RatingView:
    return RatingView(rating.shown, rating.mu, rating.sigma)


def change(rated: MatchRated, player: str) -> RatingChange | None:
    """How an entry changed the rating of a player; None if the player had no seat at the start of the match."""
    seat = next((seat for seat in rated.seats if seat.player == player), None)
    return None if seat is None else RatingChange(rated.counted, seat.rank, view(seat.before), view(seat.after))


def leaderboard(ports: Ports, game: str, board: Board, cursor: str | None, limit: int) -> Leaderboard:
    """A page of a leaderboard. If ratings changed meanwhile, it still begins after the last rating of the page before.

    Raises:
        Refused: `game-not-found`; `invalid-parameter`: the cursor belongs to another leaderboard.
    """
    game_named(ports.games, game)
    found = ports.ratings.leaders(game, board, _position(game, board, cursor), limit)
    names = ports.accounts.players([one.player for one in found.leaders])
    players: list[LeaderView] = []
    for number, one in enumerate(found.leaders):
        rank = found.ahead + number + 1 if number else found.better + 1
        if number and one.standing.rating.order == found.leaders[number - 1].standing.rating.order:
            rank = players[-1].rank
        name = names[one.player].name if one.player in names else None
        players.append(LeaderView(rank, one.player, name, one.standing.kind, **_fields(one.standing)))
    last = None if found.last is None else cursors.encode([game, board, found.last])
    return Leaderboard(game, tuple(players), last)


def _position(game: str, board: Board, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    known_game, known_board, position = cursors.decode(cursor, tuple[str, str, str])
    if (known_game, known_board) != (game, board) or not _POSITION.fullmatch(position):
        raise cursors.foreign("cursor")
    return position


def _fields(standing: Standing) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(view(standing.rating)),
        "matches": standing.matches,
        "won": standing.won,
        "shared": standing.shared,
        "lost": standing.lost,
    }


def player_page(ports: Ports, player: str) -> PlayerPage:
    """A player with its ratings.

    Raises:
        Refused: `player-not-found`.
    """
    account = ports.player(player)
    standings = _standings(ports, player)
    kind: SeatKind = "hosted" if is_hosted(account.id) else "human"
    return PlayerPage(account.id, account.name, kind, _ratings(ports, standings))


def player_ratings(ports: Ports, player: str) -> tuple[PlayerRating, ...]:
    """The ratings of a player, in the order of the games. A game without a counted match is absent."""
    return _ratings(ports, _standings(ports, player))


def _standings(ports: Ports, player: str) -> Mapping[str, Standing]:
    """The standings of a player, by game."""
    found = {game: ports.ratings.standings(game, (player,)).get(player) for game in ports.games}
    return {game: standing for game, standing in found.items() if standing is not None}


def _ratings(ports: Ports, standings: Mapping[str, Standing]) -> tuple[PlayerRating, ...]:
    return tuple(
        PlayerRating(
            game=game,
            rank=ports.ratings.rank(game, standing) if standing.is_placed else None,
            opponents=len(standing.opponents),
            **_fields(standing),
        )
        for game, standing in standings.items()
    )


def history(ports: Ports, player: str, cursor: str | None, limit: int) -> RatingHistory:
    """The rated matches of a player in all games, newest first.

    Raises:
        Refused: `player-not-found`; `invalid-parameter`: this service did not create the cursor.
    """
    ports.player(player)
    games = sorted(ports.games)
    before = [None] * len(games) if cursor is None else cursors.decode(cursor, list[_EntryVersion | None])
    if len(before) != len(games):
        raise cursors.foreign("cursor")
    found = [
        one
        for game, version in zip(games, before, strict=True)
        for one in ports.ratings.past(game, player, version, limit + 1)
    ]
    found.sort(key=lambda one: (one.at, one.game, one.version), reverse=True)
    page = found[:limit]
    reached = {one.game: one.version for one in page}
    later = [reached.get(game, version) for game, version in zip(games, before, strict=True)]
    return RatingHistory(tuple(map(_rated_match, page)), cursors.encode(later) if len(found) > limit else None)


def _rated_match(past: PastMatch) -> RatedMatch:
    return RatedMatch(
        game=past.game,
        version=past.version,
        match=past.match,
        rated_at=past.at,
        counted=past.counted,
        rank=past.rank,
        before=view(past.before),
        after=view(past.after),
    )


def lines(ports: Ports, game: str, after: Version, head: str, limit: int) -> Sequence[bytes]:
    """The lines of a game's ratings after the entry `after`, as `rating_streams.lines` reads them.

    Raises:
        Refused: `game-not-found`, `history-diverged`, `ratings-corrupt`, `engine-too-old`.
    """
    game_named(ports.games, game)
    return rating_streams.lines(ports.log, game, after, head, limit)
