"""What schemathesis needs to know about webhooks: how requests about them succeed, and why valid ones may be refused."""

from collections.abc import Mapping
from typing import Any, Final

import httpx

WEBHOOK: Final[Mapping[str, Any]] = {"url": "https://moon.example/hook"}
OPERATIONS: Final = frozenset(
    {
        "add_webhook",
        "change_webhook",
        "delete_webhook",
        "renew_webhook_secret",
        "test_webhook",
        "list_deliveries",
        "send_delivery_again",
    }
)
"""Each request has a player of its own, because a player has few webhooks."""
OTHER_REFUSALS: Final[Mapping[str, frozenset[tuple[str, str]]]] = {
    "add_webhook": frozenset({("invalid-request", "#/url")}),
    "change_webhook": frozenset({("invalid-request", "#/url")}),
    "list_deliveries": frozenset({("invalid-parameter", "cursor")}),
}


def make_successful(case: Any, operation: str, http: httpx.Client) -> None:
    """Give a case a webhook of its player, and a body that is accepted."""
    headers = {"Authorization": case.headers["Authorization"]}
    if operation == "add_webhook":
        case.body = dict(WEBHOOK)
        return
    webhook = http.post("/v1/me/webhooks", json=WEBHOOK, headers=headers).raise_for_status().json()["id"]
    case.path_parameters["webhook_id"] = webhook
    match operation:
        case "change_webhook":
            case.body = {"active": True, **WEBHOOK}
        case "list_deliveries":
            case.query.pop("cursor", None)
        case "send_delivery_again":
            sent = http.post(f"/v1/me/webhooks/{webhook}/test", json={}, headers=headers).raise_for_status()
            case.path_parameters["notice"] = sent.json()["notice"]
