"""Two API processes on one log: what one of them changes in an account, the other one knows; and races between both."""

import http.client
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from redis import Redis

from tests.api.live import Server, get, serving
from tests.waiting import until

AT_ONCE: Final = 12


class Answer(NamedTuple):
    status: int
    body: Any


class Pair(NamedTuple):
    """Two servers with one API process each."""

    servers: Sequence[Server]

    def send(self, number: int, method: str, path: str, body: object = None, token: str | None = None) -> Answer:
        """Send a request to the server of an even or an odd number."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.servers[number % 2].port, timeout=60)) as connection:
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            data = response.read()
            return Answer(response.status, json.loads(data) if data else None)

    def send_all(self, requests: Sequence[tuple[str, str, object]], tokens: Sequence[str]) -> list[Answer]:
        """Send requests at once, to both servers in turn, each with its token."""
        with ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(lambda n: self.send(n, *requests[n], token=tokens[n]), range(len(requests))))

    def sign_up(self, name: str) -> Any:
        return self.send(0, "POST", "/v1/players", {"name": name}).body

    def refuses(self, tokens: Sequence[str]) -> bool:
        return all(self.status(1, token) == 401 for token in tokens)

    def status(self, number: int, token: str) -> int:
        return self.send(number, "GET", "/v1/me", token=token).status


@pytest.fixture(scope="module")
def pair(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("data")
    with ExitStack() as stack:
        stack.enter_context(Redis.from_url(valkey_log_url)).flushall()
        environ = {
            "MOONSTONE_LOG_URL": valkey_log_url,
            "MOONSTONE_QUEUE_URL": valkey_queue_url,
            "MOONSTONE_DATA_DIR": str(folder),
            **dict.fromkeys(
                (
                    "MOONSTONE_REQUESTS_BY_ADDRESS",
                    "MOONSTONE_SIGN_UPS_BY_ADDRESS",
                    "MOONSTONE_RECOVERIES_BY_ADDRESS",
                    "MOONSTONE_ACCOUNT_CHANGES_BY_TOKEN",
                ),
                "100000",
            ),
        }
        yield Pair([stack.enter_context(serving(environ, workers=1)) for _ in range(2)])


def test_what_one_process_changes_the_other_one_knows(pair: Pair) -> None:
    made = pair.sign_up("Ada")
    first, player = made["token"], made["player"]["id"]
    match = pair.send(0, "POST", "/v1/matches", {"game": "ape_town", "seats": 2}, first).body["id"]
    second = pair.send(0, "POST", "/v1/me/tokens", {"label": "Screen", "scopes": ["watch", "account"]}, first).body
    assert [pair.status(number, second["token"]) for number in range(2)] == [200, 200]

    def name(number: int) -> object:
        return pair.send(number, "GET", f"/v1/matches/{match}", token=first).body["creator_name"]

    assert (name(0), name(1)) == ("Ada", "Ada")
    assert pair.send(0, "PATCH", "/v1/me", {"name": "Ada L."}, first).status == 200
    until(lambda: name(1) == "Ada L.", 5, "the other process shows the new name")

    with get(pair.servers[1].port, "/v1/me/stream", {"Authorization": f"Bearer {second['token']}"}) as stream:
        assert stream.readline()
        assert pair.send(0, "DELETE", f"/v1/me/tokens/{second['id']}", token=first).status == 204
        until(lambda: pair.status(1, second["token"]) == 401, 5, "the other process refuses the token")
        rest = stream.read()
    assert b"token-revoked" in rest

    third = pair.send(1, "POST", "/v1/me/tokens", {}, first).body["token"]
    assert pair.status(0, third) == 200
    recovered = pair.send(0, "POST", "/v1/recoveries", {"recovery_code": made["recovery_code"]}).body["token"]
    until(lambda: pair.status(1, third) == pair.status(1, first) == 401, 5, "the other process refuses both")
    assert pair.status(1, recovered) == 200

    assert pair.send(0, "DELETE", "/v1/me", token=recovered).status == 202
    until(lambda: pair.status(1, recovered) == 401, 5, "the other process refuses the erased account")
    shown = [pair.send(number, "GET", f"/v1/matches/{match}").body for number in range(2)]
    assert [(one["creator"], one["creator_name"]) for one in shown] == [(player, None)] * 2


def test_of_recoveries_at_once_the_last_one_is_valid(pair: Pair) -> None:
    code = pair.sign_up("Ada")["recovery_code"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(
            pool.map(lambda n: pair.send(n, "POST", "/v1/recoveries", {"recovery_code": code}), range(AT_ONCE))
        )
    assert {answer.status for answer in answers} == {201}
    tokens = [answer.body["token"] for answer in answers]
    until(lambda: sum(pair.status(1, token) == 200 for token in tokens) == 1, 5, "one token is valid")
    (valid,) = (token for token in tokens if pair.status(0, token) == 200)
    assert len(pair.send(0, "GET", "/v1/me/tokens", token=valid).body["tokens"]) == 1


def test_of_tokens_that_revoke_each_other_at_once_one_stays(pair: Pair) -> None:
    for path in ("others", None):
        first = pair.sign_up("Ada")["token"]
        second = pair.send(0, "POST", "/v1/me/tokens", {}, first).body
        listed = pair.send(0, "GET", "/v1/me/tokens", token=first).body["tokens"]
        (own,) = (one["id"] for one in listed if one["current"])
        targets = [(first, path or second["id"]), (second["token"], path or own)]
        revocations: list[tuple[str, str, object]] = [("DELETE", f"/v1/me/tokens/{id_}", None) for _, id_ in targets]
        statuses = [answer.status for answer in pair.send_all(revocations, [by for by, _ in targets])]
        assert sorted(statuses) == [204, 401]
        valid = [token for token in (first, second["token"]) if pair.status(0, token) == 200]
        assert valid == [targets[statuses.index(204)][0]]


def test_a_new_name_or_token_at_the_time_of_the_erasure_revives_nothing(pair: Pair) -> None:
    for _ in range(3):
        made = pair.sign_up("Ada")
        token, player = made["token"], made["player"]["id"]
        match = pair.send(0, "POST", "/v1/matches", {"game": "ape_town", "seats": 2}, token).body["id"]
        requests: list[tuple[str, str, object]] = [
            *(("PATCH", "/v1/me", {"name": f"Ada {number}"}) for number in range(4)),
            ("DELETE", "/v1/me", None),
            *(("POST", "/v1/me/tokens", {}) for _ in range(4)),
            ("POST", "/v1/me/recovery-code", {}),
            ("POST", "/v1/recoveries", {"recovery_code": made["recovery_code"]}),
        ]
        answers = pair.send_all(requests, [token] * len(requests))
        erased = answers[4].status == 202  # or the recovery came first and revoked the token
        assert {answer.status for answer in answers} <= {200, 201, 202, 401}
        tokens = [answer.body["token"] for answer in answers if answer.body and "token" in answer.body]
        if not erased:
            assert answers[-1].status == 201
            continue
        until(partial(pair.refuses, tokens), 5, "no token is valid")
        shown = pair.send(1, "GET", f"/v1/matches/{match}").body
        assert (shown["creator"], shown["creator_name"]) == (player, None)


def test_the_number_of_tokens_is_limited_over_both_processes(pair: Pair) -> None:
    token = pair.sign_up("Ada")["token"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(lambda n: pair.send(n, "POST", "/v1/me/tokens", {}, token).status, range(60)))
    assert sorted(statuses) == [201] * 49 + [429] * 11
