"""Refused actions: each gets its problem and leaves no trace in the match."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from service.automation.bot_turns import advance, suspend
from tests.api.conftest import problem
from tests.api.two_seats import Seated, seated

BAD: Final[Mapping[str, tuple[int, str, Mapping[str, Any]]]] = {
    "unknown field": (422, "invalid-request", {"body": {"action": {"type": "pass"}, "note": 1}}),
    "no action": (422, "invalid-request", {"body": {}}),
    "action of another type": (422, "invalid-request", {"body": {"action": "pass"}}),
    "seat of another type": (422, "invalid-request", {"body": {"action": {"type": "pass"}, "seat": "0"}}),
    "negative seat": (422, "invalid-request", {"body": {"action": {"type": "pass"}, "seat": -1}}),
    "decision of another type": (422, "invalid-request", {"body": {"action": {"type": "pass"}, "decision": 4}}),
    "list": (422, "invalid-request", {"body": [1]}),
    "no such action": (422, "invalid-action", {"body": {"action": {"type": "resign"}}}),
    "action without a type": (422, "invalid-action", {"body": {"action": {}}}),
    "unknown field of an action": (422, "invalid-action", {"body": {"action": {"type": "pass", "to": 1}}}),
    "type in a list": (422, "invalid-action", {"body": {"action": {"type": ["pass"]}}}),
    "card of another type": (422, "invalid-action", {"body": {"action": {"type": "select_monkey", "card": 7}}}),
    "huge number": (400, "bad-json", {"data": b'{"action":{"type":"pass","n":1e400}}'}),
    "long number": (400, "bad-json", {"data": b'{"action":{"type":"pass"},"seat":' + b"9" * 4000 + b"}"}),
    "fraction": (400, "bad-json", {"data": b'{"action":{"type":"pass"},"seat":0.5}'}),
    "NaN": (400, "bad-json", {"data": b'{"action":{"type":"pass"},"seat":NaN}'}),
    "deep": (400, "bad-json", {"data": b'{"action":' + b"[" * 8000 + b"]" * 8000 + b"}"}),
    "duplicate keys": (400, "bad-json", {"data": b'{"action":{"type":"pass","type":"bid"}}'}),
    "lone surrogate": (400, "bad-json", {"data": b'{"action":{"type":"\\ud800"}}'}),
    "NUL": (400, "bad-json", {"data": b'{"action":{"type":"\\u0000"}}'}),
    "UTF-16": (400, "bad-json", {"data": '{"action":{"type":"pass"}}'.encode("utf-16")}),
    "text after it": (400, "bad-json", {"data": b'{"action":{"type":"pass"}} {}'}),
    "nothing": (422, "invalid-request", {"data": b""}),
    "oversize": (413, "body-too-large", {"data": b'{"action":{"type":"' + b"x" * 16_384 + b'"}}'}),
    "compressed in chunks": (400, "bad-request", {"headers": {"Transfer-Encoding": "gzip, chunked"}}),
    "form": (415, "unsupported-media-type", {"headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    "text": (415, "unsupported-media-type", {"headers": {"Content-Type": "text/plain"}}),
    "compressed": (415, "unsupported-media-type", {"headers": {"Content-Encoding": "gzip"}}),
    "key": (400, "idempotency-key-invalid", {"headers": {"Idempotency-Key": "a b"}}),
    "long key": (400, "idempotency-key-invalid", {"headers": {"Idempotency-Key": "a" * 65}}),
    "query": (400, "invalid-parameter", {"query": "?dry_run=1"}),
    "unknown parameter": (400, "invalid-parameter", {"query": "?force=true"}),
    "token missing": (401, "token-missing", {"token": None}),
    "token malformed": (401, "token-invalid", {"token": "moon_x"}),
    "token of another kind": (401, "token-invalid", {"headers": {"Authorization": "Basic YTpi"}}),
    "another's seat": (403, "not-your-seat", {"token": "turn", "body": {"action": {"type": "pass"}, "seat": "other"}}),
    "stranger": (403, "not-seated", {"token": "stranger"}),
    "not your turn": (409, "not-your-turn", {"token": "other"}),
    "another's decision": (409, "decision-closed", {"body": {"action": {"type": "pass"}, "decision": "0:1"}}),
    "illegal": (409, "illegal-action", {}),
    "no match": (404, "match-not-found", {"path": "/v1/matches/nothing"}),
}


@pytest.fixture(scope="module")
def unchanged() -> Iterator[Seated]:
    """A match that must not change during these tests."""
    table = seated()
    before = table.client.log(table.match)
    yield table
    assert table.client.log(table.match) == before


@pytest.mark.parametrize(("status", "code", "given"), BAD.values(), ids=BAD.keys())
def test_each_wrong_action_gets_its_problem_and_changes_nothing(
    unchanged: Seated, status: int, code: str, given: Mapping[str, Any]
) -> None:
    tokens = {"turn": unchanged.turn, "other": unchanged.other, "stranger": unchanged.client.sign_up()}
    token = given.get("token", "turn")
    body = given.get("body", {"action": {"type": "pass"}})
    if isinstance(body, dict) and body.get("seat") == "other":
        body = {**body, "seat": 1 - unchanged.client.ask(unchanged.path, unchanged.turn)["viewer"]}
    before = unchanged.client.log(unchanged.match)
    response = unchanged.client.send(
        "POST",
        given.get("path", unchanged.path) + "/actions" + given.get("query", ""),
        body,
        token=tokens.get(token, token),
        data=given.get("data"),
        headers=given.get("headers"),
    )
    assert problem(response)[:2] == (status, code)
    assert unchanged.client.log(unchanged.match) == before


@pytest.mark.parametrize(
    ("action", "pointer", "right"),
    [
        ({}, "#/action/type", "select_monkey"),
        ({"type": "resign"}, "#/action/type", "select_monkey"),
        ({"type": "select_monkey"}, "#/action/card", "is missing"),
        ({"type": "select_monkey", "card": 7}, "#/action/card", "text of 1 to 40"),
        ({"type": "appease", "tribe": "red", "with": "gold"}, "#/action/with", "coin or scorn"),
        ({"type": "bid", "coins": {"red": 0}}, "#/action/coins", "integers from 1 to 7"),
        ({"type": "pass", "to": 1}, "#/action/to", "known names: type"),
    ],
)
def test_an_invalid_action_gets_a_pointer_and_the_allowed_values(
    unchanged: Seated, action: Mapping[str, Any], pointer: str, right: str
) -> None:
    refusal = problem(unchanged.client.post(f"{unchanged.path}/actions", {"action": action}, unchanged.turn))
    assert refusal[:2] == (422, "invalid-action")
    (error,) = refusal.document["errors"]
    assert error["pointer"] == pointer
    assert right in error["detail"]


def open_match(table: Seated) -> str:
    match = table.client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 3}, table.turn)["id"]
    table.client.do(f"/v1/matches/{match}/seats", {}, table.turn)
    return str(match)


def suspended_match(table: Seated) -> str:
    ports = table.client.container.ports
    suspend(ports, ports.history.newest(table.match)[0], "Test")
    return table.match


def finished_match(table: Seated) -> str:
    ports = table.client.container.ports
    for token in (table.turn, table.other):
        table.client.do(f"{table.path}/leave", token=token)
    while advance(ports, table.match, moves=1000):
        pass
    return table.match


@pytest.mark.parametrize(
    ("prepare", "code", "leave_code"),
    [
        (open_match, "match-not-running", None),
        (suspended_match, "match-suspended", "match-suspended"),
        (finished_match, "match-over", "match-over"),
    ],
)
def test_only_a_running_match_can_be_played(
    prepare: Callable[[Seated], str], code: str, leave_code: str | None
) -> None:
    table = seated()
    path = f"/v1/matches/{prepare(table)}"
    for query in ("", "?dry_run=true"):
        answer = table.client.post(f"{path}/actions{query}", {"action": {"type": "pass"}}, table.turn)
        assert problem(answer)[:2] == (409, code)
    assert table.client.ask(f"{path}/legal-actions", table.turn)["actions"] == []
    if leave_code is not None:
        assert problem(table.client.post(f"{path}/leave", token=table.turn)).code == leave_code
