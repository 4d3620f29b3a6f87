"""`/metrics` and the access log: the callers that may read metrics, and the contents of both."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.resources import health, metrics
from events.chain import Draft
from events.log import LogUnavailable
from events.memory_log import MemoryLog
from service.adapters.memory import local_ports
from service.errors import Refused
from service.games.registry import GAMES
from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.observability.logfmt import Logfmt
from service.usecases.match_lifecycle import create, join
from service.usecases.submit import CommandKey, append
from tests.api.conftest import TOKEN, Container, app_of, problem, settings, small_api
from tests.api.metrics_reset import forget_requests


@pytest.mark.parametrize(
    ("wanted", "address", "headers", "status"),
    [
        ({}, "127.0.0.1", {}, 200),
        ({}, "::1", {}, 200),
        ({}, "::ffff:127.0.0.1", {}, 200),
        ({}, "::ffff:203.0.113.7", {}, 404),
        ({}, "203.0.113.7", {}, 404),
        ({}, "", {}, 404),
        ({}, "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),
        ({}, "127.0.0.1", {"Forwarded": "for=127.0.0.1"}, 404),
        ({}, "127.0.0.1", {"Via": "1.1 moon"}, 404),
        ({"proxies": 1}, "127.0.0.1", {"X-Forwarded-For": "203.0.113.7"}, 404),
        ({"metrics": "all"}, "203.0.113.7", {}, 200),
        ({"metrics": "none"}, "127.0.0.1", {}, 404),
    ],
)
def test_metrics_are_readable_only_from_allowed_addresses_without_a_proxy(
    wanted: Mapping[str, Any], address: str, headers: Mapping[str, str], status: int
) -> None:
    client = app_of(Container(settings(**wanted))).test_client()
    answer = client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})
    assert answer.status_code == status
    if status == 404:
        assert problem(answer).code == "not-found"
    else:
        assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
        assert "moonstone_chain_breaks_total" in answer.text


@pytest.fixture(autouse=True)
def no_earlier_requests() -> None:
    forget_requests()


def samples(text: str) -> Mapping[str, float]:
    return {
        " ".join([sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items()))]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_and_never_by_their_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = create_app(Container(), resources=(health.blueprint, metrics.blueprint, small_api())).test_client()
    before = samples(client.get("/metrics").text)
    me = {"Authorization": f"Bearer {TOKEN}"}
    with caplog.at_level(logging.INFO, "moonstone.access"):
        client.post("/v1/stones", json={"name": "opal"}, headers=me)
        client.post("/v1/stones", json={"name": "boulder"}, headers=me)
        client.open(f"/{TOKEN}?token={TOKEN}", method="BREW", headers=me)
        client.get("/healthz")
    after = samples(client.get("/metrics").text)
    gained = {name: value - before.get(name, 0) for name, value in after.items()}
    for labels in (
        "method=POST route=/v1/stones status=201",
        "method=POST route=/v1/stones status=409",
        "method=other route=none status=404",
        "method=GET route=/healthz status=200",
    ):
        assert gained[f"moonstone_request_seconds_count {labels}"] == 1
    assert gained["moonstone_refusals_total code=match-full"] == 1
    assert gained["moonstone_refusals_total code=not-found"] == 1
    lines = [Logfmt().format(record) for record in caplog.records]
    assert [line.partition("method=")[2].partition(" ms=")[0] for line in lines] == [
        "POST route=/v1/stones status=201",
        "POST route=/v1/stones status=409",
        "other route=none status=404",
    ]
    assert not [line for line in lines if TOKEN in line or "opal" in line]


def test_overdue_seconds_are_shown_while_the_log_answers() -> None:
    now = 1_000
    ports = local_ports(GAMES, now=lambda: now)
    client = app_of(Container(ports=ports)).test_client()
    assert samples(client.get("/metrics").text)["moonstone_overdue_seconds"] == 0
    bots = create(ports, "pl_a", NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random")), "key").match
    now = 4_500
    found = samples(client.get("/metrics").text)
    assert (found["moonstone_overdue_seconds"], found["moonstone_bot_matches_waiting"]) == (0, 1)
    assert found["moonstone_erasures_waiting"] == found["moonstone_ratings_waiting"] == 0
    ports.log.rearm(bots.id, bots.head.version, {"rating": now})
    assert samples(client.get("/metrics").text)["moonstone_ratings_waiting"] == 1
    assert (found["moonstone_erasures_waiting"], found["moonstone_calls_overdue_seconds"]) == (0, 0)
    ports.webhooks.watch(("m",), now - 3_000)
    assert samples(client.get("/metrics").text)["moonstone_calls_overdue_seconds"] == 3
    clock = MatchClock(turn_seconds=5)
    match = create(ports, "pl_a", NewMatch(game="monsters_on_the_moon", seats=1, clock=clock), "key 2").match
    join(ports, "pl_a", match.id, "join")
    now = 60_000
    found = samples(client.get("/metrics").text)
    due = ports.log.next_due(("job", "clock"))
    assert due is not None
    assert (found["moonstone_overdue_seconds"], found["moonstone_bot_matches_waiting"]) == ((now - due) / 1000, 1)
    client = app_of(Container(ports=local_ports(GAMES, log=UnavailableLog()))).test_client()
    assert (
        not {"moonstone_overdue_seconds", "moonstone_bot_matches_waiting"} & samples(client.get("/metrics").text).keys()
    )


class UnavailableLog(MemoryLog):
    def count_due(self, kind: str, until: int) -> int:
        del kind, until
        raise LogUnavailable("unavailable")


def test_commands_are_counted_by_result() -> None:
    ports = local_ports(GAMES)
    client = app_of(Container(ports=ports)).test_client()
    before = samples(client.get("/metrics").text)
    wanted = NewMatch(game="monkeys_on_the_moon", seats=2)
    match = create(ports, "pl_a", wanted, "create").match
    create(ports, "pl_a", wanted, "create")
    join(ports, "pl_a", match.id, "join")
    join(ports, "pl_a", match.id, "join")
    with pytest.raises(Refused, match="idempotency-key-reused"):
        join(ports, "pl_a", match.id, "join", seat=1)
    assert (
        append(ports, match, CommandKey("late", "late"), [Draft("seat_left", "worker", b'{"seat":0}')], match.at)
        is None
    )
    after = samples(client.get("/metrics").text)
    gained = {name: value - before.get(name, 0) for name, value in after.items()}
    results = {"appended": 2, "replayed": 2, "reused": 1, "conflict": 1}
    assert {result: gained[f"moonstone_commands_total result={result}"] for result in results} == results
    events = "moonstone_events_appended_total game=monkeys_on_the_moon type="
    assert (gained[f"{events}match_created"], gained[f"{events}seat_taken"]) == (1, 1)
