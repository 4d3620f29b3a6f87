"""Permissions: every route for every kind of caller. A route without expectations fails."""

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import pytest

from api.resources.web import REVISION
from service.repository.accounts import SCOPES, Scope
from service.usecases import accounts
from tests.api.checked import Client, documented

CALLERS: Final = ("anonymous", "malformed", "revoked", "outsider", "spectator", "other seat", "own seat")
"""Without a token; with a malformed token; with a revoked token of the seat to move; a player of another match, who asks for a
private match; a player without a seat; the seat that is not to move; the seat to move."""


class Case(NamedTuple):
    """A request, and the expected answer to each caller: the code of a problem, or the status of success."""

    body: object
    expected: tuple[int | str, ...]
    query: str = ""


WRONG: Final = ("token-invalid",) * 2
"""Malformed and revoked tokens get the same response."""

PROBE: Final = (200,) * 7
"""Health checks and the files of the web client, which ignore tokens."""


def public(status: int = 200) -> tuple[int | str, ...]:
    return (status, *WRONG, status, status, status, status)


def own(status: int | str) -> tuple[int | str, ...]:
    """Routes that every player may use."""
    return ("token-missing", *WRONG, status, status, status, status)


READ: Final = ("match-not-found", *WRONG, "match-not-found", 200, 200, 200)
"""Reading a match: the first four callers ask for a private match, the others for a public one."""


def command(*seated: int | str) -> tuple[int | str, ...]:
    return ("token-missing", *WRONG, "match-not-found", *seated)


ROUTES: Final[Mapping[str, Case]] = {
    "POST /v1/recoveries": Case(
        {"recovery_code": "reco_x"}, ("recovery-code-invalid", *WRONG, *["recovery-code-invalid"] * 4)
    ),
    "PATCH /v1/me": Case({"name": "Eve"}, own(200)),
    "DELETE /v1/me": Case(None, own(202)),
    "GET /v1/me/export": Case(None, own(200)),
    "POST /v1/me/recovery-code": Case({}, own(201)),
    "GET /v1/me/tokens": Case(None, own(200)),
    "DELETE /v1/me/tokens/{token_id}": Case(None, own("token-not-found")),
    "DELETE /v1/me/tokens/others": Case(None, own(204)),
    "GET /v1/me/bots": Case(None, own(200)),
    "POST /v1/me/bots": Case({"name": "Deep"}, own(201)),
    "PATCH /v1/me/bots/{bot_id}": Case({}, own("bot-not-found")),
    "DELETE /v1/me/bots/{bot_id}": Case(None, own("bot-not-found")),
    "POST /v1/me/bots/{bot_id}/token": Case(None, own("bot-not-found")),
    "POST /v1/me/bots/{bot_id}/secret": Case(None, own("bot-not-found")),
    "GET /v1/me/bots/{bot_id}/tasks": Case(None, own("bot-not-found")),
    "GET /v1/me/bots/{bot_id}/days": Case(None, own("bot-not-found")),
    "GET /v1/me/tasks": Case(None, own(200)),
    "GET /v1/me/webhooks": Case(None, own(200)),
    "POST /v1/me/webhooks": Case({"url": "https://moon.example/"}, own(201)),
    "PATCH /v1/me/webhooks/{webhook_id}": Case({}, own("webhook-not-found")),
    "DELETE /v1/me/webhooks/{webhook_id}": Case(None, own("webhook-not-found")),
    "POST /v1/me/webhooks/{webhook_id}/secret": Case({}, own("webhook-not-found")),
    "POST /v1/me/webhooks/{webhook_id}/test": Case({}, own("webhook-not-found")),
    "GET /v1/me/webhooks/{webhook_id}/deliveries": Case(None, own("webhook-not-found")),
    "POST /v1/me/webhooks/{webhook_id}/deliveries/{notice}": Case({}, own("webhook-not-found")),
    "GET /v1/games": Case(None, public()),
    "GET /v1/games/{game}": Case(None, public()),
    "GET /v1/bots": Case(None, public()),
    "POST /v1/players": Case({"name": "Eve"}, public(201)),
    "GET /v1/me": Case(None, own(200)),
    "GET /v1/me/matches": Case(None, own(200)),
    "GET /v1/me/stream": Case(None, own(200)),
    "POST /v1/stream-tickets": Case({}, own(201)),
    "POST /v1/me/tokens": Case({}, own(201)),
    "DELETE /v1/me/tokens/current": Case(None, own(204)),
    "GET /v1/matches": Case(None, public()),
    "GET /v1/players/{player}/matches": Case(None, public()),
    "GET /v1/players/{player}": Case(None, public()),
    "GET /v1/players/{player}/ratings": Case(None, public()),
    "GET /v1/games/{game}/leaderboard": Case(None, public()),
    "GET /v1/games/{game}/ratings": Case(None, public()),
    "POST /v1/matches": Case({"game": "monkeys_on_the_moon", "seats": 2}, own(201)),
    "GET /v1/matches/{match_id}": Case(None, READ),
    "GET /v1/matches/{match_id}/board.svg": Case(None, READ),
    "GET /v1/matches/{match_id}/timeline": Case(None, READ),
    "GET /v1/matches/{match_id}/diff": Case(None, READ),
    "GET /v1/matches/{match_id}/legal-actions": Case(None, READ),
    "GET /v1/matches/{match_id}/events": Case(None, READ),
    "GET /v1/matches/{match_id}/export": Case(
        None, ("match-not-found", *WRONG, "match-not-found", *["match-not-finished"] * 3)
    ),
    "GET /v1/matches/{match_id}/audit": Case(None, READ),
    "GET /v1/streams": Case(None, READ, "?match={match_id}"),
    "POST /v1/matches/{match_id}/seats": Case({}, command(*["match-not-open"] * 3)),
    "POST /v1/matches/{match_id}/bots": Case({"bot": "random"}, command(*["not-the-creator"] * 3)),
    "POST /v1/matches/{match_id}/start": Case({}, command(*["not-the-creator"] * 3)),
    "POST /v1/matches/{match_id}/free": Case({"seat": 0}, command(*["not-the-creator"] * 3)),
    "POST /v1/matches/{match_id}/abort": Case({}, command("not-seated", 200, 200)),
    "POST /v1/matches/{match_id}/return": Case({}, command(*["not-seated"] * 3)),
    "POST /v1/matches/{match_id}/replace": Case({"seat": 0}, command("not-seated", *["seat-not-absent"] * 2)),
    "POST /v1/matches/{match_id}/leave": Case({}, command("not-seated", 200, 200)),
    "POST /v1/matches/{match_id}/rematch": Case(None, command("not-seated", *["match-not-finished"] * 2)),
    "POST /v1/matches/{match_id}/invitations": Case({}, command("not-seated", *["match-not-open"] * 2)),
    "POST /v1/matches/{match_id}/actions": Case("legal", command("not-seated", "not-your-turn", 201)),
    "POST /v1/seeks": Case({"game": "monkeys_on_the_moon", "seats": 2}, own(201)),
    "GET /v1/seeks/{seek_id}": Case(None, own("seek-not-found")),
    "DELETE /v1/seeks/{seek_id}": Case(None, own("seek-not-found")),
    "GET /healthz": Case(None, PROBE),
    "GET /readyz": Case(None, PROBE),
    "GET /metrics": Case(None, public()),
    "GET /problems": Case(None, public()),
    "GET /problems/{code}": Case(None, public()),
    "GET /openapi.yaml": Case(None, public()),
    "GET /openapi.json": Case(None, public()),
    "GET /": Case(None, public()),
    "GET /web/{revision}/{name}": Case(None, PROBE),
    "GET /docs": Case(None, public()),
    "GET /docs/start.js": Case(None, public()),
    "GET /docs/{name}": Case(None, public()),
}


NEEDED: Final[Mapping[str, Scope]] = {
    **dict.fromkeys(
        (
            "GET /v1/me/matches",
            "GET /v1/me/stream",
            "GET /v1/me/tasks",
            "POST /v1/stream-tickets",
            "GET /v1/matches/{match_id}",
            "GET /v1/matches/{match_id}/board.svg",
            "GET /v1/matches/{match_id}/timeline",
            "GET /v1/matches/{match_id}/diff",
            "GET /v1/matches/{match_id}/legal-actions",
            "GET /v1/matches/{match_id}/events",
            "GET /v1/matches/{match_id}/export",
            "GET /v1/matches/{match_id}/audit",
            "GET /v1/streams",
            "GET /v1/seeks/{seek_id}",
        ),
        "watch",
    ),
    **dict.fromkeys(
        (
            "POST /v1/matches",
            "POST /v1/matches/{match_id}/seats",
            "POST /v1/matches/{match_id}/bots",
            "POST /v1/matches/{match_id}/start",
            "POST /v1/matches/{match_id}/free",
            "POST /v1/matches/{match_id}/abort",
            "POST /v1/matches/{match_id}/return",
            "POST /v1/matches/{match_id}/replace",
            "POST /v1/matches/{match_id}/leave",
            "POST /v1/matches/{match_id}/rematch",
            "POST /v1/matches/{match_id}/invitations",
            "POST /v1/matches/{match_id}/actions",
            "POST /v1/seeks",
            "DELETE /v1/seeks/{seek_id}",
        ),
        "play",
    ),
    **dict.fromkeys(
        (
            "GET /v1/me/bots",
            "POST /v1/me/bots",
            "PATCH /v1/me/bots/{bot_id}",
            "DELETE /v1/me/bots/{bot_id}",
            "POST /v1/me/bots/{bot_id}/token",
            "POST /v1/me/bots/{bot_id}/secret",
            "GET /v1/me/bots/{bot_id}/tasks",
            "GET /v1/me/bots/{bot_id}/days",
        ),
        "bots",
    ),
    **dict.fromkeys(
        (
            "PATCH /v1/me",
            "DELETE /v1/me",
            "GET /v1/me/export",
            "POST /v1/me/recovery-code",
            "GET /v1/me/tokens",
            "POST /v1/me/tokens",
            "DELETE /v1/me/tokens/{token_id}",
            "DELETE /v1/me/tokens/others",
            "GET /v1/me/webhooks",
            "POST /v1/me/webhooks",
            "PATCH /v1/me/webhooks/{webhook_id}",
            "DELETE /v1/me/webhooks/{webhook_id}",
            "POST /v1/me/webhooks/{webhook_id}/secret",
            "POST /v1/me/webhooks/{webhook_id}/test",
            "GET /v1/me/webhooks/{webhook_id}/deliveries",
            "POST /v1/me/webhooks/{webhook_id}/deliveries/{notice}",
        ),
        "account",
    ),
}
"""The scope that a token needs. All other routes accept any token."""


class World:
    """Two running matches of two people, one of them private, whose creator has no seat."""

    def __init__(self) -> None:
        self.client = Client(unchecked=True)
        creator = self.client.sign_up("Creator")
        seats = [self.client.sign_up(f"Seat {seat}") for seat in range(2)]
        self.matches = []
        for private in (False, True):
            wanted = {"game": "monkeys_on_the_moon", "seats": 2, "private": private}
            match = self.client.do("/v1/matches", wanted, creator)
            for token in seats:
                code = {"join_code": match["join_code"]} if private else {}
                self.client.do(f"/v1/matches/{match['id']}/seats", code, token)
            self.matches.append(match["id"])
        view = self.client.ask(f"/v1/matches/{self.matches[0]}")
        to_move = view["decisions"][0]["seat"]
        malformed = f"{accounts.PREFIX}{'x' * 49}"
        revoked = self.client.do("/v1/me/tokens", {}, seats[to_move])["token"]
        self.client.send("DELETE", "/v1/me/tokens/current", token=revoked)
        outsider = self.client.sign_up()
        seeker = self.client.sign_up()
        self.seek = self.client.do("/v1/seeks", {"game": "monkeys_on_the_moon", "seats": 2}, seeker)["id"]
        self.player = self.client.ask("/v1/me", outsider)["id"]
        owner = self.client.sign_up()
        self.bot = self.client.do("/v1/me/bots", {"name": "Deep"}, owner)["bot"]["id"]
        self.webhook = self.client.do("/v1/me/webhooks", {"url": "https://moon.example/"}, owner)["id"]
        self.notice = self.client.do(f"/v1/me/webhooks/{self.webhook}/test", {}, owner)["notice"]
        other_match = self.client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2}, outsider)
        self.client.do(f"/v1/matches/{other_match['id']}/seats", {}, outsider)
        tokens = (None, malformed, revoked, outsider, self.client.sign_up(), seats[1 - to_move], seats[to_move])
        self.tokens: Mapping[str, str | None] = dict(zip(CALLERS, tokens, strict=True))

    @cache  # noqa: B019  (the shared world lives as long as the tests)
    def narrow_token(self, caller: str, scope: str) -> str:
        """A token of a caller with one scope."""
        token: str = self.client.do("/v1/me/tokens", {"scopes": [scope]}, self.tokens[caller])["token"]
        return token

    def ask(self, route: str, caller: str, token: str | None = None) -> int | str:
        """The status of success, or the code of the problem; `token` replaces that of the caller."""
        method, _, path = route.partition(" ")
        public_match, private_match = self.matches
        names = {
            "match_id": public_match if caller in {"spectator", "other seat", "own seat"} else private_match,
            "game": "monkeys_on_the_moon",
            "player": self.player,
            "seek_id": self.seek,
            "token_id": "tk_none_such",
            "bot_id": self.bot,
            "webhook_id": self.webhook,
            "notice": self.notice,
            "code": "match-full",
            "revision": REVISION,
            "name": "style.css" if "{revision}" in path else "swagger-ui.css",
        }
        body = ROUTES[route].body
        if body == "legal":
            legal_path = f"/v1/matches/{public_match}/legal-actions"
            body = {"action": self.client.ask(legal_path, self.tokens["own seat"])["actions"][0]}
        address = (path + ROUTES[route].query).format(**names)
        with self.client.send(method, address, body, token=token or self.tokens[caller]) as response:
            code: str = response.get_json()["code"] if response.status_code >= 400 else ""
            return code or response.status_code


@cache
def unchanged_world() -> World:
    """For requests that change nothing: to make a world takes longer than they do."""
    return World()


def world_for(route: str) -> World:
    return unchanged_world() if route.startswith("GET ") else World()


def test_every_route_has_expectations() -> None:
    rules = Client(unchecked=True).app.url_map.iter_rules()
    routes = {f"{method} {documented(rule)}" for rule in rules for method in (rule.methods or set())}
    assert {route for route in routes if route.split()[0] not in {"HEAD", "OPTIONS"}} == set(ROUTES)


@pytest.mark.parametrize("route", ROUTES)
def test_each_caller_gets_the_expected_answer(route: str) -> None:
    world = world_for(route)
    assert tuple(world.ask(route, caller) for caller in CALLERS) == ROUTES[route].expected


@pytest.mark.parametrize("route", ROUTES)
def test_a_token_with_one_scope_may_use_the_routes_of_this_scope(route: str) -> None:
    world = world_for(route)
    needed = NEEDED.get(route)
    for caller in ("outsider", "own seat"):
        tokens = {scope: world.narrow_token(caller, scope) for scope in SCOPES}
        for scope in SCOPES if needed is not None else ():
            if scope != needed:
                assert world.ask(route, caller, tokens[scope]) == "scope-missing"
        right = tokens[needed or SCOPES[len(route) % len(SCOPES)]]
        assert world.ask(route, caller, right) == ROUTES[route].expected[CALLERS.index(caller)]


@pytest.mark.parametrize("route", [one for one in ROUTES if "{webhook_id}" in one or "{bot_id}" in one])
def test_what_another_player_owns_is_answered_as_if_it_did_not_exist(route: str) -> None:
    world = unchanged_world()
    method, _, path = route.partition(" ")
    owned = {"webhook_id": world.webhook, "notice": world.notice, "bot_id": world.bot}
    missing = {"webhook_id": "wh_none", "notice": "test-none", "bot_id": "bt_none"}
    answers = []
    for names in (owned, missing):
        answer = world.client.send(method, path.format(**names), ROUTES[route].body, token=world.tokens["outsider"])
        problem = answer.get_json()
        del problem["instance"]
        answers.append((answer.status_code, problem))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
