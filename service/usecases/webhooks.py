"""A player's webhooks: create, change, end, renew the secret, and send deliveries again."""

import secrets
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from service.errors import Refused
from service.repository.outgoing import Failure
from service.repository.ports import Ports
from service.repository.signing import OVERLAP_MS, SigningKey
from service.repository.webhooks import Delivery, DeliveryStatus, Notified, SampleNotice, Webhook, WebhookStatus
from service.usecases.accounts import invalid_token
from service.usecases.created_ids import check_key, created_id, deleted

MAX_WEBHOOKS: Final = 10
"""Maximum number of webhooks of a player."""
_PREFIX: Final = "wh_"
PAUSED: Final = "paused"
"""The reason of a webhook that its player suspended."""


class WebhookView(msgspec.Struct, frozen=True):
    """A webhook as its player sees it. Times are in server milliseconds.

    `status`: only an `active` one gets deliveries. `ended`: the receiver answered 410. `suspended`: all attempts failed for five
    days, or the player paused it. `reason` says why it is not active: `paused`, or the status or failure of the last attempt.
    `failing_since`: the first failed attempt since one succeeded. `previous_secret_until`: until then deliveries are also signed
    with the secret before the last renewal.
    """

    id: str
    url: str
    events: tuple[Notified, ...]
    status: WebhookStatus
    reason: str | None
    created_at: int
    failing_since: int | None
    previous_secret_until: int | None


class DeliveryView(msgspec.Struct, frozen=True):
    """A notice for a webhook, and the last attempt to deliver it. Times are in server milliseconds.

    `type` is that of the notice; `match` is null if it is about no match. `status`: `pending` until an attempt gets a status 2xx
    (`delivered`), or all failed for a day (`failed`); `outdated`: the decision was taken, or the offer ended, before;
    `dropped`: the webhook is not active any more, or the match cannot be read. `attempted_at`, `ms` and `attempts` are
    about attempts; `answer` is the status of the last answer, and `failure` says why there was none. `next_at` is when the
    next attempt is due, null if there is none.
    """

    notice: str
    type: str
    match: str | None
    created_at: int
    status: DeliveryStatus
    attempts: int
    attempted_at: int | None
    ms: int | None
    answer: int | None
    failure: Failure | None
    next_at: int | None


def list_webhooks(ports: Ports, player: str) -> tuple[WebhookView, ...]:
    """The player's webhooks, oldest first."""
    return tuple(see(ports, one) for one in ports.webhooks.of((player,)).get(player, ()))


def add(ports: Ports, player: str, url: str, events: Sequence[Notified], key: str | None = None) -> tuple[Webhook, str]:
    """Create a webhook, and return it with its secret. `url` may be called (`url_fault`).

    The same `key` and request give the same webhook again, as it is now, with its newest secret; without a key it is a new one.

    Raises:
        Refused: `too-many-webhooks`, `idempotency-key-reused`; `token-invalid` if the account was erased meanwhile.
    """
    asked = {"url": url, "events": list(events)}
    webhook_id = created_id(ports, _PREFIX, player, key or secrets.token_hex(16), asked)
    check_key(webhook_id, (one.id for one in ports.webhooks.of((player,)).get(player, ())))
    now = ports.now()
    webhook = Webhook(webhook_id, player, url, tuple(events), now, now, SigningKey(f"webhook:{webhook_id}"))
    match ports.webhooks.add(webhook, MAX_WEBHOOKS):
        case "full":
            raise Refused("too-many-webhooks", f"You have {MAX_WEBHOOKS} webhooks; delete one first.")
        case "removed":
            raise deleted()
        case "known":
            webhook = _find(ports, player, webhook_id)
        case "added":
            if ports.accounts.in_erasure((player,)):  # which may have removed the webhooks before this one was added
                ports.webhooks.erase(player)
                raise invalid_token()
    return webhook, webhook.key.secret(ports.secret)


def change(
    ports: Ports,
    player: str,
    webhook_id: str,
    *,
    url: str | None = None,
    events: Sequence[Notified] | None = None,
    active: bool | None = None,
) -> Webhook:
    """Change a webhook. A new URL, or `active`, makes it active again, for what happens from then on.

    Raises:
        Refused: `webhook-not-found`.
    """

    def changed(before: Webhook) -> Webhook:
        after = replace(before, url=url or before.url, events=before.events if events is None else tuple(events))
        if active is False:
            return replace(after, status="suspended", reason=PAUSED) if before.status == "active" else after
        if active or after.url != before.url:
            since = before.since if before.status == "active" else ports.now()
            return replace(after, status="active", since=since, reason=None, failing_since=None)
        return after

    return update(ports, player, webhook_id, changed, wakes=True)


def renew_secret(ports: Ports, player: str, webhook_id: str, key: str) -> tuple[Webhook, str]:
    """Give a webhook a new secret, and return it. The previous one stays valid for a day.

    The same `key` again changes nothing, and returns the newest secret.

    Raises:
        Refused: `webhook-not-found`.
    """
    now = ports.now()
    renewed = update(ports, player, webhook_id, lambda one: replace(one, key=one.key.renewed(now, key)))
    return renewed, renewed.key.secret(ports.secret)


def remove(ports: Ports, player: str, webhook_id: str) -> None:
    """Delete a webhook and its deliveries.

    Raises:
        Refused: `webhook-not-found`.
    """
    if not ports.webhooks.remove(player, webhook_id):
        raise _not_found()


def send_test(ports: Ports, player: str, webhook_id: str) -> DeliveryView:
    """Send a test notice to a webhook. It is delivered as all others.

    Raises:
        Refused: `webhook-not-found`, `webhook-not-active`.
    """
    webhook = _active(ports, player, webhook_id)
    now = ports.now()
    notice = f"test-{secrets.token_hex(8)}"
    delivery = Delivery(webhook.id, notice, SampleNotice(), created_at=now, since=now, next_at=now)
    ports.webhooks.record(player, f"test:{notice}", 0, (delivery,), now, is_last=True)
    return see_delivery(delivery)


def send_again(ports: Ports, player: str, webhook_id: str, notice: str) -> DeliveryView:
    """Attempt a delivery now, and for a day again, whatever became of it.

    Raises:
        Refused: `webhook-not-found`, `webhook-not-active`, `delivery-not-found`.
    """
    _active(ports, player, webhook_id)
    while True:
        now = ports.now()
        found = next((one for one in _deliveries(ports, player, webhook_id) if one.notice == notice), None)
        if found is None:
            raise Refused("delivery-not-found", "This webhook has no such delivery; deliveries are kept for a week.")
        again = replace(found, status="pending", since=now, attempts=0, next_at=now)
        if ports.webhooks.settle(player, found, again):
            return see_delivery(again)


def deliveries(ports: Ports, player: str, webhook_id: str) -> tuple[DeliveryView, ...]:
    """The deliveries of a webhook that are kept, newest first.

    Raises:
        Refused: `webhook-not-found`.
    """
    _find(ports, player, webhook_id)
    return tuple(map(see_delivery, _deliveries(ports, player, webhook_id)))


def update(
    ports: Ports, player: str, webhook_id: str, changed: Callable[[Webhook], Webhook], *, wakes: bool = False
) -> Webhook:
    """Change a webhook, whatever else changes it at the same time. `wakes`: the news of its player are due then.

    Raises:
        Refused: `webhook-not-found`.
    """
    webhook = ports.webhooks.change(player, webhook_id, changed, ports.now() if wakes else None)
    if webhook is None:
        raise _not_found()
    return webhook


def see(ports: Ports, webhook: Webhook) -> WebhookView:
    renewed_at = webhook.key.renewed_at
    overlap_end = None if renewed_at is None else renewed_at + OVERLAP_MS
    return WebhookView(
        webhook.id,
        webhook.url,
        webhook.events,
        webhook.status,
        webhook.reason,
        webhook.created_at,
        webhook.failing_since,
        overlap_end if overlap_end is not None and overlap_end > ports.now() else None,
    )


def see_delivery(delivery: Delivery) -> DeliveryView:
    subject, last = delivery.subject, delivery.last
    described = msgspec.to_builtins(subject)
    return DeliveryView(
        notice=delivery.notice,
        type=described.get("kind", described["type"]),
        match=described.get("match"),
        created_at=delivery.created_at,
        status=delivery.status,
        attempts=delivery.attempts,
        attempted_at=None if last is None else last.at,
        ms=None if last is None else last.ms,
        answer=None if last is None else last.status,
        failure=None if last is None else last.failure,
        next_at=delivery.next_at,
    )


def _deliveries(ports: Ports, player: str, webhook_id: str) -> Sequence[Delivery]:
    return [one for one in ports.webhooks.deliveries(player) if one.webhook == webhook_id]


def _find(ports: Ports, player: str, webhook_id: str) -> Webhook:
    found = next((one for one in ports.webhooks.of((player,)).get(player, ()) if one.id == webhook_id), None)
    if found is None:
        raise _not_found()
    return found


def _active(ports: Ports, player: str, webhook_id: str) -> Webhook:
    webhook = _find(ports, player, webhook_id)
    if webhook.status != "active":
        raise Refused("webhook-not-active", "This webhook is not active; make it active first.")
    return webhook


def _not_found() -> Refused:
    return Refused("webhook-not-found", "You have no webhook with this id; it may have been deleted.")
