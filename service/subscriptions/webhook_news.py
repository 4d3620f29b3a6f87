"""News become deliveries: what happened in a match, or to a player beside matches, since the stored position.

Any process may do this at any time and again: a delivery is named by its webhook and notice, and is made once.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from events.record import MatchId
from service.match.model import Match
from service.observability import failpoints
from service.repository.news import Item, RematchAsked, SeatFreed, SeekEnded
from service.repository.ports import ENDING_MS, Ports
from service.repository.webhooks import NEWS, Delivery, MatchNotice, Notified, Webhook
from service.subscriptions.notices import notice_id, noticed
from service.subscriptions.player_news import news_id
from service.subscriptions.rating_changes import awaits_rating

RECHECK_MS: Final = 600_000
"""How often the news of a match or player are looked at without a cause, in case a process of an older release wrote them."""
SETTLING_MS: Final = 2 * ENDING_MS
"""For this time after a webhook was made (active), a command that did not see it may still bring its player into a match."""
SETTLING_PAUSE_MS: Final = 5_000
RATING_PAUSE_MS: Final = 300
_PAGE: Final = 200
"""Matches per read of the index."""


def collect(ports: Ports, match_id: MatchId) -> None:
    """Make the deliveries of a match, and wait for its next event.

    Raises:
        Corrupt: the match cannot be read.
        Refused: `match-not-found`, `engine-too-old`.
    """
    match, _ = ports.history.newest(match_id)
    version, now = match.head.version, ports.now()
    subscribed = _subscribed(ports, match)
    if not subscribed:
        ports.log.rearm(match_id, version, {NEWS: None})
        if _subscribed(ports, match):  # a webhook was made meanwhile
            ports.webhooks.watch((match_id,), now)
        return
    if awaits_rating(ports, match):
        ports.log.rearm(match_id, version, {NEWS: now + RATING_PAUSE_MS})
        return
    for player, webhooks in subscribed.items():
        new = tuple(_deliveries(ports, match, player, webhooks, now))
        ports.webhooks.record(player, match_id, version, new, now, is_last=match.is_over)
        failpoints.point("news-recorded")
    ports.log.rearm(match_id, version, {NEWS: None if match.is_over else now + RECHECK_MS})


def collect_beside_matches(ports: Ports, player: str, claimed: int) -> None:
    """Make the deliveries that are about no match of a player, and watch all matches of the player.

    `claimed` is the due time that the claim has set.
    """
    webhooks, now = _active(ports, player), ports.now()
    if not webhooks:
        ports.webhooks.watch_player(player, None, claimed)
        if _active(ports, player):
            ports.webhooks.watch_player(player, now)
        return
    posted = ports.news.since(player, ports.webhooks.position(player, NEWS))
    new = [
        _delivery(webhook, news_id(one.item), one.item, now)
        for one in posted
        for webhook in webhooks
        if _type_of(one.item) in webhook.events and one.at >= webhook.since
    ]
    ports.webhooks.record(player, NEWS, posted[-1].at if posted else 0, new, now)
    for page in _active_matches(ports, player):
        ports.webhooks.watch(page, now)
    is_settling = now - max(webhook.since for webhook in webhooks) < SETTLING_MS
    ports.webhooks.watch_player(player, now + (SETTLING_PAUSE_MS if is_settling else RECHECK_MS), claimed)


def _subscribed(ports: Ports, match: Match) -> dict[str, Sequence[Webhook]]:
    """The active webhooks of each player who may get notices about a match."""
    former = {holder.former for holder in match.seats if holder is not None and holder.former is not None}
    found = ports.webhooks.of(sorted({match.creator} | match.players | former))
    active = {player: [one for one in webhooks if one.status == "active"] for player, webhooks in found.items()}
    return {player: webhooks for player, webhooks in active.items() if webhooks}


def _active(ports: Ports, player: str) -> Sequence[Webhook]:
    return [one for one in ports.webhooks.of((player,)).get(player, ()) if one.status == "active"]


def _deliveries(ports: Ports, match: Match, player: str, webhooks: Sequence[Webhook], now: int) -> Iterator[Delivery]:
    since = min(webhook.since for webhook in webhooks)
    position = ports.webhooks.position(player, match.id) if match.at >= since else match.head.version
    events = (one for one in ports.history.verified_after(match, position) if one.event.at >= since)
    for kind, then in noticed(ports.history, match, events, player):
        version = then.head.version
        for webhook in webhooks:
            if kind in webhook.events and then.at >= webhook.since:
                subject = MatchNotice(match.id, version, kind)
                yield _delivery(webhook, notice_id(match.id, version, kind), subject, now)


def _delivery(webhook: Webhook, notice: str, subject: MatchNotice | Item, now: int) -> Delivery:
    return Delivery(webhook.id, notice, subject, created_at=now, since=now, next_at=now)


def _type_of(item: Item) -> Notified:
    match item:
        case SeatFreed():
            return "seat_freed"
        case RematchAsked():
            return "rematch"
        case SeekEnded():
            return "seek_ended"
    assert_never(item)


def _active_matches(ports: Ports, player: str) -> Iterator[Sequence[MatchId]]:
    before = None
    while True:
        entries = ports.index.matches_of(player, "active", before, _PAGE)
        yield [entry.match_id for entry in entries]
        if len(entries) < _PAGE:
            return
        before = entries[-1]
