"""`/v1/me/webhooks`: the addresses that get the notices of a player."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests import admission, strict_fields, urls
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.repository import cursors
from service.repository.webhooks import NOTIFIED
from service.subscriptions.webhook_delivery import TestNotice
from service.usecases import webhooks
from service.usecases.webhooks import DeliveryView, WebhookView

blueprint: Final = Blueprint(
    "webhooks", description="Notices that the service sends to an address of the player.", frames=(TestNotice,)
)

_EVENTS: Final = "The types of notices that are sent; all by default."


class AddWebhookSchema(strict_fields.Schema):
    url = urls.Url(
        required=True, metadata={"description": "Where notices are sent: https, without a user name or fragment."}
    )
    events = strict_fields.List(
        strict_fields.Choice(*NOTIFIED),
        len(NOTIFIED),
        shortest=1,
        unique=True,
        load_default=list(NOTIFIED),
        metadata={"description": _EVENTS},
    )


class ChangeWebhookSchema(strict_fields.Schema):
    url = urls.Url(metadata={"description": "A new address. It makes the webhook active again."})
    events = strict_fields.List(
        strict_fields.Choice(*NOTIFIED),
        len(NOTIFIED),
        shortest=1,
        unique=True,
        metadata={"description": _EVENTS.partition(";")[0] + "."},
    )
    active = strict_fields.Boolean(
        metadata={"description": "true: deliver again after an end or a suspension. false: suspend the webhook."}
    )


class NewWebhook(WebhookView, frozen=True, kw_only=True):
    """A webhook with its secret, which is shown only here."""

    secret: str


class WebhookList(msgspec.Struct, frozen=True):
    """The webhooks of a player, oldest first."""

    webhooks: tuple[WebhookView, ...]


class DeliveryList(msgspec.Struct, frozen=True):
    """A page of the deliveries of a webhook, newest first; `next` is the cursor of the next page, null at the end."""

    deliveries: tuple[DeliveryView, ...]
    next: str | None


@blueprint.at("/v1/me/webhooks")
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(200, WebhookList, description="The webhooks.")
@blueprint.refuses(*STORE_PROBLEMS)
def list_webhooks() -> Response:
    """List the player's webhooks, without their secrets. Nobody else can see them."""
    return answer(WebhookList(webhooks.list_webhooks(context.ports(), context.caller().id)))


@blueprint.at("/v1/me/webhooks", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.reads("Idempotency-Key")
@blueprint.takes(AddWebhookSchema)
@blueprint.answers_with(201, NewWebhook, description="The webhook and its secret.")
@blueprint.refuses(*STORE_PROBLEMS, "too-many-webhooks", "idempotency-key-reused")
@blueprint.leads_to(
    201,
    change_webhook={"webhook_id": "$response.body#/id"},
    test_webhook={"webhook_id": "$response.body#/id"},
    list_deliveries={"webhook_id": "$response.body#/id"},
)
def add_webhook(body: Mapping[str, Any]) -> Response:
    """Send the notices of `GET /v1/me/stream` to an address, from now on, signed as Standard Webhooks describes.

    WEBHOOKS.md describes deliveries. A player has at most 10 webhooks. The secret is shown only here. A request that is repeated
    with the same `Idempotency-Key` gets the same webhook, as it is now, with its newest secret.
    """
    urls.check(body["url"])
    admission.admit_account_change()
    made, secret = webhooks.add(
        context.ports(), context.caller().id, body["url"], body["events"], context.command_key()
    )
    return answer(NewWebhook(**msgspec.structs.asdict(webhooks.see(context.ports(), made)), secret=secret), 201)


@blueprint.at("/v1/me/webhooks/<webhook_id>", methods=["PATCH"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.takes(ChangeWebhookSchema)
@blueprint.answers_with(200, WebhookView, description="The webhook.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found")
def change_webhook(body: Mapping[str, Any], webhook_id: str) -> Response:
    """Change a webhook, suspend it, or make it active again. Fields that are absent stay as they are.

    A webhook that is active again gets what happens from then on.
    """
    if "url" in body:
        urls.check(body["url"])
    admission.admit_account_change()
    changed = webhooks.change(context.ports(), context.caller().id, webhook_id, **body)
    return answer(webhooks.see(context.ports(), changed))


@blueprint.at("/v1/me/webhooks/<webhook_id>", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(204, description="The webhook is deleted.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found")
def delete_webhook(webhook_id: str) -> Response:
    """Delete a webhook with its deliveries. A delivery that is being attempted may still arrive."""
    webhooks.remove(context.ports(), context.caller().id, webhook_id)
    return Response(status=204)


@blueprint.at("/v1/me/webhooks/<webhook_id>/secret", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.reads("Idempotency-Key")
@blueprint.answers_with(200, NewWebhook, description="The webhook and its new secret.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found")
def renew_webhook_secret(webhook_id: str) -> Response:
    """Give a webhook a new secret. For a day, deliveries are signed with the previous secret too.

    Send an `Idempotency-Key`, and if no answer comes, send the request again with the same one: it is then carried out once, and
    the previous secret stays valid. The answer has the newest secret.
    """
    admission.admit_account_change()
    renewed, secret = webhooks.renew_secret(context.ports(), context.caller().id, webhook_id, context.command_key())
    return answer(NewWebhook(**msgspec.structs.asdict(webhooks.see(context.ports(), renewed)), secret=secret))


@blueprint.at("/v1/me/webhooks/<webhook_id>/test", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(201, DeliveryView, description="The delivery; its list shows what becomes of it.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found", "webhook-not-active")
def test_webhook(webhook_id: str) -> Response:
    """Send a notice of the type `test` to a webhook, as all others are sent."""
    admission.admit_account_change()
    return answer(webhooks.send_test(context.ports(), context.caller().id, webhook_id), 201)


@blueprint.at("/v1/me/webhooks/<webhook_id>/deliveries")
@blueprint.knows_caller(required=True, scope="account")
@blueprint.takes(strict_fields.PageSchema, location="query")
@blueprint.answers_with(200, DeliveryList, description="A page of deliveries.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found")
def list_deliveries(query: Mapping[str, Any], webhook_id: str) -> Response:
    """List what became of the notices for a webhook, newest first.

    Deliveries are kept for a week, at most 1,000 of a player.
    """
    before = cursors.decode(query["cursor"], tuple[int, str]) if "cursor" in query else None
    kept = webhooks.deliveries(context.ports(), context.caller().id, webhook_id)
    if before is not None:
        kept = tuple(one for one in kept if (one.created_at, one.notice) < before)
    page = kept[: query["limit"]]
    following = cursors.encode((page[-1].created_at, page[-1].notice)) if len(kept) > len(page) else None
    return answer(DeliveryList(page, following))


@blueprint.at("/v1/me/webhooks/<webhook_id>/deliveries/<notice>", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(200, DeliveryView, description="The delivery; its list shows what becomes of it.")
@blueprint.refuses(*STORE_PROBLEMS, "webhook-not-found", "webhook-not-active", "delivery-not-found")
def send_delivery_again(webhook_id: str, notice: str) -> Response:
    """Attempt a delivery again, whatever became of it. A notice whose decision was taken is not sent any more."""
    admission.admit_account_change()
    return answer(webhooks.send_again(context.ports(), context.caller().id, webhook_id, notice))
