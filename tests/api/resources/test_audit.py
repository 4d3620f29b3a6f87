"""The audit of a match: checks that passed, checks that need the end of the match, and faults."""

import pytest

from events.memory_log import MemoryLog
from events.record import Head, digest
from service.adapters.memory import local_ports
from service.audit.match_file import export
from service.audit.verify import CHECKS
from service.games.registry import GAMES
from tests.api.checked import MANY, Client
from tests.api.conftest import Container, problem, settings
from tests.api.table import Table, set_table
from tests.service.audit.match_files import File


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def client(log: MemoryLog) -> Client:
    return Client(Container(settings(requests_by_address=MANY), local_ports(GAMES, log=log)))


@pytest.fixture
def table(client: Client) -> Table:
    return set_table(client.container.ports)


def results(client: Client, table: Table) -> dict[str, str]:
    return {check["check"]: check["result"] for check in client.ask(f"/v1/matches/{table.match_id}/audit")["checks"]}


def test_before_the_end_the_chain_can_be_checked(client: Client, table: Table) -> None:
    table.play(client.container.ports, 10)
    assert results(client, table) == {"chain": "passed", **dict.fromkeys(CHECKS[1:], "not_yet")}


def test_after_the_end_everything_is_checked(client: Client, table: Table) -> None:
    match = table.finish(client.container.ports)
    audit = client.ask(f"/v1/matches/{table.match_id}/audit")
    assert results(client, table) == dict.fromkeys(CHECKS, "passed")
    assert (audit["match"], audit["version"], audit["head"]) == (match.id, match.head.version, match.head.hash)


@pytest.mark.parametrize("finished", [False, True])
def test_a_changed_event_is_found_although_its_match_is_in_the_cache(
    client: Client, log: MemoryLog, table: Table, finished: bool
) -> None:
    ports = client.container.ports
    _ = table.finish(ports) if finished else table.play(ports, 10)
    events = log._matches[table.match_id].events
    events[6] = events[6].replace(b'"seat":0', b'"seat":1', 1)
    checks = {check["check"]: check for check in client.ask(f"/v1/matches/{table.match_id}/audit")["checks"]}
    assert checks["chain"]["result"] == "failed"
    assert checks["chain"]["version"] in {7, 8}
    assert {checks[check]["result"] for check in CHECKS[1:]} == {"not_checked" if finished else "not_yet"}


def test_a_forged_outcome_is_named_although_its_chain_is_valid(client: Client, log: MemoryLog, table: Table) -> None:
    match = table.finish(client.container.ports)
    file = File(tuple(line[:-1] for line in export(client.container.ports, match)))
    at = file.find("match_scored")
    file.events[at]["data"]["outcome"]["winners"] = [0, 1]
    stored = log._matches[table.match_id]
    stored.events[:] = file.sealed()[1:]
    stored.head = Head(len(stored.events), digest(stored.events[-1]))
    audit = client.ask(f"/v1/matches/{table.match_id}/audit")
    assert audit["head"] == stored.head.hash
    assert audit["checks"] == [
        {"check": "chain", "result": "passed", "version": None, "detail": None},
        *({"check": check, "result": "not_checked", "version": None, "detail": None} for check in CHECKS[1:4]),
        {
            "check": "outcome",
            "result": "failed",
            "version": at,
            "detail": "outcome: not what the seed and the rules give",
        },
    ]


def test_audits_have_a_stricter_limit_than_other_requests() -> None:
    client = Client(Container(settings(audits_by_caller=2, requests_by_address=MANY)))
    path = f"/v1/matches/{set_table(client.container.ports).match_id}"
    answers = [client.get(f"{path}/audit") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert problem(answers[-1]).code == "rate-limited"
    assert answers[0].headers["RateLimit-Policy"] == '"audits";q=2;w=60'
    assert client.get(path).status_code == 200
