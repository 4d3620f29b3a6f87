"""Freeing and taking back seats, aborts by agreement, the default clock and the time for which a match waits, over HTTP."""

from typing import Any

import pytest

from api.resources.matches import HOUR_MS
from service.automation.expiry import expire
from service.usecases.held_seats import HELD_SEATS
from tests.api.checked import Client, Json
from tests.api.conftest import Container, problem, settings

GAME = {"game": "monkeys_on_the_moon", "seats": 2}
SEVEN_DAYS = {"turn_seconds": 604_800, "on_timeout": "default_action"}


@pytest.fixture
def client() -> Client:
    return Client(Container(settings(open_hours=2)), unchecked=True)


def make(client: Client, token: str, **wanted: Any) -> str:
    return f"/v1/matches/{client.do('/v1/matches', {**GAME, **wanted}, token)['id']}"


def types(client: Client, path: str) -> list[str]:
    return [event["type"] for event in client.ask(f"{path}/events?limit=500")["events"]]


@pytest.mark.parametrize(
    ("wanted", "clock"),
    [
        ({}, SEVEN_DAYS),
        ({"game": "ape_town"}, SEVEN_DAYS),
        ({"game": "four_monkeys"}, None),
        ({"clock": None}, None),
        ({"clock": {}}, None),
        ({"clock": {"turn_seconds": 60}}, {"turn_seconds": 60}),
        ({"clock": {"bot_pace_ms": 5}}, {"bot_pace_ms": 5}),
    ],
)
def test_a_match_without_a_clock_in_the_request_has_seven_days(
    client: Client, wanted: Json, clock: Json | None
) -> None:
    path = make(client, client.sign_up(), **wanted)
    assert client.ask(path)["clock"] == clock
    created = client.ask(f"{path}/events")["events"][0]["data"]
    assert (created["clock"], created["format"], created["rated"]) == (clock, 2, False)


def test_a_match_says_until_when_it_waits_for_players(client: Client) -> None:
    ada = client.sign_up()
    path = make(client, ada)
    match = client.ask(path)
    assert match["expires_at"] == match["created_at"] + 2 * HOUR_MS
    assert client.ask("/v1/matches")["matches"][0]["expires_at"] == match["expires_at"]
    expire(client.container.ports, match["id"])
    assert client.ask(path)["status"] == "open"
    client.do(f"{path}/leave", {"only": "open"}, ada)
    assert client.ask(path)["expires_at"] is None


def test_the_creator_frees_a_seat(client: Client) -> None:
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    path = make(client, ada)
    client.do(f"{path}/seats", {}, ben)
    assert problem(client.post(f"{path}/free", {"seat": 0}, ben))[:2] == (403, "not-the-creator")
    assert client.do(f"{path}/free", {"seat": 0}, ada)["seats"][0]["player"] is None
    assert problem(client.post(f"{path}/free", {"seat": 0}, ada))[:2] == (409, "seat-free")
    assert client.ask("/v1/me/matches", ben)["matches"] == []
    for body in ({}, {"seat": "0"}, {"seat": -1}, {"seat": 0, "why": "boring"}):
        assert problem(client.post(f"{path}/free", body, ada))[:2] == (422, "invalid-request")


def test_a_leave_for_the_open_match_does_not_resign_the_running_one(client: Client) -> None:
    ada, ben = client.sign_up(), client.sign_up()
    path = make(client, ada)
    client.do(f"{path}/seats", {}, ada)
    seen = client.get(path).headers["ETag"]
    client.do(f"{path}/seats", {}, ben)
    tag = client.get(path).headers["ETag"]
    assert problem(client.post(f"{path}/leave", {}, ada, if_match=seen))[:2] == (412, "stale-version")
    assert problem(client.post(f"{path}/leave", {"only": "open"}, ada))[:2] == (409, "match-not-open")
    assert problem(client.post(f"{path}/leave", {}, ada, if_match=tag))[:2] == (409, "match-not-open")
    assert problem(client.post(f"{path}/leave", {"only": "running"}, ada))[:2] == (422, "invalid-request")
    assert "resigned" not in types(client, path)
    client.do(f"{path}/leave", {}, ada)
    assert types(client, path)[-1] == "resigned"


def test_all_people_of_a_match_abort_it(client: Client) -> None:
    tokens = client.sign_up(), client.sign_up()
    path = make(client, tokens[0])
    for token in tokens:
        client.do(f"{path}/seats", {}, token)
    assert client.do(f"{path}/abort", {}, tokens[0])["abort_asked"] == [0]
    over = client.do(f"{path}/abort", {}, tokens[1])
    assert (over["status"], over["outcome"], over["abort_asked"]) == ("aborted", None, [0, 1])
    assert types(client, path)[-2:] == ["match_aborted", "seed_revealed"]
    assert client.get(f"{path}/export").status_code == 200
    checks = {check["check"]: check["result"] for check in client.ask(f"{path}/audit")["checks"]}
    assert set(checks.values()) == {"passed"}
    assert client.get(f"{path}/board.svg").status_code == 200
    assert problem(client.post(f"{path}/abort", {}, tokens[0]))[:2] == (409, "match-over")


@pytest.mark.parametrize("seed", ["a\u200db", "\u2800", "a\u00b7b"])
def test_a_client_seed_that_cannot_be_seen_is_refused_where_it_stands(client: Client, seed: str) -> None:
    path = make(client, client.sign_up())
    status, code, document = problem(client.post(f"{path}/seats", {"client_seed": seed}, client.sign_up()))
    assert (status, code) == (422, "invalid-request")
    assert document["errors"][0]["pointer"] == "#/client_seed"
    assert f"U+{ord(max(seed)):04X}" in document["errors"][0]["detail"]
    assert len(types(client, path)) == 1


def test_the_twenty_first_seat_is_refused(client: Client) -> None:
    ada = client.sign_up()
    hosts = [client.sign_up() for _ in range(3)]
    for number in range(HELD_SEATS + 1):
        path = make(client, hosts[number // 10], seats=3)
        response = client.post(f"{path}/seats", {}, ada)
    assert problem(response)[:2] == (429, "too-many-seats")
    assert len(types(client, path)) == 1


@pytest.mark.parametrize("language", ["en", "de"])
def test_refusals_come_in_the_language_of_the_client(client: Client, language: str) -> None:
    ada = client.sign_up()
    path = make(client, ada)
    response = client.send("POST", f"{path}/return", {}, token=ada, headers={"Accept-Language": language})
    assert problem(response).document["detail"].startswith({"en": "No bot", "de": "Kein Bot"}[language])
