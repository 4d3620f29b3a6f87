"""Gives schemathesis what a client knows but the reference does not: existing matches, their legal actions, tokens.

It also adds a check: every problem is documented for its operation, and a request that is valid by its schemas is refused
only for reasons that no schema can express.
"""

import atexit
import os
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import msgspec
import schemathesis
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from schemathesis.generation.meta import TestPhase

from tests.openapi import schemathesis_bots, schemathesis_ratings, schemathesis_webhooks

WORLD: Final[dict[str, Any]] = msgspec.json.decode(os.environ["SCHEMATHESIS_WORLD"])
_HTTP: Final = httpx.Client(base_url=WORLD["url"], headers={"Authorization": f"Bearer {WORLD['token']}"}, timeout=30)
_turns: Final = Counter[str]()


def next_variant(what: str, of: int) -> int:
    """Cycles through 0, 1, … `of` - 1, separately for each `what`: the number of the variant to use this time."""
    _turns[what] += 1
    return (_turns[what] - 1) % of


def post(path: str, body: object) -> Any:
    return _HTTP.post(path, json=body).raise_for_status().json()


def match_of(game: str, **more: object) -> str:
    made: str = post("/v1/matches", {"game": game, "seats": 2, **more})["id"]
    return made


def match_to_play() -> tuple[str, dict[str, Any]]:
    """A match in which this player has an open decision, and its legal actions."""
    while True:
        if match := WORLD.get("played"):
            legal = _HTTP.get(f"/v1/matches/{match}/legal-actions").json()["actions"]
            if legal:
                return match, legal[0]
        match = WORLD["played"] = match_of("ape_town")
        post(f"/v1/matches/{match}/seats", {})
        other = post("/v1/players", {"name": "Other"})["token"]
        sit = _HTTP.post(f"/v1/matches/{match}/seats", json={}, headers={"Authorization": f"Bearer {other}"})
        sit.raise_for_status()


MODULES: Final = (schemathesis_bots, schemathesis_ratings, schemathesis_webhooks)
OF_MODULES: Final = {name: module.make_successful for module in MODULES for name in module.OPERATIONS}
ACCOUNT_CHANGES: Final = OF_MODULES.keys() | {
    *("add_token", "change_player", "erase_player", "renew_recovery_code"),
    *("revoke_token", "revoke_current_token", "revoke_other_tokens"),
}


@schemathesis.auth(refresh_interval=None)
class Bearer:
    """The player's token; for operations that change an account, the token of a new player that no other request uses."""

    def get(self, case: Any, _context: Any) -> str:
        if operation_of(case) in ACCOUNT_CHANGES:
            token: str = post("/v1/players", {"name": "Changing"})["token"]
            return token
        return str(WORLD["token"])

    def set(self, case: Any, data: str, _context: Any) -> None:
        case.headers["Authorization"] = f"Bearer {data}"


def operation_of(case: Any) -> str:
    return str(case.operation.definition.raw["operationId"])


@schemathesis.deserializer("application/x-ndjson")
def lines(_context: Any, response: Any) -> list[Any]:
    """The values of a stream, without its heartbeats."""
    return [msgspec.json.decode(line) for line in response.content.splitlines() if line]


def with_integers(value: Any) -> Any:
    """A body with 25 instead of 25.0, which the service refuses but JSON Schema also accepts as an integer."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [with_integers(item) for item in value]
        case dict():
            return {name: with_integers(item) for name, item in value.items()}
    return value


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Change three of four valid cases so that they succeed; leave the others and all invalid cases as they are.

    In the stateful phase change all valid cases, because a chain of requests ends at its first refusal, but keep the values
    that come from links.
    """
    del kwargs
    operation = operation_of(case)
    if not is_valid_case(case):
        return
    if operation == "list_tasks":
        case.query.pop("wait", None)  # a long poll
    if not isinstance(case.body, NotSet):  # an assigned body is checked, even NotSet
        case.body = with_integers(case.body)
    for name in case.headers.keys() & {"If-Match", "If-None-Match"}:
        if case.headers[name] == "0":
            # Schemathesis 4.32 generates "0" for any pattern with quotes, and wrongly takes it for a match.
            case.headers[name] = '"1-0123456789abcdef"'
    if len(forms := forms_of(case)) > 1:
        case.headers["Accept"] = forms[(WORLD["run"] + next_variant(f"form of {operation}", len(forms))) % len(forms)]
    if case.meta.phase.name is not TestPhase.STATEFUL:
        # Count each phase separately: a phase without any success is reported as a fault, and some have a single case.
        # The media types (up to three) alternate too: with three of four cases changed, each of them gets some.
        if next_variant(f"{operation} in {case.meta.phase.name}", 4) < 3:
            make_successful(case, operation)
    elif is_linked(case):
        if operation in BODIES:
            case.body = dict(BODIES[operation])
    else:
        make_successful(case, operation)
        if "application/json" in forms:
            case.headers["Accept"] = "application/json"  # schemathesis reads links only from JSON


def is_linked(case: Any) -> bool:
    """Whether the match id comes from an answer: only then does the match exist."""
    match = (case.path_parameters or {}).get("match_id")
    return match is not None and _HTTP.get(f"/v1/matches/{quote(str(match), safe='')}").is_success


def is_valid_case(case: Any) -> bool:
    return case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE


def forms_of(case: Any) -> list[str]:
    """The media types of the operation's successful answers."""
    answers: Mapping[str, Any] = case.operation.definition.raw["responses"]
    return [form for status, answer in answers.items() if status < "3" for form in answer.get("content", {})]


def new_match_body() -> dict[str, Any]:
    bots = ["random"] * next_variant("bots", 3)
    return {"game": "ape_town", "seats": 2, "bots": bots, "manual_start": bool(next_variant("start", 2))}


SEEK: Final[Mapping[str, Any]] = {"game": "ape_town", "seats": 2}


def own_seek() -> tuple[str, str]:
    """The key and the id of the player's seek. Another key is used once the seek has ended."""
    while True:
        key = f"seek-{_turns['seek']}"
        answer = _HTTP.post("/v1/seeks", json=SEEK, headers={"Idempotency-Key": key})
        seek_id = str(answer.json()["id"]) if answer.is_success else "none"
        if _HTTP.get(f"/v1/seeks/{seek_id}").is_success:
            return key, seek_id
        _turns["seek"] += 1


def own_token_id(case: Any) -> str:
    """The id of the token of a case."""
    listed = _HTTP.get("/v1/me/tokens", headers={"Authorization": case.headers["Authorization"]}).json()["tokens"]
    return str(listed[0]["id"])


BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "take_seat": {},
    "seat_bot": {"bot": "random"},
    "free_seat": {"seat": 0},
}
"""Bodies of commands on an existing match."""


def make_successful(case: Any, operation: str) -> None:
    """Give a case the names of existing things and a body that is legal there."""
    parameters = case.path_parameters or {}
    if "game" in parameters:
        parameters["game"] = WORLD["games"][next_variant("game", len(WORLD["games"]))]
    if "code" in parameters:
        parameters["code"] = "match-full"
    if "player" in parameters:
        parameters["player"] = WORLD["me"]
    match operation:
        case "recover":
            case.body = {"recovery_code": post("/v1/players", {"name": "Lost"})["recovery_code"]}
        case _ if operation in OF_MODULES:
            OF_MODULES[operation](case, operation, _HTTP)
        case "revoke_token":
            parameters["token_id"] = own_token_id(case)
        case "create_match":
            case.body = new_match_body()
            if "Idempotency-Key" in case.headers:
                # The coverage phase sends one key with all bodies; it would belong to another match.
                case.headers["Idempotency-Key"] = f"match-{_turns['bots']}"
        case "take_seat" | "seat_bot":
            # With a bot in the other seat the match starts: only a few matches that have not started may have the player.
            parameters["match_id"] = match_of("ape_town", bots=["random"] * (operation == "take_seat"))
            case.body = dict(BODIES[operation])
            case.headers.pop("If-Match", None)
        case "start_match":
            parameters["match_id"] = match_of("ape_town", bots=["random"] * 2, manual_start=True)
            case.headers.pop("If-Match", None)
        case "free_seat":
            parameters["match_id"] = match_of("ape_town", bots=["random"] * 2, manual_start=True)
            case.body = dict(BODIES[operation])
            case.headers.pop("If-Match", None)
        case "ask_abort":
            parameters["match_id"] = match_of("ape_town", bots=["random"])
            post(f"/v1/matches/{parameters['match_id']}/seats", {})
            case.headers.pop("If-Match", None)
        case "take_back" | "replace_absent":
            # In these matches the last action was two weeks ago. Each allows one success.
            prepared = WORLD[operation]
            parameters["match_id"], seat = prepared[next_variant(f"prepared {operation}", len(prepared))]
            case.body = {"seat": seat} if operation == "replace_absent" else case.body
            case.headers.pop("If-Match", None)
        case "seek_match":
            case.body = dict(SEEK)
            case.headers["Idempotency-Key"], _ = own_seek()
        case "show_seek" | "end_seek":
            _, parameters["seek_id"] = own_seek()
        case "make_rematch":
            parameters["match_id"] = WORLD["finished"]
        case "invite":
            parameters["match_id"] = match_of("ape_town")
            case.body = {}
        case "leave_match":
            parameters["match_id"] = match_of("ape_town")
            case.headers.pop("If-Match", None)
        case "act":
            parameters["match_id"], action = match_to_play()
            case.body = {"action": action}
            case.query = {"dry_run": "true"} if next_variant("dry run", 2) else {}
            case.headers.pop("If-Match", None)
        case "export_match" | "audit_match":
            parameters["match_id"] = WORLD["finished"]
        case "list_events" | "show_match" | "list_legal_actions":
            parameters["match_id"] = WORLD["finished"]
            case.query = {name: case.query[name] for name in case.query.keys() & {"include", "limit"}}
            case.headers.pop("Last-Event-ID", None)
            if (form := case.headers.get("Accept", "application/json")) != "application/json":
                case.query.pop("limit", None)
            if form == "text/event-stream" and next_variant("an EventSource with all events", 2):
                case.headers["Last-Event-ID"] = str(WORLD["finished_version"])
        case "show_timeline" | "show_diff":
            parameters["match_id"] = WORLD["finished"]
            case.query = {name: case.query[name] for name in case.query.keys() & {"limit"}}
        case "watch_matches":
            finished = f"{WORLD['finished']}:{WORLD['finished_version'] - 1}"
            case.query = {**{name: case.query[name] for name in case.query.keys() & {"include"}}, "match": [finished]}
            case.headers.pop("Last-Event-ID", None)
            if case.headers.get("Accept") == "text/event-stream" and next_variant("a spectator with all events", 2):
                case.headers["Last-Event-ID"] = str(WORLD["finished_version"])
        case "follow_own_matches":
            case.query.pop("after", None)
            case.headers.pop("Last-Event-ID", None)
        case "list_matches" | "list_own_matches" | "list_player_matches" | "show_leaderboard" | "list_player_ratings":
            case.query.pop("cursor", None)
            if "game" in case.query:
                case.query["game"] = "monkeys_on_the_moon"
            if "option" in case.query:
                case.query["option"] = ["treachery:true"]
            if operation == "list_matches" and next_variant("a list of open matches", 2):
                case.query["status"] = "open"
            elif operation == "list_matches":
                case.query = {name: case.query[name] for name in case.query.keys() & {"game", "limit", "status"}}


_VIEWER: Final = frozenset({("invalid-parameter", "viewer")})
_OPTIONS: Final = frozenset(("invalid-options", f"#/{name}") for name in ("seats", "options", "clock"))
OTHER_REFUSALS: Final[Mapping[str, frozenset[tuple[str, str]]]] = {
    "list_matches": frozenset(
        ("invalid-parameter", name)
        for name in "cursor seats free_seats clock speed option creator bots rated rating_from rating_to".split()  # noqa: SIM905  (one line instead of eleven)
    ),
    **dict.fromkeys(("list_player_matches", "list_own_matches"), frozenset({("invalid-parameter", "cursor")})),
    **dict.fromkeys(("show_leaderboard", "list_player_ratings"), frozenset({("invalid-parameter", "cursor")})),
    "follow_own_matches": frozenset(("invalid-parameter", name) for name in ("after", "Last-Event-ID")),
    "watch_matches": frozenset(("invalid-parameter", name) for name in ("match", "Last-Event-ID")),
    **dict.fromkeys(("show_match", "list_legal_actions", "draw_board", "show_timeline"), _VIEWER),
    "show_diff": frozenset(("invalid-parameter", name) for name in ("viewer", "from", "to")),
    "list_events": frozenset(("invalid-parameter", name) for name in ("viewer", "limit", "wait")),
    "create_match": frozenset(
        {("idempotency-key-reused", ""), *_OPTIONS, *(("invalid-options", f"#/{n}") for n in ("bots", "private"))}
    ),
    "seek_match": frozenset({*_OPTIONS, ("invalid-options", "#/rating_from")}),
    "act": frozenset({("idempotency-key-reused", ""), ("invalid-action", "#/action"), ("stale-version", "")}),
    "take_seat": frozenset(
        {("idempotency-key-reused", ""), ("stale-version", ""), ("invalid-request", "#/client_seed")}
    ),
    **dict.fromkeys(("sign_up", "change_player"), frozenset({("invalid-request", "#/name")})),
    **schemathesis_bots.OTHER_REFUSALS,
    **schemathesis_webhooks.OTHER_REFUSALS,
    "add_token": frozenset({("invalid-request", "#/label")}),
    **dict.fromkeys(
        (
            *("seat_bot", "start_match", "leave_match"),
            *("free_seat", "ask_abort", "take_back", "replace_absent"),
        ),
        frozenset({("idempotency-key-reused", ""), ("stale-version", "")}),
    ),
}
"""Codes (400, 412, 422) and positions of faults for which a request that is valid by its schemas may be refused."""
ANYWHERE: Final = frozenset({"method-not-allowed", "http-414", "http-431"})
"""Codes that every operation may answer, although none documents them."""


@schemathesis.check
def refused_as_the_reference_says(_context: Any, response: Any, case: Any) -> None:
    """Require that a problem is documented, and for a valid request that no schema could have excluded it."""
    if response.status_code < HTTPStatus.BAD_REQUEST:
        return
    problem, operation = response.json(), operation_of(case)
    code, status = problem["code"], str(response.status_code)
    if code not in ANYWHERE:
        description = case.operation.definition.raw["responses"].get(status, {}).get("description", "")
        assert f"`{code}`" in description, f"{operation}: {code} is not documented"
    if is_valid_case(case) and response.status_code in {400, 412, 422}:
        positions = [error.get("pointer", error.get("parameter")) for error in problem.get("errors", [])] or [""]
        assert {(code, "/".join(position.split("/")[:2])) for position in positions} <= OTHER_REFUSALS.get(
            operation, frozenset()
        ), f"{operation}: {problem}"


_answered: Final = Counter[str]()  # by `<operation> <status> <media type>`


@schemathesis.hook
def after_call(_context: Any, case: Any, response: Any) -> None:
    # A case may also use a method that the operation does not have.
    if case.method.upper() == case.operation.method.upper():
        form = response.headers.get("content-type", [""])[0].partition(";")[0]
        _answered[f"{operation_of(case)} {response.status_code} {form}".rstrip()] += 1


atexit.register(lambda: Path(os.environ["SCHEMATHESIS_ANSWERS"]).write_bytes(msgspec.json.encode(_answered)))
