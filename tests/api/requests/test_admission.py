"""Limits for new matches: by address, for matches with only bots, and for the whole service."""

from typing import Any, Final

import pytest
from werkzeug.test import TestResponse

from service.automation.bot_turns import advance
from tests.api.checked import Client, Json
from tests.api.conftest import Container, problem, settings

GAME: Final = {"game": "monkeys_on_the_moon", "seats": 2}
BOTS: Final = {"seats": 2, "bots": ["random", "random"]}


def make(client: Client, token: str, **wanted: Any) -> Json:
    return client.do("/v1/matches", {**GAME, **wanted}, token)


def test_new_matches_are_limited_by_address_whichever_player_creates_them() -> None:
    client = Client(Container(settings(creations_by_address=3, proxies=1)))
    answers = [client.post("/v1/matches", GAME, client.sign_up()) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429, 429]
    assert answers[0].headers["RateLimit-Policy"].startswith('"creations";')
    assert answers[-1].headers["RateLimit-Policy"] == '"creations-by-address";q=3;w=60'
    elsewhere = client.post("/v1/matches", GAME, client.sign_up(), x_forwarded_for="203.0.113.7")
    assert elsewhere.status_code == 201


@pytest.mark.parametrize(
    ("match", "then", "status"),
    [
        ({**BOTS}, None, 201),
        ({**BOTS, "manual_start": True}, ("start", {}), 200),
        ({"seats": 2, "bots": ["random"]}, ("bots", {"bot": "random"}), 201),
    ],
)
def test_matches_with_only_bots_are_limited_by_address_however_they_start(
    match: dict[str, Any], then: tuple[str, dict[str, str]] | None, status: int
) -> None:
    client = Client(Container(settings(bot_matches_by_address=2)))

    def begin(token: str) -> TestResponse:
        if then is None:
            return client.post("/v1/matches", {**GAME, **match}, token)
        return client.post(f"/v1/matches/{make(client, token, **match)['id']}/{then[0]}", then[1], token)

    answers = [begin(client.sign_up()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [status, status, 429, 429]
    assert answers[-1].headers["RateLimit-Policy"] == '"bot-matches";q=2;w=600'
    # Matches with people are not limited, however they start.
    ada = client.sign_up()
    for manual in (False, True):
        made = make(client, ada, seats=3, bots=["random"], manual_start=manual)["id"]
        client.do(f"/v1/matches/{made}/seats", token=ada)
        client.do(f"/v1/matches/{made}/bots", {"bot": "random"}, ada)
        if manual:
            client.do(f"/v1/matches/{made}/start", token=ada)
        assert client.ask(f"/v1/matches/{made}")["status"] == "running"


def test_no_match_with_only_bots_starts_while_too_many_wait_for_a_worker() -> None:
    client = Client(Container(settings(bot_matches_waiting=2)))
    ada = client.sign_up()
    made = [make(client, ada, **BOTS)["id"] for _ in range(2)]
    refusal = problem(client.post("/v1/matches", {**GAME, **BOTS}, ada))
    assert (refusal.status, refusal.code) == (503, "bots-busy")
    make(client, ada, seats=2, bots=["random"])
    while advance(client.container.ports, made[0]):
        pass
    make(client, ada, **BOTS)


def test_these_limits_reveal_nothing_of_a_private_match_to_a_stranger() -> None:
    client = Client(Container(settings(bot_matches_by_address=1, bot_matches_waiting=1)))
    ada, eve = client.sign_up(), client.sign_up()
    hidden = make(client, ada, seats=2, bots=["random"], private=True)["id"]
    make(client, ada, **BOTS)
    answers = [client.post(f"/v1/matches/{match}/bots", {"bot": "random"}, eve) for match in (hidden, "none-such")]
    assert {problem(answer).code for answer in answers} == {"match-not-found"}
