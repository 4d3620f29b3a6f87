"""Notices to a player about events of the player's matches, and the other frames of a player's stream.

A notice and its id depend only on the match, the version and the player. A client that receives a notice twice, for
example from a resumed stream, recognizes it by its id.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from events.chain import Verified
from events.record import Event, MatchId, Version
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from service.match import redaction, texts
from service.match.events import SeatHandedOver
from service.match.model import Match, Status
from service.match.redaction import SeenDecision
from service.repository.match_history import History
from service.repository.news import SeekEnd
from service.subscriptions.situation import Include
from service.views.match_views import OwnMatch
from service.views.ratings import RatingChange

Kind: TypeAlias = Literal["started", "your_turn", "seat_lost", "finished", "seat_freed", "rematch"]
KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))

ALWAYS_NOTIFIED: Final = frozenset({"match_started", "seat_handed_over", "match_scored", "match_aborted"})
"""Event types that cause notices even if later events followed. Others cause one while their decision is open."""

_handed_over: Final = msgspec.json.Decoder(SeatHandedOver).decode


class Notice(msgspec.Struct, frozen=True):
    """Something that happened in a match of the player at a `version`, with the open decisions of the player's seat.

    `started`: the match runs. `your_turn`: a decision opened for the seat; `legal_actions` lists its actions if
    `include` requests them. `seat_lost`: a bot plays the seat from now on; the player can watch, or take it back.
    `finished`: the match is over; `outcome` is null if it was aborted. `rating` is how the player's rating changed; it
    is absent if the match is not rated, and null if it was not rated in time, or if the player had no seat at its
    start. `seat_freed`: the creator has freed the player's seat before the start. `rematch`: another player asked for a
    rematch of `rematch_of`; `match` is the new match, and the same request seats this player in it. `notice` is the id
    of the notice; a notice that is sent again has the same id. `cursor` is the position from which the stream can be
    resumed.
    """

    type: Kind
    notice: str
    match: MatchId
    game: str
    seat: Viewer
    status: Status
    version: Version
    head: str
    decisions: tuple[SeenDecision, ...]
    cursor: str
    outcome: Outcome | UnsetType | None = UNSET
    rating: RatingChange | UnsetType | None = UNSET
    banks: tuple[int, ...] | UnsetType = UNSET
    legal_actions: tuple[Any, ...] | UnsetType = UNSET
    action_texts: tuple[str, ...] | UnsetType = UNSET
    rematch_of: MatchId | UnsetType = UNSET


class SeekEndedNotice(msgspec.Struct, frozen=True):
    """The player's seek ended without a match.

    `expired`: its time was over. `no-stream`: the player had no stream for 30 seconds. `too-many-seats`: the player may
    take no further seat. Otherwise none of the players who were put together could create the match:
    `too-many-open-matches`, or `invalid-options` or `game-not-found` after an upgrade.
    """

    type: Literal["seek_ended"]
    notice: str
    seek: str
    reason: SeekEnd
    cursor: str


class NoticesHello(msgspec.Struct, frozen=True, tag="hello"):
    """The first frame: the player's matches as they are now, newest first, and the interval of heartbeats.

    `followed` is the maximum number of matches that a stream follows: the newest ones that are not over. A stream that
    is resumed from `cursor` sends everything that happened since.
    """

    player: str
    matches: tuple[OwnMatch, ...]
    followed: int
    now: int
    heartbeat_ms: int
    cursor: str


class NoticesEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last frame. `restart`, `max-age`: connect again, with the `cursor` as `after`.

    `token-revoked`: the token is no longer valid.
    """

    reason: Literal["restart", "max-age", "token-revoked"]
    cursor: str


def kinds(event: Event, match: Match, player: str) -> Iterator[Kind]:
    """The kinds of notices that an event causes for a player; `match` is the match right after the event."""
    if event.type == "match_started":
        yield "started"
    if event.version in turns(match, player):
        yield "your_turn"
    if event.type == "seat_handed_over":
        holder = match.seats[_handed_over(event.data).seat]
        if holder is not None and holder.former == player:
            yield "seat_lost"
    if event.type in {"match_scored", "match_aborted"}:
        yield "finished"


def notice_id(match: MatchId, version: Version, kind: Kind) -> str:
    """The id of the notice about an event of a match."""
    return f"{match}-{version}-{kind}"


def noticed(
    history: History, newest: Match, events: Iterable[Verified], player: str, only: frozenset[Kind] = KINDS
) -> Iterator[tuple[Kind, Match]]:
    """The notices that a player gets about some events of a match: their kinds, and the match right after the event.

    Turns that are over by the newest version are left out.

    Raises:
        Corrupt: a state cannot be read.
        Refused: `engine-too-old`.
    """
    open_turns = turns(newest, player)
    for event, head in events:
        if event.type in ALWAYS_NOTIFIED or event.version in open_turns:
            match = newest if head == newest.head else history.at(newest.id, event.version)
            for kind in kinds(event, match, player):
                if kind in only and (kind != "your_turn" or event.version in open_turns):
                    yield kind, match


def turns(match: Match, player: str) -> frozenset[Version]:
    """The versions that opened the decisions that a player has to take now."""
    seat = match.seat_of(player)
    holder = None if seat is None else match.seats[seat]
    if holder is None or holder.resigned:
        return frozenset()
    return frozenset(int(one.id.partition(":")[2]) for one in match.decisions() if one.seat == seat)


def notice(
    kind: Kind,
    match: Match,
    player: str,
    include: Include,
    cursor: str,
    rematch_of: MatchId | UnsetType = UNSET,
    rating: RatingChange | UnsetType | None = UNSET,
) -> Notice:
    """A notice to a player about a match at its head. `rating` is for the kind `finished`."""
    seat, language = match.seat_of(player), include.language
    decisions = redaction.own_decisions(match, seat)
    legal = redaction.legal_actions(match, seat) if kind == "your_turn" and include.legal_actions else UNSET
    return Notice(
        type=kind,
        notice=notice_id(match.id, match.head.version, kind),
        match=match.id,
        game=match.created.game,
        seat=seat,
        status=match.status,
        version=match.head.version,
        head=match.head.hash,
        decisions=texts.decisions_with_text(match.game, language, decisions) if language else decisions,
        cursor=cursor,
        outcome=match.outcome if match.is_over else UNSET,
        rating=rating,
        banks=match.banks if include.decisions else UNSET,
        legal_actions=legal,
        action_texts=texts.action_texts(match.game, language, legal) if language and legal is not UNSET else UNSET,
        rematch_of=rematch_of,
    )
