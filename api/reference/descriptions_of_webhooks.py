"""Descriptions of the properties of webhooks and deliveries; `descriptions` includes them."""

from collections.abc import Mapping
from typing import Final

_OF_A_WEBHOOK: Final = {
    "id": "The id of the webhook, for its address.",
    "url": "Where its notices are sent. Only the player sees it.",
    "events": "The types of the notices that are sent.",
    "status": "`active`, `ended` (the receiver answered 410), or `suspended` (all attempts failed for five days, or paused).",
    "reason": "Why it is not active: `paused`, or the status or failure of the last attempt; null if it is active.",
    "created_at": "When it was created, in milliseconds since 1970 (UTC).",
    "failing_since": "The first failed attempt since one succeeded, in milliseconds since 1970 (UTC); null if the last one did.",
    "previous_secret_until": "Until then its notices are also signed with the secret before the last renewal, in milliseconds since "
    "1970 (UTC); null otherwise.",
}
MEANINGS: Final[Mapping[str, str]] = {
    **{
        f"{component}.{name}": text
        for component in ("WebhookView", "NewWebhook", "ExportedWebhook")
        for name, text in _OF_A_WEBHOOK.items()
    },
    "secret": "The secret with which receivers verify signatures (`whsec_…`); it is shown only here.",
    "webhooks": "The webhooks, oldest first.",
    "ExportedAccount.webhooks": "The player's webhooks with the deliveries that are kept.",
    "deliveries": "The deliveries, newest first.",
    "TestNotice.type": "`test`.",
    "TestNotice.notice": "The id of the notice.",
    "TestNotice.webhook": "The id of the webhook.",
    "TestNotice.at": "When the test was asked for, in milliseconds since 1970 (UTC).",
    "DeliveryView.notice": "The id of the notice: the header `webhook-id` of every attempt.",
    "DeliveryView.type": "The type of the notice, `test` for one that was asked for.",
    "DeliveryView.match": "The id of the match that the notice is about, null if it is about none.",
    "DeliveryView.created_at": "When the notice was found, in milliseconds since 1970 (UTC).",
    "DeliveryView.status": "`pending`, `delivered`, `failed` (no attempt succeeded within a day), `outdated` (the decision was taken, or "
    "the offer ended, before an attempt), or `dropped` (the webhook was not active, or the match cannot be read).",
    "attempts": "How often it was attempted, since it was sent again if it was.",
    "attempted_at": "When the last attempt began, in milliseconds since 1970 (UTC); null before the first.",
    "DeliveryView.ms": "How long the last attempt took, in milliseconds; null before the first.",
    "answer": "The status of the answer to the last attempt; null if there was none.",
    "failure": "Why the last attempt got no answer; null if it did. WEBHOOKS.md explains the words.",
    "next_at": "When the next attempt is due, in milliseconds since 1970 (UTC); null if there is none.",
}
