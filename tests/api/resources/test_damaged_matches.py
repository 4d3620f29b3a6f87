"""Every route of a match that cannot be folded: its own people get the fault, strangers to a private match get `match-not-found`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from events.log import LogUnavailable
from events.record import canonical
from service.adapters.memory import local_ports
from service.games.registry import GAMES
from tests.api.checked import UNLIMITED, Client, documented
from tests.api.conftest import Container, problem, settings
from tests.api.counts import forget
from tests.api.test_rights import ROUTES
from tests.service.arena import WatchedLog
from tests.service.views.test_damaged_match_access import resealed, torn


def with_field(within: str | None) -> Callable[[tuple[bytes, ...]], tuple[bytes, ...]]:
    """The last event with a field more, of its own or in one of its fields."""

    def alter(stored: tuple[bytes, ...]) -> tuple[bytes, ...]:
        event: dict[str, Any] = msgspec.json.decode(stored[-1])
        (event if within is None else event[within])["trace"] = "new"
        return (*stored[:-1], canonical(event))

    return alter


MISSING: Final = "a" * 26
KINDS: Final[Mapping[str, tuple[Callable[[tuple[bytes, ...]], tuple[bytes, ...]], str]]] = {
    "a broken chain": (torn(3), "match-corrupt"),
    "no first event": (torn(0), "match-corrupt"),
    "a later kind of event": (lambda stored: resealed(stored, -1, type="match_paused"), "engine-too-old"),
    "a later field of an event": (with_field("data"), "engine-too-old"),
    "a later field of every event": (with_field(None), "engine-too-old"),
}
SSE: Final = {"Accept": "text/event-stream"}
NDJSON: Final = {"Accept": "application/x-ndjson"}
MORE: Final[Mapping[str, tuple[tuple[str, Mapping[str, str]], ...]]] = {
    "GET /v1/matches/{match_id}": (
        ("?version=2", {}),
        ("?viewer=1", {}),
        ("?include=legal_actions,texts", {"Accept-Language": "de"}),
        ("", {"If-None-Match": "*"}),
    ),
    "GET /v1/matches/{match_id}/legal-actions": (("?version=2", {}), ("?include=texts", {"Accept-Language": "de"})),
    "GET /v1/matches/{match_id}/events": (
        ("?after=2&limit=1", {}),
        ("?after=3&wait=1", {}),
        ("?after=900", {}),
        ("", SSE),
        ("?after=1", NDJSON),
        ("", {**SSE, "Last-Event-ID": "2"}),
        ("?include=texts", {"Accept-Language": "de"}),
    ),
    "POST /v1/matches/{match_id}/seats": (("", {"Idempotency-Key": "a"}),),
    "POST /v1/matches/{match_id}/actions": (
        ("?dry_run=true", {}),
        ("", {"If-Match": "*"}),
        ("?include=texts", {"Accept-Language": "de"}),
    ),
}


class Ask(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: object = None


class World:
    """A running match whose creator has no seat, one way or another spoiled in a log that other matches share."""

    def __init__(self, kind: str, *, private: bool) -> None:
        alter, self.code = KINDS[kind]
        self.log = WatchedLog()
        self.client = Client(Container(settings(**UNLIMITED), local_ports(GAMES, log=self.log)))
        self.hasty = Client(self.client.container, hasty=True)
        self.creator, self.seat, self.stranger = (self.client.sign_up(name) for name in ("Ada", "Ben", "Eve"))
        wanted = {"game": "monkeys_on_the_moon", "seats": 2, "private": private}
        made = self.client.do("/v1/matches", wanted, self.creator, idempotency_key="make")
        self.id: str = made["id"]
        code = {"join_code": made["join_code"]} if private else {}
        for token in (self.seat, self.client.sign_up("Cyd")):
            self.client.do(f"/v1/matches/{self.id}/seats", code, token)
        action = self.client.ask(f"/v1/matches/{self.id}/legal-actions", self.seat)["actions"][:1]
        self.action = {"action": action[0] if action else {"type": "bid", "coins": {}}}
        self.log.rewrite(self.id, alter(self.log.stored(self.id)))
        self.log.forget_snapshots()
        self.client.container.ports.history._recent.clear()

    def asks(self) -> Iterator[Ask]:
        """Every route of a match in every form."""
        for rule in self.client.app.url_map.iter_rules():
            for method in sorted((rule.methods or set()) - {"OPTIONS"}):
                if "match_id" not in rule.arguments:
                    continue
                route = f"{method} {documented(rule)}"
                body = ROUTES[route].body if method != "HEAD" else None
                body = self.action if body == "legal" else body
                path = documented(rule)
                yield Ask(method, path, {}, body)
                yield from (Ask(method, path + query, headers, body) for query, headers in MORE.get(route, ()))

    def tell(self, ask: Ask, match: str, token: str | None) -> Any:
        # The reference knows no HEAD: it is answered as a GET.
        client = self.hasty if ask.method == "HEAD" else self.client
        # How much is left of a limit depends on how often somebody asked.
        forget(client.container.ports.limits)
        return client.send(
            ask.method, ask.path.format(match_id=match), ask.body, token=token, headers=dict(ask.headers)
        )

    def seen(self, ask: Ask, match: str, token: str | None) -> tuple[int, list[tuple[str, str]], bytes]:
        """All of an answer but what is made anew for every request."""
        answer = self.tell(ask, match, token)
        request = answer.headers.pop("X-Request-Id")
        body = answer.get_data().replace(request.encode(), b"").replace(match.encode(), b"")
        return answer.status_code, sorted(answer.headers.items()), body


@pytest.mark.parametrize("kind", KINDS)
def test_strangers_get_match_not_found_for_a_damaged_private_match(kind: str) -> None:
    world = World(kind, private=True)
    asks = list(world.asks())
    assert len(asks) > 20
    for token in (None, world.stranger):
        for ask in asks:
            assert world.seen(ask, world.id, token) == world.seen(ask, MISSING, token), ask


@pytest.mark.parametrize("kind", KINDS)
def test_its_creator_and_its_seats_get_the_fault(kind: str) -> None:
    world = World(kind, private=True)
    for token in (world.creator, world.seat):
        for ask in world.asks():
            answer = world.tell(ask, world.id, token)
            assert answer.status_code == 503, ask
            assert ask.method == "HEAD" or problem(answer).code == world.code, ask
    again = world.client.post(
        "/v1/matches",
        {"game": "monkeys_on_the_moon", "seats": 2, "private": True},
        world.creator,
        idempotency_key="make",
    )
    assert problem(again).code == world.code


@pytest.mark.parametrize("kind", KINDS)
def test_only_lists_of_its_own_players_contain_it(kind: str) -> None:
    world = World(kind, private=True)
    for token in (None, world.stranger, world.creator, world.seat):
        for status in ("open", "running", "finished"):
            assert world.client.ask(f"/v1/matches?status={status}", token) == {"matches": [], "next": None}
    for token, named in ((world.stranger, []), (world.creator, [world.id]), (world.seat, [world.id])):
        for path in ("/v1/me/matches", "/v1/me/matches?active=true"):
            assert world.client.ask(path, token) == {"matches": [], "unreadable": named, "next": None}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "no first event"])
def test_every_caller_gets_the_fault_of_a_public_match(kind: str) -> None:
    world = World(kind, private=False)
    for ask in world.asks():
        said = problem(world.client.get(ask.path.format(match_id=world.id))) if ask.method == "GET" else None
        assert said is None or said.code == world.code


def test_a_log_that_fails_during_the_access_check_is_reported_as_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("a broken chain", private=True)
    read = world.log.read

    def once(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(world.log, "read", gone)
        return read(*args, **named)

    def gone(*_: Any, **__: Any) -> Any:
        raise LogUnavailable("unavailable")

    monkeypatch.setattr(world.log, "read", once)
    assert problem(world.client.get(f"/v1/matches/{world.id}", world.seat)).code == "store-unavailable"
