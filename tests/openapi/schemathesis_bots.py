"""What schemathesis needs to know about hosted bots: how requests about them succeed, and why valid ones may be refused."""

from collections.abc import Mapping
from typing import Any, Final

import httpx

BOT: Final[Mapping[str, Any]] = {"name": "Deep Moon"}
OPERATIONS: Final = frozenset(
    {
        "create_bot",
        "change_bot",
        "delete_bot",
        "renew_bot_token",
        "renew_bot_secret",
        "list_bot_tasks",
        "list_bot_days",
        "list_bots",
        "list_tasks",
    }
)
"""Each request has a player of its own, because a player has few bots."""
OTHER_REFUSALS: Final[Mapping[str, frozenset[tuple[str, str]]]] = {
    **dict.fromkeys(("create_bot", "change_bot"), frozenset(("invalid-request", f"#/{n}") for n in ("name", "url"))),
    "list_bot_tasks": frozenset({("invalid-parameter", "cursor")}),
    "list_bots": frozenset({("invalid-parameter", "cursor")}),
}


def make_successful(case: Any, operation: str, http: httpx.Client) -> None:
    """Give a case a bot of its player, and a body that is accepted."""
    if operation == "create_bot":
        case.body = dict(BOT)
        return
    if operation in {"list_bots", "list_tasks"}:
        case.query = {}
        return
    headers = {"Authorization": case.headers["Authorization"]}
    made = http.post("/v1/me/bots", json=BOT, headers=headers).raise_for_status().json()
    case.path_parameters["bot_id"] = made["bot"]["id"]
    match operation:
        case "change_bot":
            case.body = {"about": "slow"}
        case "list_bot_tasks":
            case.query.pop("cursor", None)
