"""Examples of problems: what the service answered in a run that is the same every time, by code."""

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
TABLE: Final = {"game": GAME, "seats": 2}


class Refusals:
    """The problems that were met so far."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.met: dict[str, dict[str, Any]] = {}

    def meet(
        self,
        code: str,
        method: str,
        path: str,
        body: object = None,
        token: str | None = None,
        data: bytes | None = None,
        **headers: str,
    ) -> None:
        """Keep the answer to a request, which must have this code."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self._client.send(method, path, body, token=token, data=data, headers=named)
        document: dict[str, Any] = answer.get_json()
        assert document["code"] == code, document
        assert code not in self.met, f"{code} is met twice"
        self.met[code] = document | {"instance": INSTANCE}


def collect(client: Client) -> dict[str, dict[str, Any]]:
    """Problems by code, each once."""
    refusals = Refusals(client)
    ada, ben, eve = (client.sign_up(name) for name in ("Ada", "Ben", "Eve"))
    _requests(refusals)
    _callers(refusals)
    _tables(refusals, client, ada, ben, eve)
    _play(refusals, client, ada, ben)
    _seats_of_others(refusals, client, ada, ben)
    _too_many(refusals, client, eve)
    return dict(sorted(refusals.met.items()))


def _requests(refusals: Refusals) -> None:
    players = ("POST", "/v1/players")
    refusals.meet("bad-json", *players, data=b'{"name": 1.5}')
    refusals.meet("invalid-request", *players, {"name": "", "colour": "red"})
    refusals.meet("body-too-large", *players, {"name": "A" * 20_000})
    refusals.meet("unsupported-media-type", *players, {"name": "Ada"}, content_type="text/plain")
    refusals.meet("invalid-parameter", "GET", "/v1/matches?limit=0")
    refusals.meet("not-found", "GET", "/problems/none-such")
    refusals.meet("method-not-allowed", "DELETE", "/v1/games")
    refusals.meet("not-acceptable", "GET", "/problems", accept="image/png")


def _callers(refusals: Refusals) -> None:
    refusals.meet("token-missing", "GET", "/v1/me")
    refusals.meet("token-invalid", "GET", "/v1/me", token="moon_none-such")
    refusals.meet("ticket-invalid", "GET", "/v1/me/stream?ticket=none-such")


def _tables(refusals: Refusals, client: Client, ada: str, ben: str, eve: str) -> None:
    refusals.meet("game-not-found", "POST", "/v1/matches", {"game": "chess", "seats": 2}, ada)
    refusals.meet("bot-not-found", "POST", "/v1/matches", {**TABLE, "bots": ["deep_blue"]}, ada)
    refusals.meet("invalid-options", "POST", "/v1/matches", {**TABLE, "seats": MAX_SEATS}, ada)
    refusals.meet("idempotency-key-invalid", "POST", "/v1/matches", TABLE, ada, idempotency_key="a b")
    match = f"/v1/matches/{client.do('/v1/matches', {**TABLE, 'manual_start': True}, ada, idempotency_key='one')['id']}"
    refusals.meet("idempotency-key-reused", "POST", "/v1/matches", TABLE, ada, idempotency_key="one")
    refusals.meet("seek-not-found", "GET", "/v1/seeks/none_such", token=ada)
    client.do("/v1/seeks", TABLE, ada, idempotency_key="seek")
    refusals.meet("already-seeking", "POST", "/v1/seeks", {**TABLE, "seats": 3}, ada, idempotency_key="seek-2")
    with mock.patch("service.usecases.seeking.MAX_SEEKS", 1):
        refusals.meet("too-many-seeks", "POST", "/v1/seeks", TABLE, ben, idempotency_key="seek")
    refusals.meet("player-not-found", "GET", "/v1/players/none_such/matches")
    refusals.meet("match-not-found", "GET", "/v1/matches/none-such")
    refusals.meet("version-not-found", "GET", f"{match}?version=9")
    refusals.meet("not-the-creator", "POST", f"{match}/bots", {"bot": "random"}, ben)
    refusals.meet("seats-empty", "POST", f"{match}/start", {}, ada)
    client.do(f"{match}/seats", {"seat": 0}, ada, idempotency_key="sit")
    refusals.meet("seat-free", "POST", f"{match}/free", {"seat": 1}, ada)
    refusals.meet("match-not-running", "POST", f"{match}/actions", {"action": {"type": "take_tile", "segment": 0}}, ada)
    refusals.meet("already-seated", "POST", f"{match}/seats", {}, ada)
    refusals.meet("seat-taken", "POST", f"{match}/seats", {"seat": 0}, ben)
    private = client.do("/v1/matches", {**TABLE, "private": True}, ada, idempotency_key="private")["id"]
    ports = client.container.ports
    invited = invitations.invite(replace(ports, now=lambda: 0), client.ask("/v1/me", ada)["id"], private, 60)
    seats = f"/v1/matches/{private}/seats"
    refusals.meet("invitation-expired", "POST", seats, {"invitation": invited.invitation}, ben)
    refusals.meet("not-seated", "POST", f"{match}/leave", {}, eve)
    client.do(f"{match}/seats", {}, ben, idempotency_key="sit")
    refusals.meet("match-full", "POST", f"{match}/seats", {}, eve)


def _play(refusals: Refusals, client: Client, ada: str, ben: str) -> None:
    id_ = client.do("/v1/matches", TABLE, ada, idempotency_key="two")["id"]
    match, ports = f"/v1/matches/{id_}", client.container.ports
    for token in (ada, ben):
        client.do(f"{match}/seats", {}, token, idempotency_key="sit-two")
    listed = {token: client.ask(f"{match}/legal-actions", token) for token in (ada, ben)}
    turn, other = sorted(listed, key=lambda token: not listed[token]["actions"])
    legal, tag = listed[turn]["actions"][0], client.get(match).headers["ETag"]
    free = min(set(range(40)) - {action["segment"] for action in listed[turn]["actions"]})
    play = ("POST", f"{match}/actions")
    refusals.meet("match-not-open", "POST", f"{match}/bots", {"bot": "random"}, ada)
    seat = client.ask(match, other)["viewer"]
    refusals.meet("not-your-seat", *play, {"action": legal, "seat": seat}, turn)
    refusals.meet("match-not-finished", "GET", f"{match}/export")
    refusals.meet("seat-not-absent", "POST", f"{match}/replace", {"seat": 1 - seat}, other)
    refusals.meet("invalid-action", *play, {"action": {"type": "steal"}}, turn)
    refusals.meet("illegal-action", *play, {"action": {"type": "take_tile", "segment": free}}, turn)
    refusals.meet("not-your-turn", *play, {"action": legal}, other)
    refusals.meet("decision-closed", *play, {"action": legal, "decision": "0:1"}, turn)
    client.do(f"{match}/actions", {"action": legal}, turn, idempotency_key="move")
    refusals.meet("stale-version", *play, {"action": legal}, turn, if_match=tag)
    refusals.meet("history-diverged", "GET", f"{match}/events?after=1&head=0123456789abcdef")
    suspend(ports, ports.history.newest(id_)[0], "example")
    refusals.meet("match-suspended", *play, {"action": legal}, turn)
    over = client.do("/v1/matches", {**TABLE, "bots": ["random"]}, ada, idempotency_key="three")["id"]
    client.do(f"/v1/matches/{over}/seats", {}, ada, idempotency_key="sit-three")
    client.do(f"/v1/matches/{over}/leave", {}, ada, idempotency_key="leave-three")
    while advance(ports, over, moves=1000):
        pass
    refusals.meet("match-over", "POST", f"/v1/matches/{over}/leave", {}, ada)


def _seats_of_others(refusals: Refusals, client: Client, ada: str, ben: str) -> None:
    ports = client.container.ports
    clocked = {**TABLE, "clock": {"turn_seconds": 60, "on_timeout": "bot"}}
    id_ = client.do("/v1/matches", clocked, ada, idempotency_key="four")["id"]
    for token in (ada, ben):
        client.do(f"/v1/matches/{id_}/seats", {}, token, idempotency_key="sit-four")
    slow = (ada, ben)[client.ask(f"/v1/matches/{id_}")["decisions"][0]["seat"]]
    enforce(replace(ports, now=lambda: ports.now() + 3_600_000), id_)
    refusals.meet("bot-deciding", "POST", f"/v1/matches/{id_}/return", {}, slow)
    old = NewMatch(GAME, 2, format_number=1)
    match = create(ports, client.ask("/v1/me", ada)["id"], old, "five").match
    refusals.meet("match-too-old", "POST", f"/v1/matches/{match.id}/free", {"seat": 0}, ada)


def _too_many(refusals: Refusals, client: Client, eve: str) -> None:
    for number in range(OPEN_MATCHES):
        made = client.do("/v1/matches", TABLE, eve, idempotency_key=f"match-{number}")
        client.do(f"/v1/matches/{made['id']}/seats", {}, eve, idempotency_key="sit")
    host = client.sign_up("Host")
    last = client.do("/v1/matches", TABLE, host, idempotency_key="last")["id"]
    refusals.meet("too-many-seats", "POST", f"/v1/matches/{last}/seats", {}, eve)
    refusals.meet("too-many-open-matches", "POST", "/v1/matches", TABLE, eve)
    bots = {**TABLE, "bots": ["random"] * 2}
    busy = Refusals(Client(Container(settings(bot_matches_waiting=1)), hasty=True))
    someone = busy._client.sign_up()
    busy._client.do("/v1/matches", bots, someone)
    busy.meet("bots-busy", "POST", "/v1/matches", bots, someone)
    refusals.met |= busy.met
    narrow = Refusals(Client(Container(settings(sign_ups_by_address=1)), hasty=True))
    narrow._client.sign_up()
    narrow.meet("rate-limited", "POST", "/v1/players", {"name": "Ada"})
    # A slow machine has a second less to wait.
    refusals.met["rate-limited"] = narrow.met["rate-limited"] | {"retry_after": 600}
