"""Examples of problems, recorded by code in a deterministic run of the service."""

from dataclasses import replace
from typing import Any, Final
from unittest import mock

from api.problems.examples import INSTANCE
from api.resources.matches import MAX_SEATS
from service.automation.bot_turns import advance, suspend
from service.automation.deadlines import enforce
from service.match.new_match import NewMatch
from service.usecases import invitations
from service.usecases.match_lifecycle import OPEN_MATCHES, create
from tests.api.checked import Client
from tests.api.conftest import Container, settings

GAME: Final = "ape_town"
NEW_MATCH: Final = {"game": GAME, "seats": 2}


class Refusals:
    """Sends requests, and records the problems by code."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.found: dict[str, dict[str, Any]] = {}

    def record(
        self,
        code: str,
        method: str,
        path: str,
        body: object = None,
        token: str | None = None,
        data: bytes | None = None,
        **headers: str,
    ) -> None:
        """Send a request and record its problem, which must have this code."""
        header_names = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self._client.send(method, path, body, token=token, data=data, headers=header_names)
        document: dict[str, Any] = answer.get_json()
        assert document["code"] == code, document
        assert code not in self.found, f"{code} is recorded twice"
        self.found[code] = document | {"instance": INSTANCE}


def collect(client: Client) -> dict[str, dict[str, Any]]:
    """Problems by code, each once."""
    refusals = Refusals(client)
    ada, ben, eve = (client.sign_up(name) for name in ("Ada", "Ben", "Eve"))
    _requests(refusals)
    _callers(refusals, client, ada)
    _tables(refusals, client, ada, ben, eve)
    _play(refusals, client, ada, ben)
    _seats_of_others(refusals, client, ada, ben)
    _too_many(refusals, client, eve)
    _webhooks(refusals, client, eve)
    return dict(sorted(refusals.found.items()))


def _requests(refusals: Refusals) -> None:
    players = ("POST", "/v1/players")
    refusals.record("bad-json", *players, data=b'{"name": 1.5}')
    refusals.record("invalid-request", *players, {"name": "", "colour": "red"})
    refusals.record("body-too-large", *players, {"name": "A" * 20_000})
    refusals.record("unsupported-media-type", *players, {"name": "Ada"}, content_type="text/plain")
    refusals.record("invalid-parameter", "GET", "/v1/matches?limit=0")
    refusals.record("not-found", "GET", "/problems/none-such")
    refusals.record("method-not-allowed", "DELETE", "/v1/games")
    refusals.record("not-acceptable", "GET", "/problems", accept="image/png")


def _callers(refusals: Refusals, client: Client, ada: str) -> None:
    refusals.record("token-missing", "GET", "/v1/me")
    refusals.record("token-invalid", "GET", "/v1/me", token="moon_none-such")
    refusals.record("recovery-code-invalid", "POST", "/v1/recoveries", {"recovery_code": "reco_none-such"})
    watching = client.do("/v1/me/tokens", {"scopes": ["watch"]}, ada)["token"]
    refusals.record("scope-missing", "POST", "/v1/matches", NEW_MATCH, watching)
    refusals.record("token-not-found", "DELETE", "/v1/me/tokens/tk_none_such", token=ada)
    with mock.patch("service.usecases.accounts.MAX_TOKENS", 2):
        refusals.record("too-many-tokens", "POST", "/v1/me/tokens", {}, ada)
    refusals.record("ticket-invalid", "GET", "/v1/me/stream?ticket=none-such")


def _webhooks(refusals: Refusals, client: Client, eve: str) -> None:
    webhooks = "/v1/me/webhooks"
    made = client.do(webhooks, {"url": "https://moon.example/hook"}, eve)["id"]
    refusals.record("webhook-not-found", "DELETE", f"{webhooks}/wh_none_such", token=eve)
    refusals.record("delivery-not-found", "POST", f"{webhooks}/{made}/deliveries/none-such", {}, eve)
    client.send("PATCH", f"{webhooks}/{made}", {"active": False}, token=eve)
    refusals.record("webhook-not-active", "POST", f"{webhooks}/{made}/test", {}, eve)
    with mock.patch("service.usecases.webhooks.MAX_WEBHOOKS", 1):
        refusals.record("too-many-webhooks", "POST", webhooks, {"url": "https://moon.example/hook"}, eve)


def _tables(refusals: Refusals, client: Client, ada: str, ben: str, eve: str) -> None:
    refusals.record("game-not-found", "POST", "/v1/matches", {"game": "chess", "seats": 2}, ada)
    refusals.record("bot-not-found", "POST", "/v1/matches", {**NEW_MATCH, "bots": ["deep_blue"]}, ada)
    refusals.record("invalid-options", "POST", "/v1/matches", {**NEW_MATCH, "seats": MAX_SEATS}, ada)
    refusals.record("idempotency-key-invalid", "POST", "/v1/matches", NEW_MATCH, ada, idempotency_key="a b")
    match = (
        f"/v1/matches/{client.do('/v1/matches', {**NEW_MATCH, 'manual_start': True}, ada, idempotency_key='one')['id']}"
    )
    refusals.record("idempotency-key-reused", "POST", "/v1/matches", NEW_MATCH, ada, idempotency_key="one")
    refusals.record("seek-not-found", "GET", "/v1/seeks/none_such", token=ada)
    client.do("/v1/seeks", NEW_MATCH, ada, idempotency_key="seek")
    refusals.record("already-seeking", "POST", "/v1/seeks", {**NEW_MATCH, "seats": 3}, ada, idempotency_key="seek-2")
    with mock.patch("service.usecases.seeking.MAX_SEEKS", 1):
        refusals.record("too-many-seeks", "POST", "/v1/seeks", NEW_MATCH, ben, idempotency_key="seek")
    _bots(refusals, client, ada, ben, match)
    refusals.record("player-not-found", "GET", "/v1/players/none_such/matches")
    refusals.record("match-not-found", "GET", "/v1/matches/none-such")
    refusals.record("version-not-found", "GET", f"{match}?version=9")
    refusals.record("not-the-creator", "POST", f"{match}/bots", {"bot": "random"}, ben)
    refusals.record("seats-empty", "POST", f"{match}/start", {}, ada)
    client.do(f"{match}/seats", {"seat": 0}, ada, idempotency_key="sit")
    refusals.record("seat-free", "POST", f"{match}/free", {"seat": 1}, ada)
    refusals.record(
        "match-not-running", "POST", f"{match}/actions", {"action": {"type": "take_tile", "segment": 0}}, ada
    )
    refusals.record("already-seated", "POST", f"{match}/seats", {}, ada)
    refusals.record("seat-taken", "POST", f"{match}/seats", {"seat": 0}, ben)
    private = client.do("/v1/matches", {**NEW_MATCH, "private": True}, ada, idempotency_key="private")["id"]
    ports = client.container.ports
    invited = invitations.invite(replace(ports, now=lambda: 0), client.ask("/v1/me", ada)["id"], private, 60)
    seats = f"/v1/matches/{private}/seats"
    refusals.record("invitation-expired", "POST", seats, {"invitation": invited.invitation}, ben)
    refusals.record("not-seated", "POST", f"{match}/leave", {}, eve)
    client.do(f"{match}/seats", {}, ben, idempotency_key="sit")
    refusals.record("match-full", "POST", f"{match}/seats", {}, eve)


def _bots(refusals: Refusals, client: Client, ada: str, ben: str, match: str) -> None:
    """Hosted bots of Ben, who does not let Ada seat the one, and lets the other one play a single match."""
    own = client.do("/v1/me/bots", {"name": "Own", "public": True}, ben)
    refusals.record("bot-not-allowed", "POST", f"{match}/bots", {"bot": own["bot"]["id"]}, ada)
    busy = client.do("/v1/me/bots", {"name": "Busy", "seating": "everyone", "max_matches": 1}, ben)["bot"]["id"]
    client.do("/v1/matches", {**NEW_MATCH, "bots": [busy]}, ada, idempotency_key="busy")
    refusals.record("bot-busy", "POST", f"{match}/bots", {"bot": busy}, ada)
    with mock.patch("service.usecases.hosted_bots.MAX_BOTS", 2):
        refusals.record("too-many-bots", "POST", "/v1/me/bots", {"name": "Third"}, ben)


def _play(refusals: Refusals, client: Client, ada: str, ben: str) -> None:
    id_ = client.do("/v1/matches", NEW_MATCH, ada, idempotency_key="two")["id"]
    match, ports = f"/v1/matches/{id_}", client.container.ports
    for token in (ada, ben):
        client.do(f"{match}/seats", {}, token, idempotency_key="sit-two")
    listed = {token: client.ask(f"{match}/legal-actions", token) for token in (ada, ben)}
    turn, other = sorted(listed, key=lambda token: not listed[token]["actions"])
    legal, tag = listed[turn]["actions"][0], client.get(match).headers["ETag"]
    free = min(set(range(40)) - {action["segment"] for action in listed[turn]["actions"]})
    play = ("POST", f"{match}/actions")
    refusals.record("match-not-open", "POST", f"{match}/bots", {"bot": "random"}, ada)
    seat = client.ask(match, other)["viewer"]
    refusals.record("not-your-seat", *play, {"action": legal, "seat": seat}, turn)
    refusals.record("match-not-finished", "GET", f"{match}/export")
    refusals.record("seat-not-absent", "POST", f"{match}/replace", {"seat": 1 - seat}, other)
    refusals.record("invalid-action", *play, {"action": {"type": "steal"}}, turn)
    refusals.record("illegal-action", *play, {"action": {"type": "take_tile", "segment": free}}, turn)
    refusals.record("not-your-turn", *play, {"action": legal}, other)
    refusals.record("decision-closed", *play, {"action": legal, "decision": "0:1"}, turn)
    client.do(f"{match}/actions", {"action": legal}, turn, idempotency_key="move")
    refusals.record("stale-version", *play, {"action": legal}, turn, if_match=tag)
    refusals.record("history-diverged", "GET", f"{match}/events?after=1&head=0123456789abcdef")
    suspend(ports, ports.history.newest(id_)[0], "example")
    refusals.record("match-suspended", *play, {"action": legal}, turn)
    finished = client.do("/v1/matches", {**NEW_MATCH, "bots": ["random"]}, ada, idempotency_key="three")["id"]
    client.do(f"/v1/matches/{finished}/seats", {}, ada, idempotency_key="sit-three")
    client.do(f"/v1/matches/{finished}/leave", {}, ada, idempotency_key="leave-three")
    while advance(ports, finished, moves=1000):
        pass
    refusals.record("match-over", "POST", f"/v1/matches/{finished}/leave", {}, ada)


def _seats_of_others(refusals: Refusals, client: Client, ada: str, ben: str) -> None:
    ports = client.container.ports
    clocked = {**NEW_MATCH, "clock": {"turn_seconds": 60, "on_timeout": "bot"}}
    id_ = client.do("/v1/matches", clocked, ada, idempotency_key="four")["id"]
    for token in (ada, ben):
        client.do(f"/v1/matches/{id_}/seats", {}, token, idempotency_key="sit-four")
    slow = (ada, ben)[client.ask(f"/v1/matches/{id_}")["decisions"][0]["seat"]]
    enforce(replace(ports, now=lambda: ports.now() + 3_600_000), id_)
    refusals.record("bot-deciding", "POST", f"/v1/matches/{id_}/return", {}, slow)
    rated = client.do("/v1/matches", {**NEW_MATCH, "rated": True}, ada, idempotency_key="rated")["id"]
    refusals.record("match-rated", "POST", f"/v1/matches/{rated}/bots", {"bot": "random"}, ada)
    old = NewMatch(GAME, 2, format_number=1)
    match = create(ports, client.ask("/v1/me", ada)["id"], old, "five").match
    refusals.record("match-too-old", "POST", f"/v1/matches/{match.id}/free", {"seat": 0}, ada)


class WrongClock(Container):
    def clock_fault(self) -> str | None:
        return "this machine's clock is 30.0 s ahead of the log server's; clocks must agree (NTP)"


def _too_many(refusals: Refusals, client: Client, eve: str) -> None:
    for number in range(OPEN_MATCHES):
        made = client.do("/v1/matches", NEW_MATCH, eve, idempotency_key=f"match-{number}")
        client.do(f"/v1/matches/{made['id']}/seats", {}, eve, idempotency_key="sit")
    host = client.sign_up("Host")
    last = client.do("/v1/matches", NEW_MATCH, host, idempotency_key="last")["id"]
    refusals.record("too-many-seats", "POST", f"/v1/matches/{last}/seats", {}, eve)
    refusals.record("too-many-open-matches", "POST", "/v1/matches", NEW_MATCH, eve)
    bots = {**NEW_MATCH, "bots": ["random"] * 2}
    busy = Refusals(Client(Container(settings(bot_matches_waiting=1)), unchecked=True))
    someone = busy._client.sign_up()
    busy._client.do("/v1/matches", bots, someone)
    busy.record("bots-busy", "POST", "/v1/matches", bots, someone)
    refusals.found |= busy.found
    off = Refusals(Client(WrongClock(), unchecked=True))
    off.record("clock-wrong", "POST", "/v1/players", {"name": "Ada"})
    refusals.found |= off.found
    narrow = Refusals(Client(Container(settings(sign_ups_by_address=1)), unchecked=True))
    narrow._client.sign_up()
    narrow.record("rate-limited", "POST", "/v1/players", {"name": "Ada"})
    # On a slow machine the wait is a second shorter: record a fixed one.
    refusals.found["rate-limited"] = narrow.found["rate-limited"] | {"retry_after": 600}
