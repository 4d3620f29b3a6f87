"""Views of a match: a public summary for lists, and the full view of one viewer with observation and decisions."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

from events.record import MatchId, Version
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer
from service.match.events import BotFallback, MatchClock, SeatKind
from service.match.model import Match, SeatHolder, Status
from service.match.redaction import SeenDecision, own_decisions, require_over, see_decisions
from service.repository.ports import Player, Ports
from service.repository.ratings import Standings


class People(msgspec.Struct, frozen=True):
    """What is known of the people of some matches, by their ids: their accounts, and for each game their standings."""

    accounts: Mapping[str, Player] = {}
    standings: Mapping[str, Standings] = {}


class SeatView(msgspec.Struct, frozen=True):
    """A seat and its player. `player` is null in a free seat.

    `former` is the player who had the seat until a bot took it over. `owner` is the player who owns the hosted bot that has or
    had the seat; it is null in any other seat. Names and ratings are those of now, and not part of the match; a name may be
    null. `rating` is that in the game of the match, null before the first match that counted.
    """

    seat: Seat
    player: str | None
    name: str | None
    rating: int | None
    kind: SeatKind | None
    resigned: bool
    former: str | None
    former_name: str | None
    owner: str | None


class MatchSummary(msgspec.Struct, frozen=True):
    """The public part of a match, without the table. Times are server time in milliseconds.

    Times in observations and effects are match time: add `paused` to get server time. `banks` is the time that each seat
    has left, or had left when its open decision opened, in milliseconds; it is empty if the clock has no bank. `bot_fallback` is null
    in matches of format 1.
    """

    id: MatchId
    game: str
    ruleset: int
    options: Mapping[str, Any]
    status: Status
    private: bool
    manual_start: bool
    rated: bool
    bot_fallback: BotFallback | None
    clock: MatchClock | None
    creator: str
    creator_name: str | None
    seats: tuple[SeatView, ...]
    version: Version
    head: str
    created_at: int
    started_at: int | None
    ended_at: int | None
    paused: int
    banks: tuple[int, ...]
    seed_commitment: str
    outcome: Outcome | None
    server_seed: str | None
    expires_at: int | None
    abort_asked: tuple[Seat, ...]


class OwnMatch(MatchSummary, frozen=True, kw_only=True):
    """A match of the player that sent the request: its `seat` (null without a seat), and its open decisions."""

    seat: Seat | None
    decisions: tuple[SeenDecision, ...]


class MatchView(MatchSummary, frozen=True, kw_only=True):
    """A match at one version as one `viewer` may know it: a seat, or a spectator (null).

    `observation` is null before the start. `observations` are those of all seats, with `view=now`. `join_code` of a
    private match is shown to its creator and its seats. `legal_actions` and `action_texts`, the text of each legal action,
    are present if the client asked for them.
    """

    viewer: Viewer
    decisions: tuple[SeenDecision, ...]
    observation: Any
    observations: tuple[Any, ...] | UnsetType = UNSET
    join_code: str | UnsetType = UNSET
    legal_actions: tuple[Any, ...] | UnsetType = UNSET
    action_texts: tuple[str, ...] | UnsetType = UNSET


def summaries(ports: Ports, matches: Iterable[Match]) -> tuple[MatchSummary, ...]:
    """Summaries of matches. The names of all players are read in one round trip, and their ratings in one for each game."""
    listed = tuple(matches)
    people = _people(ports, listed)
    return tuple([_summary(match, people) for match in listed])


def summary_without_names(match: Match) -> MatchSummary:
    """A summary of a match of which only its events are known: people have neither names nor ratings in it, but bots have names."""
    return _summary(match, People())


def own_summaries(ports: Ports, matches: Iterable[Match], player: str) -> tuple[OwnMatch, ...]:
    """Summaries of one player's matches, with its seat and decisions in each."""
    listed = tuple(matches)
    people = _people(ports, listed)
    return tuple(
        [
            OwnMatch(
                *astuple(_summary(match, people)),
                seat=(seat := match.seat_of(player)),
                decisions=own_decisions(match, seat),
            )
            for match in listed
        ]
    )


def see(ports: Ports, match: Match, viewer: Viewer, join_code: str | None = None) -> MatchView:
    """The full view of a match for one viewer."""
    return MatchView(
        *astuple(_summary(match, _people(ports, (match,)))),
        viewer=viewer,
        decisions=see_decisions(match, viewer),
        observation=match.observation(viewer),
        join_code=join_code or UNSET,
    )


def of_every_seat(ports: Ports, match: Match) -> tuple[Any, ...]:
    """The observations of all seats at a version of a match that is over now.

    Raises:
        Refused: `not-your-seat`: the match is not over.
    """
    require_over(ports.history.newest(match.id)[0])
    return tuple(match.observation(seat) for seat in range(len(match.seats)))


def _people(ports: Ports, matches: Iterable[Match]) -> People:
    """The creators, the holders of seats and those who had them before, with the ratings of the holders."""
    shown: dict[str, None] = {}
    rated: dict[str, dict[str, None]] = {}
    for match in matches:
        shown[match.creator] = None
        of_game = rated.setdefault(match.created.game, {})
        for holder in match.seats:
            if holder is None:
                continue
            if (account := holder.account) is not None:
                shown[account] = None
            if holder.kind != "bot":
                of_game[holder.player] = None
    standings = {game: ports.ratings.standings(game, tuple(players)) for game, players in rated.items() if players}
    return People(ports.accounts.players(tuple(shown)), standings)


def _summary(match: Match, people: People) -> MatchSummary:
    """The public part of a match. The arguments are in the order of the fields: with names they would take five times as long."""
    created = match.created
    standings = people.standings.get(created.game, {})
    return MatchSummary(
        match.id,
        created.game,
        created.ruleset,
        created.options,
        match.status,
        created.private,
        created.manual_start,
        created.rated is True,
        None if created.bot_fallback is UNSET else created.bot_fallback,
        created.clock,
        match.creator,
        _name(match.creator, people),
        tuple([_see_seat(seat, holder, people, standings) for seat, holder in enumerate(match.seats)]),
        match.head.version,
        match.head.hash,
        match.created_at,
        match.started_at,
        match.ended_at,
        match.paused,
        match.banks,
        created.seed_commitment,
        match.outcome,
        match.server_seed,
        match.expires_at,
        match.abort_asked,
    )


def _see_seat(seat: Seat, holder: SeatHolder | None, people: People, standings: Standings) -> SeatView:
    if holder is None:
        return SeatView(seat, None, None, None, None, resigned=False, former=None, former_name=None, owner=None)
    is_bot = holder.kind == "bot"
    standing = None if is_bot else standings.get(holder.player)
    return SeatView(
        seat,
        holder.player,
        name=holder.player if is_bot else _name(holder.player, people),
        rating=None if standing is None else standing.rating.shown,
        kind=holder.kind,
        resigned=holder.resigned,
        former=holder.former,
        former_name=_name(holder.former, people),
        owner=holder.owner,
    )


def _name(player: str | None, people: People) -> str | None:
    known = None if player is None else people.accounts.get(player)
    return None if known is None else known.name
