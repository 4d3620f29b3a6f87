"""Stream tickets: valid once, for a short time, only for streams, and only as long as their token."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from api.resources.stream_response import STREAMS
from service.adapters.jobs import connect
from service.adapters.memory import MemoryTickets
from service.adapters.tickets import RedisTickets
from service.errors import Refused
from service.repository.ports import Tickets, digest_of
from service.usecases.accounts import TICKET_SECONDS, issue_ticket, redeem_ticket
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.service.arena import Arena

SECRET = bytes(32)


@pytest.fixture
def client() -> Client:
    made = Client(unchecked=True)
    made.container.feed.close()  # streams end immediately
    return made


@pytest.fixture
def token(client: Client) -> str:
    return client.sign_up("Ada")


@pytest.fixture
def match(client: Client, token: str) -> str:
    """The id of a private match of the player."""
    made: str = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2, "private": True}, token)["id"]
    return made


def ticket(client: Client, token: str) -> str:
    made = client.do("/v1/stream-tickets", token=token)
    assert made["expires_in"] == TICKET_SECONDS
    found: str = made["ticket"]
    return found


@pytest.mark.parametrize("form", ["text/event-stream", "application/x-ndjson"])
@pytest.mark.parametrize("path", ["/v1/me/stream", "/v1/matches/{}/events"])
def test_a_ticket_opens_only_one_stream(client: Client, token: str, match: str, path: str, form: str) -> None:
    address = f"{path.format(match)}?ticket={ticket(client, token)}"
    assert b"restart" in client.get(address, accept=form).get_data()
    assert problem(client.get(address, accept=form)).code == "ticket-invalid"


NO_STREAM: Final = {
    "HEAD": ({"method": "HEAD"}, 200),
    "an unknown media type": ({"headers": {"Accept": "image/png"}}, 406),
    "an unknown parameter": ({"more": "&surprise=1"}, 400),
    "an unknown method": ({"method": "DELETE"}, 405),
}


@pytest.mark.parametrize(("request_", "status"), NO_STREAM.values(), ids=NO_STREAM.keys())
@pytest.mark.parametrize("path", ["/v1/me/stream", "/v1/matches/{}/events"])
def test_a_request_that_opens_no_stream_does_not_use_up_its_ticket(
    client: Client, token: str, match: str, path: str, request_: Mapping[str, Any], status: int
) -> None:
    address = f"{path.format(match)}?ticket={ticket(client, token)}"
    headers = {"Accept": "text/event-stream", **request_.get("headers", {})}
    response = client.send(request_.get("method", "GET"), address + request_.get("more", ""), headers=headers)
    assert response.status_code == status
    assert client.get(address, accept="text/event-stream").status_code == 200
    assert problem(client.get(address, accept="text/event-stream")).code == "ticket-invalid"


def test_a_refused_stream_does_not_use_up_its_ticket(client: Client, token: str, match: str) -> None:
    made = ticket(client, token)
    for path, code in (
        (f"/v1/matches/{match}/events?limit=1", "invalid-parameter"),
        (f"/v1/matches/{match}/events?after=9", "history-diverged"),
        ("/v1/matches/none-such/events?after=0", "match-not-found"),
    ):
        assert problem(client.get(f"{path}&ticket={made}", accept="text/event-stream")).code == code
    stream = f"/v1/matches/{match}/events?ticket={made}"
    assert client.get(stream, accept="text/event-stream").status_code == 200


def test_one_of_two_streams_that_open_simultaneously_with_a_ticket_is_refused(
    client: Client, token: str, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ticket(client, token)
    monkeypatch.setattr(
        client.container.ports.tickets, "redeem", lambda _: None
    )  # as if the other stream had been first
    for path in ("/v1/me/stream", f"/v1/matches/{match}/events"):
        assert problem(client.get(f"{path}?ticket={made}", accept="text/event-stream")).code == "ticket-invalid"
    assert client.app.extensions[STREAMS].open == 0


def test_a_ticket_opens_only_streams(client: Client, token: str, match: str) -> None:
    for path in ("/v1/me", "/v1/me/matches", f"/v1/matches/{match}", f"/v1/matches/{match}/events"):
        refusal = problem(client.get(f"{path}?ticket={ticket(client, token)}"))
        assert refusal.status in {400, 401}, path
        assert refusal.code in {"invalid-parameter", "token-missing", "match-not-found"}
    refusal = problem(client.post(f"/v1/matches/{match}/leave?ticket={ticket(client, token)}"))
    assert refusal.code == "token-missing"
    used = ticket(client, token)
    assert problem(client.get("/v1/me", used)).code == "token-invalid"


@pytest.mark.parametrize("wrong", ["", "x", "tick_", f"tick_{'a' * 43}", "moon_x"])
def test_a_wrong_ticket_is_never_treated_as_a_missing_ticket(client: Client, match: str, wrong: str) -> None:
    for path in ("/v1/me/stream", f"/v1/matches/{match}/events"):
        response = client.get(f"{path}?ticket={wrong}", accept="text/event-stream")
        assert problem(response).code == "ticket-invalid"


def test_a_token_is_not_accepted_as_a_ticket(client: Client, token: str) -> None:
    assert problem(client.get(f"/v1/me/stream?ticket={token}")).code == "ticket-invalid"


def test_a_token_takes_precedence_over_a_ticket_which_remains_valid(client: Client, token: str) -> None:
    made = ticket(client, token)
    assert client.get(f"/v1/me/stream?ticket={made}", token).status_code == 200
    assert problem(client.get(f"/v1/me/stream?ticket={made}", "moon_wrong")).code == "token-invalid"
    assert client.get(f"/v1/me/stream?ticket={made}").status_code == 200


def test_a_ticket_of_a_revoked_token_is_invalid(client: Client, token: str) -> None:
    made = ticket(client, token)
    client.send("DELETE", "/v1/me/tokens/current", token=token)
    assert problem(client.get(f"/v1/me/stream?ticket={made}")).code == "token-invalid"


def test_a_stream_opened_by_a_ticket_counts_for_its_token(client: Client, token: str) -> None:
    responses = [
        client.get(f"/v1/me/stream?ticket={ticket(client, token)}", accept="text/event-stream") for _ in range(2)
    ]
    assert [response.headers["RateLimit-Policy"].partition(";")[0] for response in responses] == ['"token"'] * 2


def test_a_ticket_expires() -> None:
    arena = Arena()
    tickets = [issue_ticket(arena.ports, "t") for _ in range(2)]
    arena.wait(TICKET_SECONDS * 1000 - 1)
    assert redeem_ticket(arena.ports, tickets[0]) == "t"
    arena.wait(1)
    with pytest.raises(Refused, match="ticket-invalid"):
        redeem_ticket(arena.ports, tickets[1])


@pytest.mark.parametrize("store", ["memory", "redis"])
def test_a_ticket_is_stored_as_its_digest_and_redeemed_once(store: str, request: pytest.FixtureRequest) -> None:
    tickets: Tickets = MemoryTickets(lambda: 0)
    if store == "redis":
        client = connect(request.getfixturevalue("valkey_queue_url"))
        tickets = RedisTickets(client, SECRET)
    tickets.keep(digest_of("secret"), "t", 30)
    if store == "redis":
        assert 28 <= client.ttl(f"ticket:{digest_of('secret')}") <= 30
        assert not client.keys("*secret*")
    assert [tickets.find(digest_of("secret")) for _ in range(2)] == ["t", "t"]
    assert [tickets.redeem(digest_of("secret")) for _ in range(2)] == ["t", None]
    assert tickets.find(digest_of("secret")) is None


def test_write_access_to_the_queue_is_not_enough_for_a_ticket(valkey_queue_url: str) -> None:
    client = connect(valkey_queue_url)
    tickets, theirs, mine = RedisTickets(client, SECRET), digest_of("theirs"), digest_of("mine")

    def stored(ticket: str, token: str, tickets: RedisTickets = tickets) -> bytes:
        tickets.keep(ticket, token, 30)
        return bytes(client.get(f"ticket:{ticket}"))  # type: ignore[arg-type]  # typed for synchronous and asynchronous clients alike

    token, own = stored(theirs, digest_of("their token")), stored(mine, digest_of("my token"))
    forged = [
        token,  # copied to the attacker's own ticket
        token[:64],
        token[:64] + own[64:],
        stored(mine, digest_of("their token"), RedisTickets(client, b"guessed")),
        b"",
        b":",
        b"\xff" + token,
        token + b":",
    ]
    for value in forged:
        client.set(f"ticket:{mine}", value)
        assert tickets.find(mine) is None, value
        assert tickets.redeem(mine) is None, value
    client.set(f"ticket:{mine}", own)
    assert [tickets.redeem(mine), tickets.redeem(theirs)] == [digest_of("my token"), digest_of("their token")]


def test_an_unreachable_queue_is_reported_as_unavailable() -> None:
    tickets = RedisTickets(connect("redis://127.0.0.1:1"), SECRET)
    with pytest.raises(Exception, match="unavailable"):
        tickets.keep("a", "b", 1)
    with pytest.raises(Exception, match="unavailable"):
        tickets.redeem("a")
    with pytest.raises(Exception, match="unavailable"):
        tickets.find("a")
