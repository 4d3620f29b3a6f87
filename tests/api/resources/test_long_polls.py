"""Long polling: a page waits only for its first event."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from api.resources import stream_response
from service.subscriptions.streams import MAX_STREAMS_PER_HOLDER
from tests.api.checked import Client, Json
from tests.api.conftest import problem
from tests.api.table import Table, set_table
from tests.waiting import until

IMMEDIATELY_S: Final = 10
"""Far less than a request would wait."""
WAIT_S: Final = 20


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def table(client: Client) -> Table:
    return set_table(client.container.ports)


def newest(client: Client, table: Table) -> Json:
    return client.ask(f"/v1/matches/{table.match_id}")


def poll(client: Client, table: Table, after: int, wait: int = WAIT_S, token: str | None = None) -> tuple[Json, float]:
    began = time.monotonic()
    page = client.ask(f"/v1/matches/{table.match_id}/events?after={after}&wait={wait}", token)
    return page, time.monotonic() - began


@contextmanager
def while_a_request_waits(client: Client, act: Callable[[], object]) -> Iterator[None]:
    """Call `act` in another thread as soon as a request waits."""

    def run() -> None:
        until(lambda: client.container.feed._waiters, IMMEDIATELY_S, "a request waits")
        act()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def test_an_empty_page_waits_until_something_happens(client: Client, table: Table) -> None:
    version = newest(client, table)["version"]
    with while_a_request_waits(client, lambda: table.play(client.container.ports)):
        page, took = poll(client, table, version)
    assert took < IMMEDIATELY_S
    assert [event["version"] for event in page["events"]][:1] == [version + 1]


def test_a_page_with_events_does_not_wait(client: Client, table: Table) -> None:
    page, took = poll(client, table, newest(client, table)["version"] - 1)
    assert took < IMMEDIATELY_S
    assert len(page["events"]) == 1


def test_a_wait_without_an_event_ends_with_an_empty_page(client: Client, table: Table) -> None:
    view = newest(client, table)
    page, took = poll(client, table, view["version"], wait=1)
    assert took >= 1
    assert (page["events"], page["next"], page["version"]) == ([], None, view["version"])


def test_a_long_poll_of_a_finished_match_returns_immediately(client: Client, table: Table) -> None:
    table.finish(client.container.ports)
    page, took = poll(client, table, newest(client, table)["version"])
    assert took < IMMEDIATELY_S
    assert page["events"] == []


def test_a_long_poll_with_the_tag_of_the_newest_version_gets_304(client: Client, table: Table) -> None:
    view = newest(client, table)
    tag = f'"{view["version"]}-{view["head"][:16]}"'
    path = f"/v1/matches/{table.match_id}/events?after={view['version']}&wait=1"
    assert client.get(path, if_none_match=tag).status_code == 304


def test_a_long_poll_with_another_head_is_answered_immediately(client: Client, table: Table) -> None:
    version = newest(client, table)["version"]
    began = time.monotonic()
    refusal = problem(client.get(f"/v1/matches/{table.match_id}/events?after={version}&head={'0' * 16}&wait=30"))
    assert (refusal.code, time.monotonic() - began < IMMEDIATELY_S) == ("history-diverged", True)


def test_a_server_that_stops_answers_waiting_requests(client: Client, table: Table) -> None:
    version = newest(client, table)["version"]
    with while_a_request_waits(client, client.container.feed.close):
        page, took = poll(client, table, version)
    assert took < IMMEDIATELY_S
    assert page["events"] == []


def test_a_token_that_is_revoked_during_a_long_poll_gets_nothing(client: Client, table: Table) -> None:
    version = newest(client, table)["version"]

    def revoke_and_play() -> None:
        client.send("DELETE", "/v1/me/tokens/current", token=table.ben_token)
        table.play(client.container.ports)

    with while_a_request_waits(client, revoke_and_play):
        response = client.get(f"/v1/matches/{table.match_id}/events?after={version}&wait={WAIT_S}", table.ben_token)
    assert problem(response).code == "token-invalid"


def test_a_waiting_request_counts_as_a_stream_until_it_is_answered(client: Client, table: Table) -> None:
    version = newest(client, table)["version"]
    with client.app.test_request_context():
        streams = stream_response.streams()
    holder = "address 127.0.0.1"
    slots = [streams.enter(holder) for _ in range(MAX_STREAMS_PER_HOLDER)]
    path = f"/v1/matches/{table.match_id}/events?after={version}&wait=1"
    assert problem(client.get(path)).code == "too-many-streams"
    slots[0].release()
    assert client.get(path).status_code == 200
    assert streams.open == MAX_STREAMS_PER_HOLDER - 1
