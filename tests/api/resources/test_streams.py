"""`/v1/streams`: access, the version at which a stream continues, and refused requests."""

from collections.abc import Mapping
from contextlib import closing
from typing import Final
from urllib.parse import urlencode

import msgspec
import pytest

from api.resources.stream_response import STREAMS
from events.memory_log import MemoryLog
from events.record import MatchId
from tests.api.checked import Client, Json
from tests.api.conftest import problem
from tests.api.table import Table, set_table

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(unchecked=True)


@pytest.fixture(scope="module")
def tables(client: Client) -> list[Table]:
    """Two running matches and a finished one."""
    tables = [set_table(client.container.ports) for _ in range(3)]
    for table in tables[:2]:
        table.play(client.container.ports, 6)
    tables[2].finish(client.container.ports)
    return tables


def address_of(*matches: str, **more: str) -> str:
    return f"/v1/streams?{urlencode([*(('match', match) for match in matches), *more.items()], safe=':')}"


def ids(tables: list[Table]) -> list[MatchId]:
    return [table.match_id for table in tables]


def pieces(client: Client, address: str, count: int, headers: Mapping[str, str]) -> list[bytes]:
    """The first chunks of a stream, which is closed afterwards."""
    with closing(client.app.test_client().get(address, headers=headers)) as answer:
        assert answer.status_code == 200, answer.get_data()
        found = answer.iter_encoded()
        return [next(found) for _ in range(count)]


def frames(client: Client, address: str, count: int, token: str | None = None) -> list[Json]:
    """The frames in the first chunks of an NDJSON stream."""
    headers = {"Accept": NDJSON} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    lines = b"".join(pieces(client, address, count, headers)).split(b"\n")
    return [msgspec.json.decode(line) for line in lines if line]


def test_a_stream_has_at_most_a_hundred_matches(client: Client) -> None:
    many = ids([set_table(client.container.ports) for _ in range(101)])
    (hello,) = frames(client, address_of(*many[:100]), 1)
    assert [match["match"] for match in hello["matches"]] == many[:100]
    found = problem(client.get(address_of(*many)))
    assert (found.code, found.document["errors"][0]["parameter"]) == ("invalid-parameter", "match")


def test_a_seated_player_gets_what_a_spectator_gets(client: Client, tables: list[Table]) -> None:
    """Ben has a seat in the first match; only the stream of that match shows his hand."""
    first = tables[0]
    address = address_of(f"{first.match_id}:0", include="texts,decisions")
    _, *events = frames(client, address, 2)
    assert frames(client, address, 2, first.ben_token)[1:] == events
    own = client.ask(f"/v1/matches/{first.match_id}/events?limit=500", first.ben_token)["events"]
    assert len(own) == len(events)
    assert any(event["data"] != frame["data"] for event, frame in zip(own, events, strict=True))


def test_each_match_continues_after_the_version_in_the_query(client: Client, tables: list[Table]) -> None:
    one, two, finished = ids(tables)
    hello, *events = frames(client, address_of(f"{one}:3", two, f"{finished}:40"), 4)
    newest = {match["match"]: match["version"] for match in hello["matches"]}
    for match, after in ((one, 3), (two, newest[two]), (finished, 40)):
        sent = [frame["version"] for frame in events if frame["match"] == match and frame["type"] != "match_end"]
        assert sent == list(range(after + 1, newest[match] + 1))
    assert [frame["match"] for frame in events if frame["type"] == "match_end"] == [finished]


def test_last_event_id_replaces_the_versions_in_the_query(client: Client, tables: list[Table]) -> None:
    one, two, _ = ids(tables)
    address = address_of(f"{one}:1", two)
    newest = [client.ask(f"/v1/matches/{match}")["version"] for match in (one, two)]
    last = f"{newest[0] - 1},{newest[1]}"
    hello, event = pieces(client, address, 2, {"Accept": SSE, "Last-Event-ID": last})
    assert f"id: {last}\n".encode() in hello
    assert event.count(b"event: ") == 1
    assert event.endswith(f"\n\nid: {newest[0]},{newest[1]}\n\n".encode())


def test_an_event_source_with_all_events_of_finished_matches_gets_204(client: Client, tables: list[Table]) -> None:
    finished = tables[2].match_id
    newest = client.ask(f"/v1/matches/{finished}")["version"]
    assert client.get(address_of(finished), accept=SSE, last_event_id=str(newest)).status_code == 204
    assert client.get(address_of(finished), accept=SSE, last_event_id=str(newest - 1)).status_code == 200


def test_missing_private_and_damaged_matches_get_the_same_answer(client: Client) -> None:
    ports = client.container.ports
    public, private, broken = set_table(ports), set_table(ports, private=True), set_table(ports)
    private_and_broken = set_table(ports, private=True)
    assert isinstance(ports.log, MemoryLog)
    for table in (broken, private_and_broken):
        ports.log._matches[table.match_id].events.append(b"{}")
    missing = "a" * len(public.match_id)
    details = set()
    for match in (private.match_id, broken.match_id, private_and_broken.match_id, missing):
        for token in (None, private.anna_token):
            found = problem(client.get(address_of(public.match_id, match), token))
            assert (found.status, found.code) == (404, "match-not-found")
            details.add(found.document["detail"].replace(match, "…"))
    assert len(details) == 1


@pytest.mark.parametrize(
    ("query", "last", "parameter"),
    [
        ("match={0}&match={0}", None, "match"),
        ("match={0}&match={0}:3", None, "match"),
        ("match={0}:", None, "match"),
        ("match={0}:01", None, "match"),
        ("match={0}:-1", None, "match"),
        ("match={0},{1}", None, "match"),
        ("match=", None, "match"),
        ("include=texts", None, "match"),
        ("match={0}&include=legal_actions", None, "include"),
        ("match={0}&match={1}", "3", "Last-Event-ID"),
        ("match={0}", "3,4", "Last-Event-ID"),
        ("match={0}", "3,", "Last-Event-ID"),
    ],
)
def test_an_invalid_query_or_event_id_is_refused(
    client: Client, tables: list[Table], query: str, last: str | None, parameter: str
) -> None:
    headers = {} if last is None else {"last_event_id": last}
    found = problem(client.get(f"/v1/streams?{query.format(*ids(tables))}", accept=SSE, **headers))
    faults = {error["parameter"].partition("/")[0] for error in found.document["errors"]}
    assert (found.code, faults) == ("invalid-parameter", {parameter})


def test_a_future_version_gets_history_diverged(client: Client, tables: list[Table]) -> None:
    found = problem(client.get(address_of(tables[0].match_id, f"{tables[1].match_id}:100000")))
    assert (found.status, found.code) == (409, "history-diverged")


def test_a_stream_of_several_matches_counts_once_and_accepts_a_ticket() -> None:
    client = Client(unchecked=True)
    tables = [set_table(client.container.ports) for _ in range(2)]
    ticket = client.do("/v1/stream-tickets", token=tables[0].ben_token)["ticket"]
    address = address_of(*ids(tables), ticket=ticket)
    with closing(client.app.test_client().get(address)) as answer:
        next(answer.iter_encoded())
        assert client.app.extensions[STREAMS].open == 1
    assert problem(client.get(address)).code == "ticket-invalid"
    assert client.app.extensions[STREAMS].open == 0
