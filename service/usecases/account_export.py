"""All that is stored of a player, as the player may see it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from events.record import Event, MatchId
from service.errors import Corrupt, Refused
from service.games.visibility import Seat
from service.match.events import SeatTaken
from service.match.model import Match
from service.match.redaction import SeenEvent, see_event, viewer_of
from service.repository.ports import Player, Ports
from service.usecases.accounts import TokenView, list_tokens
from service.usecases.hosted_bots import OwnBot, own_bots
from service.usecases.match_index import own_page
from service.usecases.webhooks import DeliveryView, WebhookView, deliveries, list_webhooks
from service.views.match_views import OwnMatch

_PAGE: Final = 20
"""Matches per read."""
_EVENTS: Final = 500
"""Events per read."""


class ExportedWebhook(WebhookView, frozen=True):
    """A webhook of the player with its deliveries that are kept, newest first."""

    deliveries: tuple[DeliveryView, ...]


class ExportedAccount(msgspec.Struct, frozen=True, tag="account"):
    """The account. `at`: when the export began. `has_recovery_code`: the service stores the hash of a code."""

    at: int
    player: Player
    tokens: tuple[TokenView, ...]
    has_recovery_code: bool
    bots: tuple[OwnBot, ...]
    seek: Mapping[str, Any] | None
    news: tuple[Mapping[str, Any], ...]
    webhooks: tuple[ExportedWebhook, ...]


class ExportedMatch(msgspec.Struct, frozen=True, tag="match"):
    """A match that the player created or has or had a seat in, and the `events` that the player caused."""

    match: OwnMatch
    events: tuple[SeenEvent, ...]


class UnreadableMatch(msgspec.Struct, frozen=True, tag="unreadable"):
    """A match of the player that the service cannot read: `GET /v1/matches/{match_id}` says why."""

    match: MatchId


class ExportedEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last line. `matches` is how many matches the export has."""

    matches: int


Line: TypeAlias = ExportedAccount | ExportedMatch | UnreadableMatch | ExportedEnd


def export(ports: Ports, player: Player, token_digest: str) -> Iterator[Line]:
    """The account, then its matches, newest first. `token_digest`: that of the token of the request."""
    tokens = list_tokens(ports, player, token_digest)
    has_code = ports.accounts.recovery_digest(player.id) is not None
    seek = ports.seeks.of(player.id)
    news = tuple({"at": at, **msgspec.to_builtins(item)} for at, item in ports.news.since(player.id, 0))
    kept = None if seek is None else msgspec.to_builtins(seek)
    webhooks = tuple(
        ExportedWebhook(**msgspec.structs.asdict(one), deliveries=deliveries(ports, player.id, one.id))
        for one in list_webhooks(ports, player.id)
    )
    bots = own_bots(ports, player.id)
    yield ExportedAccount(ports.now(), player, tokens, has_code, bots, kept, news, webhooks)
    count, before = 0, None
    while True:
        page = own_page(ports, player.id, "all", before, _PAGE)
        for match in page.matches:
            yield _exported(ports, match, player.id)
        yield from map(UnreadableMatch, page.unreadable)
        count += len(page.matches) + len(page.unreadable)
        before = page.last
        if before is None:
            yield ExportedEnd(count)
            return


def _exported(ports: Ports, own: OwnMatch, player: str) -> ExportedMatch | UnreadableMatch:
    try:
        match, _ = ports.history.newest(own.id)
        return ExportedMatch(own, tuple(_caused(ports, match, player)))
    except (Corrupt, Refused):
        return UnreadableMatch(own.id)


def _caused(ports: Ports, match: Match, player: str) -> Iterator[SeenEvent]:
    """The events that a player caused, as the player sees them now."""
    viewer = viewer_of(match, player)
    seats: set[Seat] = set()
    version = 0
    while version < match.head.version:
        for event, head in ports.history.verified(match, version, _EVENTS):
            version = event.version
            _note_seat(seats, event, player)
            if event.by == f"player:{player}" or event.by in {f"seat:{seat}" for seat in seats}:
                yield see_event(match, event, head.hash, viewer)


def _note_seat(seats: set[Seat], event: Event, player: str) -> None:
    """Keep the seats that a player has had last; somebody else may take a seat after the player has left it."""
    if event.type == "seat_taken":
        taken = msgspec.json.decode(event.data, type=SeatTaken)
        (seats.add if taken.player == player else seats.discard)(taken.seat)
