"""All spellings of a host's address count as one address for rate limits."""

import pytest

from api.http.client_address import UNKNOWN, bucket
from tests.api.conftest import Container, app_of, settings


@pytest.mark.parametrize(
    ("text", "counted_as"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("[::ffff:192.0.2.1]:4711", "192.0.2.1"),
        ("192.0.2.2", "192.0.2.2"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8::/64"),
        ("[2001:0db8::2]", "2001:db8::/64"),
        ("[2001:db8::3]:4711", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", UNKNOWN),
        ("unknown", UNKNOWN),
        ("_hidden:80", UNKNOWN),
        ("192.0.2.256", UNKNOWN),
        ("unix:", UNKNOWN),
        ("[", UNKNOWN),
    ],
)
def test_requests_are_counted_by_host(text: str, counted_as: str) -> None:
    assert bucket(text) == counted_as


@pytest.mark.parametrize(
    "spelling",
    [
        "2001:db8::{}",
        "[2001:db8::{}]:4711",
        "192.0.2.1:{}",
        "::ffff:192.0.2.1",
    ],
)
def test_another_spelling_of_an_address_does_not_pass_its_limit(spelling: str) -> None:
    container = Container(settings(proxies=1, sign_ups_by_address=4))
    client = app_of(container).test_client()
    mixed = ("192.0.2.1", spelling) if "192" in spelling else (spelling,)
    answers = [
        client.post(
            "/v1/players",
            json={"name": "Ada"},
            headers={"X-Forwarded-For": f"203.0.113.7, {mixed[number % len(mixed)].format(number + 1)}"},
        )
        for number in range(6)
    ]
    assert [answer.status_code for answer in answers] == [201] * 4 + [429] * 2


@pytest.mark.parametrize("bots", [[], ["random", "random"]])
def test_new_matches_of_many_players_in_one_network_are_counted_together(bots: list[str]) -> None:
    container = Container(settings(proxies=1, creations_by_address=2, bot_matches_by_address=2))
    client = app_of(container).test_client()
    answers = []
    for number in range(4):
        forwarded = {"X-Forwarded-For": f"[2001:db8::{number}]:4711"}
        token = client.post("/v1/players", json={"name": "Ada"}, headers=forwarded).get_json()["token"]
        wanted = {"game": "ape_town", "seats": 2, "bots": bots}
        answers.append(
            client.post("/v1/matches", json=wanted, headers={**forwarded, "Authorization": f"Bearer {token}"})
        )
    assert [answer.status_code for answer in answers] == [201] * 2 + [429] * 2
