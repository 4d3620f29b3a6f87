"""What is stored of a player, as the player may see it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from events.record import Event, MatchId, Version
from service.errors import Corrupt, Refused
from service.games.visibility import Seat, Viewer
from service.match.events import SeatTaken
from service.match.model import Match
from service.match.redaction import SeenEvent, see_event, viewer_of
from service.repository.ports import Player, Ports
from service.repository.rating_streams import entry_of
from service.usecases.accounts import TokenView, list_tokens
from service.usecases.hosted_bots import OwnBot, own_bots
from service.usecases.match_lists import own_page
from service.usecases.pages import Read
from service.usecases.submit import player_key
from service.usecases.webhooks import DeliveryView, WebhookView, deliveries, list_webhooks
from service.views.damaged_match_access import may_learn_of
from service.views.match_views import OwnMatch
from service.views.ratings import PlayerRating, RatingChange, change, player_ratings

_PAGE: Final = 20
"""Matches per read."""
_EVENTS: Final = 500
"""Events per read."""


class ExportedWebhook(WebhookView, frozen=True):
    """A webhook of the player with its deliveries that are kept, newest first."""

    deliveries: tuple[DeliveryView, ...]


class ExportedAccount(msgspec.Struct, frozen=True, tag="account"):
    """The account. `at`: when the export began. `has_recovery_code`: the service stores the hash of a code.

    `ratings` has the games in which a rated match of the player counted.
    """

    at: int
    player: Player
    tokens: tuple[TokenView, ...]
    has_recovery_code: bool
    bots: tuple[OwnBot, ...]
    seek: Mapping[str, Any] | None
    news: tuple[Mapping[str, Any], ...]
    ratings: tuple[PlayerRating, ...]
    webhooks: tuple[ExportedWebhook, ...]


class ExportedCommand(msgspec.Struct, frozen=True):
    """A command of the player: its `Idempotency-Key`, or one that the service chose, and its last event's version."""

    key: str
    version: Version


class ExportedMatch(msgspec.Struct, frozen=True, tag="match"):
    """A match that the player created or has or had a seat in, and the `events` and `commands` that are the player's.

    `rating` is what the match did to the player's rating; null if it is not rated (yet).
    """

    match: OwnMatch
    events: tuple[SeenEvent, ...]
    commands: tuple[ExportedCommand, ...]
    rating: RatingChange | None


class ExportedLeftMatch(msgspec.Struct, frozen=True, tag="left"):
    """A match in which the player had a seat only before the start, and the `events` and `commands` that are the player's."""

    match: MatchId
    events: tuple[SeenEvent, ...]
    commands: tuple[ExportedCommand, ...]


class UnreadableMatch(msgspec.Struct, frozen=True, tag="unreadable"):
    """A match of the player that the service cannot read: `GET /v1/matches/{match_id}` says why."""

    match: MatchId


class ExportedEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last line. `matches` is how many matches the export has."""

    matches: int


Line: TypeAlias = ExportedAccount | ExportedMatch | ExportedLeftMatch | UnreadableMatch | ExportedEnd


def export(ports: Ports, player: Player, token_digest: str) -> Iterator[Line]:
    """The account, then its matches, and then those that the player left before their start, both newest first.

    `token_digest`: that of the token of the request.
    """
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
    ratings = player_ratings(ports, player.id)
    yield ExportedAccount(ports.now(), player, tokens, has_code, bots, kept, news, ratings, webhooks)
    count, before = 0, None
    while True:
        page = own_page(ports, player.id, "all", before, _PAGE)
        for match in page.matches:
            yield _exported(ports, match, player.id)
        yield from map(UnreadableMatch, page.unreadable)
        count += len(page.matches) + len(page.unreadable)
        before = page.last
        if before is None:
            break
    for left in _left(ports, player.id):
        yield left
        count += 1
    yield ExportedEnd(count)


def _left(ports: Ports, player: str) -> Iterator[ExportedLeftMatch | UnreadableMatch]:
    """The matches that a player left before their start."""
    before = None
    while True:
        entries = ports.index.matches_of(player, "left", before, _PAGE)
        for match_id, read in ports.history.newest_each([entry.match_id for entry in entries]).items():
            line = _exported_left(ports, match_id, read, player)
            if line is not None:
                yield line
        if len(entries) < _PAGE:
            return
        before = entries[-1]


def _exported_left(
    ports: Ports, match_id: MatchId, read: Read, player: str
) -> ExportedLeftMatch | UnreadableMatch | None:
    """None if the player has joined again, never joined, or may not learn that the match exists."""
    if isinstance(read, Match) and read.is_of(player):
        return None
    try:
        if not isinstance(read, Match):
            raise read
        # A private match is hidden from the player again, but not these events, which all came before its start.
        events = tuple(_caused(ports, read, player, viewer=None))
    except (Corrupt, Refused):
        return UnreadableMatch(match_id) if may_learn_of(ports, match_id, player) else None
    return ExportedLeftMatch(match_id, events, _commands(ports, match_id, player)) if events else None


def _exported(ports: Ports, own: OwnMatch, player: str) -> ExportedMatch | UnreadableMatch:
    try:
        match, _ = ports.history.newest(own.id)
        events = tuple(_caused(ports, match, player, viewer_of(match, player)))
    except (Corrupt, Refused):
        return UnreadableMatch(own.id)
    return ExportedMatch(own, events, _commands(ports, own.id, player), _rating(ports, match, player))


def _commands(ports: Ports, match_id: MatchId, player: str) -> tuple[ExportedCommand, ...]:
    prefix = player_key(player, "", None).id
    sent = ports.log.commands(match_id, prefix)
    commands = [ExportedCommand(name.removeprefix(prefix), seen.version) for name, seen in sent.items()]
    return tuple(sorted(commands, key=lambda command: (command.version, command.key)))


def _rating(ports: Ports, match: Match, player: str) -> RatingChange | None:
    if not match.is_to_be_rated:
        return None
    try:
        entry = entry_of(ports.log, match)
    except (Corrupt, Refused):
        return None
    return None if entry is None else change(entry.rated, player)


def _caused(ports: Ports, match: Match, player: str, viewer: Viewer) -> Iterator[SeenEvent]:
    """The events that a player caused, as a viewer sees them."""
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
