"""An action is applied once however often it is sent, and with If-Match only to the version that the player saw."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from events.log import Append, Appended, Conflict, Reused, Tail
from events.memory_log import MemoryLog
from service.adapters.memory import local_ports
from service.automation.deadlines import enforce
from service.games.registry import GAMES
from tests.api.checked import Client
from tests.api.conftest import Container, problem, settings
from tests.api.two_seats import Seated, seated, unlimited


@pytest.fixture
def table() -> Seated:
    return seated()


def test_a_receipt_has_the_event_and_the_next_decisions(table: Seated) -> None:
    action = table.actions()[0]
    response = table.act({"action": action})
    receipt = response.get_json()
    assert response.status_code == 201
    assert receipt["version"] == 5
    assert response.headers["ETag"] == f'"5-{receipt["head"][:16]}"'
    assert response.headers["Location"] == f"{table.path}?version=5"
    assert receipt["event"]["data"]["action"] == action
    assert receipt["event"]["hash"] == receipt["head"]
    assert receipt["received_at"] == receipt["event"]["at"]
    view = table.client.get(response.headers["Location"], table.turn)
    assert view.headers["ETag"] == response.headers["ETag"]
    assert view.get_json()["decisions"] == receipt["decisions"]


def test_the_same_key_gets_the_same_receipt_after_any_number_of_later_events(table: Seated) -> None:
    body = {"action": table.actions()[0]}
    first = table.act(body, idempotency_key="move-1")
    while table.client.ask(table.path)["decisions"][0]["seat"] == first.get_json()["event"]["data"]["seat"]:
        table.act({"action": table.actions()[0]})
    other = table.client.ask(f"{table.path}/legal-actions", table.other)["actions"][0]
    table.act({"action": other}, table.other)
    before = table.client.log(table.match)
    again = table.act(body, idempotency_key='"move-1"', if_match='"1-0000000000000000"')
    assert (again.status_code, again.get_data()) == (201, first.get_data())
    assert again.headers["Idempotent-Replay"] == "true"
    assert all(again.headers[name] == first.headers[name] for name in ("ETag", "Location"))
    assert table.client.log(table.match) == before


def test_a_command_sent_many_times_simultaneously_is_applied_once(table: Seated) -> None:
    body = {"action": table.actions()[0]}
    barrier = threading.Barrier(8)

    def send(_: int) -> bytes:
        barrier.wait()
        response = table.act(body, idempotency_key="once")
        assert response.status_code == 201
        receipt: bytes = response.get_data()
        return receipt

    with ThreadPoolExecutor(8) as pool:
        receipts = set(pool.map(send, range(8)))
    assert len(receipts) == 1
    assert len(table.client.log(table.match)) == 5


def test_a_dry_run_gets_the_answer_of_a_real_run_and_changes_nothing(table: Seated) -> None:
    before = table.client.log(table.match)
    legal = table.actions()
    for action in legal:
        answer = table.client.post(f"{table.path}/actions?dry_run=true", {"action": action}, table.turn)
        assert (answer.status_code, answer.get_json()) == (200, {"legal": True})
    wrong = {"action": {"type": "pass"}}
    dry, real = (
        problem(table.client.post(f"{table.path}/actions{query}", wrong, table.turn)).document
        for query in ("?dry_run=true", "")
    )
    assert {**dry, "instance": ""} == {**real, "instance": ""}
    assert table.client.log(table.match) == before


def test_an_illegal_action_gets_its_reason_its_clause_and_the_legal_actions(table: Seated) -> None:
    refusal = problem(table.act({"action": {"type": "pass"}}))
    assert (refusal.status, refusal.code) == (409, "illegal-action")
    assert refusal.document["clause"].startswith("MOM-")
    assert refusal.document["reason"]
    assert refusal.document["legal"] == table.actions()
    assert sum(refusal.document["legal_counts"].values()) == len(table.actions())
    assert refusal.document["decisions"] == table.client.ask(table.path, table.turn)["decisions"]
    assert refusal.document["version"] == 4


def test_if_match_accepts_an_action_only_at_the_version_that_was_seen(table: Seated) -> None:
    old, new = (table.client.get(f"{table.path}?version={version}").headers["ETag"] for version in (3, 4))
    body = {"action": table.actions()[0]}
    stale = table.act(body, if_match=old)
    assert problem(stale)[:2] == (412, "stale-version")
    assert stale.headers["ETag"] == new
    assert problem(table.act(body, if_match='"other"')).code == "stale-version"
    for diverged in ('"4-0123456789abcdef"', '"3-0123456789abcdef"', f'"5-{new[3:19]}"'):
        assert problem(table.act(body, if_match=diverged))[:2] == (409, "history-diverged")
    assert problem(table.act(body, if_match="4"))[:2] == (400, "invalid-parameter")
    assert len(table.client.log(table.match)) == 4
    for header in ("*", new):
        dry = table.client.post(f"{table.path}/actions?dry_run=true", body, table.turn, if_match=header)
        assert dry.status_code == 200
    assert table.act(body, if_match=f"{old}, W/{new}").status_code == 201
    # Without If-Match an action applies to the newest version.
    turn = table.client.ask(table.path)["decisions"][0]["seat"]
    token = table.turn if turn == table.client.ask(table.path, table.turn)["viewer"] else table.other
    legal = table.client.ask(f"{table.path}/legal-actions", token)["actions"]
    assert table.act({"action": legal[0]}, token).status_code == 201


def test_a_key_used_again_for_another_action_is_refused(table: Seated) -> None:
    first, second = table.actions()[:2]
    table.act({"action": first}, idempotency_key="k")
    before = table.client.log(table.match)
    assert problem(table.act({"action": second}, idempotency_key="k"))[:2] == (422, "idempotency-key-reused")
    assert table.client.log(table.match) == before


def test_an_action_may_name_its_decision_and_its_seat(table: Seated) -> None:
    view = table.client.ask(table.path, table.turn)
    decision = view["decisions"][0]["id"]
    wanted = {"action": table.actions()[0], "decision": decision, "seat": view["viewer"]}
    assert table.act(wanted).status_code == 201
    assert problem(table.act(wanted)).code == "decision-closed"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000_000

    def __call__(self) -> int:
        return self.now


def test_after_the_deadline_the_default_action_is_played() -> None:
    clock = Clock()
    container = Container(unlimited(), local_ports(GAMES, clock))
    table = seated(container, clock={"turn_seconds": 30})
    action = table.actions()[0]
    clock.now += 30_000
    assert problem(table.act({"action": action}))[:2] == (409, "too-late")
    clock.now += 1_000
    enforce(container.ports, table.match)
    page = table.client.ask(table.path)
    assert page["version"] == 5
    assert page["decisions"][0]["deadline"] == clock.now + 30_000


def test_a_player_who_left_cannot_act(table: Seated) -> None:
    action = table.actions()[0]
    table.client.do(f"{table.path}/leave", token=table.turn)
    assert problem(table.act({"action": action})).code == "not-seated"


class CountedLog(MemoryLog):
    """Records every call that would be a round trip to a real log."""

    def __init__(self) -> None:
        super().__init__()
        self.trips: list[str] = []

    def append(self, append: Append) -> Appended | Conflict | Reused:
        self.trips.append("append")
        return super().append(append)

    def read(self, match: str, *, first: int | None = 1, last: int | None = None, command: str | None = None) -> Tail:
        self.trips.append("read")
        return super().read(match, first=first, last=last, command=command)

    def seed(self, match: str) -> bytes | None:
        self.trips.append("seed")
        return super().seed(match)


def test_an_action_makes_two_round_trips_to_the_log_and_a_read_one() -> None:
    log = CountedLog()
    table = seated(Container(unlimited(), local_ports(GAMES, log=log)))
    action = table.actions()[0]
    log.trips.clear()
    assert table.act({"action": action}).status_code == 201
    assert log.trips == ["read", "append"]
    log.trips.clear()
    table.client.ask(table.path, table.turn)
    assert log.trips == ["read"]


def test_moves_are_counted_separately_from_all_other_requests() -> None:
    client = Client(Container(settings(requests_by_token=3, moves_by_token=2, requests_by_address=1000)))
    token = client.sign_up()
    for path in ("/v1/me", "/v1/games", "/v1/bots"):
        assert client.get(path, token).headers["RateLimit-Policy"] == '"token";q=3;w=10'
    assert problem(client.get("/v1/me", token)).code == "rate-limited"
    moves = [client.post("/v1/matches/none/actions", {"action": {}}, token) for _ in range(3)]
    assert [problem(move).code for move in moves] == ["match-not-found", "match-not-found", "rate-limited"]
    assert [move.headers["RateLimit-Policy"] for move in moves] == ['"moves";q=2;w=10'] * 3
    assert moves[1].headers["RateLimit"].startswith('"moves";r=0;t=')
