"""What an event tells a player about one of their matches, as notices, and the frames that carry these.

A notice follows from a match, a version and a player alone, and so does its id: whoever is told of it twice, by a stream
that went on anew or in another way, knows it again.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from events.record import Event, MatchId, Version
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from service.match import redaction, texts
from service.match.events import SeatHandedOver
from service.match.model import Match, Status
from service.match.redaction import SeenDecision
from service.subscriptions.situation import Include
from service.views.match_views import OwnMatch

Kind: TypeAlias = Literal["started", "your_turn", "seat_lost", "finished"]
KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))

ALWAYS_TOLD: Final = frozenset({"match_started", "seat_handed_over", "match_scored", "match_aborted"})
"""Types of events that tell somebody something whatever came after. Any may open a decision."""

_handed_over: Final = msgspec.json.Decoder(SeatHandedOver).decode


class Notice(msgspec.Struct, frozen=True):
    """Something that happened in a match of the player at a `version`, with what the player's seat had to decide then.

    `started`: it runs. `your_turn`: a decision opened for the seat; `legal_actions`, if asked for, is its list. `seat_lost`:
    the seat's time was up and a bot plays it; the player may only look on. `finished`: it is over; the `outcome` is null if
    it was broken off. `notice` is the id of the notice, the same however often it is sent. `cursor` is where to go on from.
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
    banks: tuple[int, ...] | UnsetType = UNSET
    legal_actions: tuple[Any, ...] | UnsetType = UNSET
    action_texts: tuple[str, ...] | UnsetType = UNSET


class NoticesHello(msgspec.Struct, frozen=True, tag="hello"):
    """The first frame: the player's matches as they are now, the last made first, and how often a sign of life comes.

    `followed` is how many matches a stream follows at most, the last made of those that are not over. `cursor` is where to
    go on from: then all is told that happened since.
    """

    player: str
    matches: tuple[OwnMatch, ...]
    followed: int
    now: int
    heartbeat_ms: int
    cursor: str


class NoticesEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last frame. `restart`, `max-age`: connect again, with the `cursor` as `after`. `token-revoked`: the token is no
    longer valid.
    """

    reason: Literal["restart", "max-age", "token-revoked"]
    cursor: str


def kinds(event: Event, match: Match, player: str) -> Iterator[Kind]:
    """What an event tells a player; `match` is as it was right after it."""
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


def turns(match: Match, player: str) -> frozenset[Version]:
    """The versions at which decisions opened that a player has to take now."""
    seat = match.seat_of(player)
    holder = None if seat is None else match.seats[seat]
    if holder is None or holder.resigned:
        return frozenset()
    return frozenset(int(one.id.partition(":")[2]) for one in match.decisions() if one.seat == seat)


def notice(kind: Kind, match: Match, player: str, include: Include, cursor: str) -> Notice:
    """What a player is told of a match at its version."""
    seat, language = match.seat_of(player), include.language
    decisions = redaction.own_decisions(match, seat)
    legal = redaction.legal_actions(match, seat) if kind == "your_turn" and include.legal_actions else UNSET
    return Notice(
        type=kind,
        notice=f"{match.id}-{match.head.version}-{kind}",
        match=match.id,
        game=match.created.game,
        seat=seat,
        status=match.status,
        version=match.head.version,
        head=match.head.hash,
        decisions=texts.asked_with_text(match.game, language, decisions) if language else decisions,
        cursor=cursor,
        outcome=match.outcome if match.is_over else UNSET,
        banks=match.banks if include.decisions else UNSET,
        legal_actions=legal,
        action_texts=texts.action_texts(match.game, language, legal) if language and legal is not UNSET else UNSET,
    )
