"""One attempt of a delivery: what is sent, and what follows from the answer.

A delivery is attempted until a status 2xx, at most for a day, with waits that grow. Its body is the notice of the player's stream,
made anew from the log for each attempt, so nothing of it is stored.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from service.errors import Refused
from service.observability import failpoints, metrics
from service.repository import cursors
from service.repository.outgoing import Answered, Failed, Sent
from service.repository.ports import Ports
from service.repository.webhooks import (
    SUSPENDED_AFTER_MS,
    Attempt,
    Delivery,
    DeliveryStatus,
    MatchNotice,
    SampleNotice,
    Webhook,
)
from service.subscriptions.notices import Notice, SeekEndedNotice, notice, turns
from service.subscriptions.player_news import news_notice
from service.subscriptions.rating_changes import rating_change
from service.subscriptions.situation import NOTHING
from service.usecases.webhooks import update

TIMEOUT_S: Final = 15.0
"""Time limit of an attempt."""
MAX_ANSWER_BYTES: Final = 16 * 1024
"""An answer that is larger does not count as an answer. Its content is never used."""
TRIED_FOR_MS: Final = 24 * 3_600_000
"""How long a delivery is attempted."""
FIRST_WAIT_MS: Final = 5_000
GROWTH: Final = 3
LONGEST_WAIT_MS: Final = 2 * 3_600_000
"""The waits between attempts, without their jitter of up to a half: 5 s, 15 s, 45 s, … two hours."""
BUSY_MS: Final = 1_000
"""The pause of a player's deliveries if too many requests are in flight. It is no attempt."""
GONE: Final = 410

_encode: Final = msgspec.json.Encoder().encode


class TestNotice(msgspec.Struct, frozen=True):
    """The notice that a webhook gets if its player asks for a test. `at` is when, in server milliseconds."""

    __test__ = False  # it is not a test of pytest

    type: Literal["test"]
    notice: str
    webhook: str
    at: int


class Request(msgspec.Struct, frozen=True):
    """What an attempt sends."""

    url: str
    body: bytes
    headers: Mapping[str, str]


def request(ports: Ports, player: str, delivery: Delivery) -> Request | DeliveryStatus:
    """What an attempt of a delivery sends now; or its final status, if there is nothing to send any more.

    Raises:
        Corrupt: its match cannot be read.
        Refused: `match-not-found`, `engine-too-old`.
    """
    webhook = _find(ports, player, delivery.webhook)
    if webhook is None or webhook.status != "active":
        return "dropped"
    made = _notice(ports, player, delivery)
    if made is None:
        return "outdated"
    body = _encode(made)
    return Request(webhook.url, body, webhook.key.headers(ports.secret, delivery.notice, ports.now(), body))


def _notice(ports: Ports, player: str, delivery: Delivery) -> Notice | SeekEndedNotice | TestNotice | None:
    """The notice of a delivery; None if it is out of date."""
    match delivery.subject:
        case MatchNotice(match_id, version, kind):
            newest, _ = ports.history.newest(match_id)
            if kind == "your_turn" and version not in turns(newest, player):
                return None
            match = newest if version == newest.head.version else ports.history.at(match_id, version)
            rating = rating_change(ports, kind, match, player)
            return notice(kind, match, player, NOTHING, cursors.encode(match.at), rating=rating)
        case SampleNotice():
            return TestNotice("test", delivery.notice, delivery.webhook, delivery.created_at)
        case item:
            return news_notice(ports, player, item, NOTHING, cursors.encode(delivery.created_at))


def settle(ports: Ports, player: str, before: Delivery, after: Delivery, status: DeliveryStatus) -> None:
    """Store that a delivery is over without another attempt, unless its player has asked for one meanwhile."""
    if ports.webhooks.settle(player, before, replace(after, status=status, next_at=None)):
        metrics.DELIVERIES.labels(status).inc()


def hold(ports: Ports, player: str, taken: Sequence[Delivery] = ()) -> None:
    """Look at the deliveries of a player again after a pause, because too many requests are in flight."""
    ports.webhooks.hold(player, ports.now() + BUSY_MS, taken)


def note(ports: Ports, player: str, delivery: Delivery, result: Sent) -> None:
    """Store the result of an attempt: of the delivery, and of its webhook if that changes."""
    now, retry_after_ms = ports.now(), 0
    match result:
        case Answered():
            attempt = Attempt(now - result.ms, result.ms, status=result.status)
            retry_after_ms = 1000 * (result.retry_after_s or 0)
        case Failed():
            attempt = Attempt(now - result.ms, result.ms, failure=result.code)
    tried = replace(delivery, attempts=delivery.attempts + 1, last=attempt)
    metrics.DELIVERY_ATTEMPTS.labels("succeeded" if attempt.succeeded else "failed").inc()
    failpoints.point("delivery-answered")
    if attempt.succeeded:
        _change(ports, player, delivery.webhook, lambda one: replace(one, failing_since=None))
        settle(ports, player, delivery, tried, "delivered")
        return
    _change(ports, player, delivery.webhook, lambda one: _after_failure(one, attempt))
    next_at = now + max(_wait_ms(tried), min(retry_after_ms, LONGEST_WAIT_MS))
    if attempt.status == GONE or next_at > delivery.since + TRIED_FOR_MS:
        settle(ports, player, delivery, tried, "failed")
    else:
        ports.webhooks.settle(player, delivery, replace(tried, next_at=next_at))


def _after_failure(webhook: Webhook, attempt: Attempt) -> Webhook:
    since = webhook.failing_since or attempt.at
    reason = str(attempt.status or attempt.failure)
    if attempt.status == GONE:
        return replace(webhook, status="ended", reason=reason, failing_since=since)
    if attempt.at - since >= SUSPENDED_AFTER_MS:
        return replace(webhook, status="suspended", reason=reason, failing_since=since)
    return replace(webhook, failing_since=since)


def _wait_ms(delivery: Delivery) -> int:
    """The wait after an attempt. The jitter follows from the delivery, so that many deliveries of one time spread."""
    wait: int = min(FIRST_WAIT_MS * GROWTH ** min(delivery.attempts - 1, 20), LONGEST_WAIT_MS)
    name = f"{delivery.webhook}/{delivery.notice}/{delivery.attempts}"
    return wait + wait * (zlib.crc32(name.encode()) % 1000) // 2000


def _change(ports: Ports, player: str, webhook: str, changed: Callable[[Webhook], Webhook]) -> None:
    """Change a webhook after an attempt, unless it is not active any more."""
    found = _find(ports, player, webhook)
    if found is not None and found.status == "active" and changed(found) != found:
        with suppress(Refused):  # it was deleted meanwhile
            update(ports, player, webhook, lambda one: changed(one) if one.status == "active" else one)


def _find(ports: Ports, player: str, webhook: str) -> Webhook | None:
    return next((one for one in ports.webhooks.of((player,)).get(player, ()) if one.id == webhook), None)
