"""Events as pages, streams and files: every viewer gets what `History.events` returns for it, and no more."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.resources.stream_response import STREAMS
from service.audit import match_file
from service.audit.verify import CHECKS, verify
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.match.model import Match
from tests.api.checked import validator
from tests.api.conftest import Container, app_of, problem, settings
from tests.api.table import Table, set_table

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"

Answer = dict[str, Any]


@pytest.fixture(scope="module")
def container() -> Container:
    return Container(settings(requests_by_address=1_000_000, requests_by_token=1_000_000))


@pytest.fixture(scope="module")
def client(container: Container) -> FlaskClient:
    return app_of(container).test_client()


@pytest.fixture(scope="module")
def running(container: Container) -> Table:
    """A running match."""
    table = set_table(container.ports)
    table.play(container.ports, 20)
    return table


@pytest.fixture(scope="module")
def finished(container: Container) -> Table:
    """A finished match."""
    table = set_table(container.ports)
    table.finish(container.ports)
    return table


@pytest.fixture(scope="module")
def hidden(container: Container) -> Table:
    """A private, finished match."""
    table = set_table(container.ports, private=True)
    table.finish(container.ports)
    return table


def newest(container: Container, table: Table) -> Match:
    return container.ports.history.newest(table.match_id)[0]


def history_events(container: Container, table: Table, viewer: Viewer, after: int = 0) -> list[Answer]:
    """The events that `History.events` returns for a viewer, as JSON."""
    events = container.ports.history.events(newest(container, table), viewer, after, 10_000)
    return [msgspec.json.decode(msgspec.json.encode(event)) for event in events]


def bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def whole_stream(client: FlaskClient, address: str, form: str, **headers: str) -> TestResponse:
    """The whole answer of a stream that ends."""
    return client.get(address, headers={"Accept": form, **headers}, buffered=True)


def path(table: Table, query: str = "") -> str:
    return f"/v1/matches/{table.match_id}/events{query}"


def parsed(text: str) -> Iterator[tuple[str, str | None, Answer]]:
    """The frames of an event stream: event, id, data."""
    for block in text.split("\n\n")[:-1]:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            fields[name] = value
        if "event" in fields:
            yield fields["event"], fields.get("id"), msgspec.json.decode(fields["data"])


def check(component: str, value: object) -> None:
    validator({"$ref": f"#/components/schemas/{component}"}).validate(value)


def test_pages_lead_from_the_first_event_to_the_last(client: FlaskClient, container: Container, running: Table) -> None:
    following: str | None = path(running, "?limit=7")
    found = []
    while following is not None:
        response = client.get(following, headers=bearer(running.ben_token))
        page = response.get_json()
        check("EventPage", page)
        assert len(page["events"]) <= 7
        match = newest(container, running)
        assert (page["version"], page["head"]) == (match.head.version, match.head.hash)
        assert response.headers["ETag"] == f'"{page["version"]}-{page["head"][:16]}"'
        found += page["events"]
        following = page["next"]
    assert found == history_events(container, running, 1)


def test_a_page_has_a_hundred_events_unless_more_are_wanted(client: FlaskClient, finished: Table) -> None:
    first = client.get(path(finished)).get_json()
    assert [event["version"] for event in first["events"]] == list(range(1, 101))
    assert first["next"] == path(finished, f"?after=100&head={first['events'][-1]['hash'][:16]}")
    whole = client.get(path(finished, "?limit=500")).get_json()
    assert len(whole["events"]) == whole["version"]
    assert whole["next"] is None
    rest = client.get(path(finished, f"?after={whole['version']}&head={whole['head']}")).get_json()
    assert (rest["events"], rest["next"]) == ([], None)


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_every_format_shows_a_viewer_the_same_events(
    client: FlaskClient, container: Container, finished: Table, viewer: Viewer
) -> None:
    began = container.ports.now()
    seat = "" if viewer is None else f"?viewer={viewer}"
    page = client.get(path(finished, seat + ("&" if seat else "?") + "limit=500")).get_json()["events"]
    lines = whole_stream(client, path(finished, seat), NDJSON)
    frames = list(parsed(whole_stream(client, path(finished, seat), SSE).text))
    expected = history_events(container, finished, viewer)
    assert page == expected
    first, *events, end = [msgspec.json.decode(line) for line in lines.data.split(b"\n") if line]
    assert events == expected
    assert [data for _, _, data in frames[1:-1]] == expected
    assert [(name, id_) for name, id_, _ in frames[1:-1]] == [(event["type"], str(event["version"])) for event in page]
    head = {"version": expected[-1]["version"], "head": expected[-1]["hash"]}
    assert end == {"type": "end", "reason": "finished", **head}
    assert frames[-1] == ("end", None, end)
    name, id_, hello = frames[0]
    check("StreamHello", hello)
    assert began <= first.pop("now") <= hello.pop("now") <= container.ports.now()
    assert first == hello
    assert (name, id_) == ("hello", None)
    assert hello == {
        "type": "hello",
        "match": finished.match_id,
        "status": "finished",
        "viewer": viewer,
        "heartbeat_ms": 5000,
        **head,
    }
    check("StreamEnd", end)


def test_viewers_get_the_same_versions_and_hashes_but_only_their_own_secrets(
    client: FlaskClient, finished: Table
) -> None:
    views = [
        client.get(path(finished, f"?limit=500{seat}")).get_json()["events"] for seat in ("", "&viewer=0", "&viewer=1")
    ]
    for spectator, first, second in zip(*views, strict=True):
        for name in ("version", "type", "at", "by", "prev", "hash"):
            assert spectator[name] == first[name] == second[name]
        for event in (spectator, first, second):
            assert ("salt" in event) is not event.get("redacted", False)
    spectator, first, second = ([event["data"] for event in view] for view in views)
    assert spectator != first != second != spectator


def test_a_stream_is_neither_cached_nor_buffered(client: FlaskClient, finished: Table) -> None:
    for form in (SSE, NDJSON):
        response = whole_stream(client, path(finished), form, **{"Accept-Encoding": "gzip, br"})
        assert response.headers["Content-Type"] == form
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Accel-Buffering"] == "no"
        assert "Accept" in response.headers["Vary"]
        assert "Content-Encoding" not in response.headers
    assert whole_stream(client, path(finished), SSE).text.startswith("retry: 1000\n")


@pytest.mark.parametrize("form", [SSE, NDJSON])
def test_a_stream_continues_after_the_version_in_the_query(
    client: FlaskClient, container: Container, finished: Table, form: str
) -> None:
    text = whole_stream(client, path(finished, "?after=30"), form).text
    versions = [int(version) for version in re.findall(r'"version":(\d+),"type"', text)]
    assert versions == list(range(31, newest(container, finished).head.version + 1))


def test_last_event_id_replaces_after_but_head_is_compared_at_after(
    client: FlaskClient, container: Container, finished: Table
) -> None:
    known = history_events(container, finished, None)[4]
    last_id = {"Last-Event-ID": "50"}
    text = whole_stream(client, path(finished, f"?after=5&head={known['hash']}"), SSE, **last_id).text
    assert next(id_ for _, id_, _ in parsed(text) if id_) == "51"
    assert (
        problem(whole_stream(client, path(finished, f"?after=6&head={known['hash']}"), SSE, **last_id)).code
        == "history-diverged"
    )


def test_an_event_source_that_has_all_events_gets_204(
    client: FlaskClient, container: Container, finished: Table
) -> None:
    headers = {"Accept": SSE, "Last-Event-ID": str(newest(container, finished).head.version)}
    response = client.get(path(finished), headers=headers)
    assert (response.status_code, response.data) == (204, b"")


REFUSED: Final[Mapping[str, tuple[str, dict[str, str], str]]] = {
    "a future version": ("?after=9999", {}, "history-diverged"),
    "a future version, stream": ("?after=9999", {"Accept": NDJSON}, "history-diverged"),
    "a future event id": ("", {"Accept": SSE, "Last-Event-ID": "9999"}, "history-diverged"),
    "another head": ("?after=3&head=" + "0" * 16, {}, "history-diverged"),
    "another genesis head": ("?head=" + "0" * 16, {}, "history-diverged"),
    "another head, stream": ("?after=3&head=" + "0" * 64, {"Accept": SSE}, "history-diverged"),
    "another genesis head, stream": ("?head=" + "0" * 16, {"Accept": NDJSON}, "history-diverged"),
    "a short head": ("?after=3&head=" + "0" * 15, {}, "invalid-parameter"),
    "a negative version": ("?after=-1", {}, "invalid-parameter"),
    "an empty page": ("?limit=0", {}, "invalid-parameter"),
    "a long page": ("?limit=501", {}, "invalid-parameter"),
    "a stream with a limit": ("?limit=5", {"Accept": SSE}, "invalid-parameter"),
    "an unknown parameter": ("?until=5", {}, "invalid-parameter"),
    "a long wait": ("?wait=31", {}, "invalid-parameter"),
    "a stream with a wait": ("?wait=5", {"Accept": SSE}, "invalid-parameter"),
    "a seat that does not exist": ("?viewer=2", {}, "invalid-parameter"),
    "a malformed event id": ("", {"Accept": SSE, "Last-Event-ID": "1-0"}, "invalid-parameter"),
    "an unknown media type": ("", {"Accept": "text/html"}, "not-acceptable"),
    "another's seat": ("?viewer=0", {}, "not-your-seat"),
    "another's seat, stream": ("?viewer=0", {"Accept": SSE}, "not-your-seat"),
    "a wrong token": ("", {"Authorization": "Bearer moon_wrong"}, "token-invalid"),
}


@pytest.mark.parametrize(("query", "headers", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_a_fault_before_a_stream_starts_is_answered_with_a_problem(
    client: FlaskClient, running: Table, query: str, headers: dict[str, str], code: str
) -> None:
    assert problem(client.get(path(running, query), headers=headers)).code == code


def test_a_diverged_client_gets_the_hash_of_the_service(
    client: FlaskClient, container: Container, running: Table
) -> None:
    response = client.get(path(running, "?after=9999"))
    refusal = problem(response).document
    head = newest(container, running).head
    assert (refusal["version"], refusal["head"]) == (head.version, head.hash)
    assert response.headers["ETag"] == f'"{head.version}-{head.hash[:16]}"'


@pytest.mark.parametrize("form", ["application/json", SSE, NDJSON])
def test_a_private_match_is_shown_to_its_players_only(
    client: FlaskClient, hidden: Table, running: Table, form: str
) -> None:
    for token in (None, running.ben_token):
        refusal = problem(client.get(path(hidden), headers={"Accept": form, **bearer(token)}))
        assert refusal.code == "match-not-found"
        unknown = problem(client.get("/v1/matches/nothing/events", headers={"Accept": form, **bearer(token)}))
        assert {**refusal.document, "instance": ""} == {**unknown.document, "instance": ""}
    for token in (hidden.ben_token, hidden.anna_token):
        assert whole_stream(client, path(hidden), form, **bearer(token)).status_code == 200


def test_a_head_request_leaves_no_stream_open(client: FlaskClient, running: Table) -> None:
    assert client.head(path(running), headers={"Accept": SSE}, buffered=True).status_code == 200
    assert client.application.extensions[STREAMS].open == 0


def test_an_export_is_the_match_file_and_passes_every_check(
    client: FlaskClient, container: Container, finished: Table
) -> None:
    response = client.get(f"/v1/matches/{finished.match_id}/export")
    match = newest(container, finished)
    assert response.headers["Content-Type"] == NDJSON
    assert response.headers["Content-Disposition"] == f'attachment; filename="moonstone-{finished.match_id}.ndjson"'
    assert response.headers["ETag"] == f'"{match.head.version}-{match.head.hash[:16]}"'
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    assert response.data == b"".join(match_file.export(container.ports, match))
    same = client.get(f"/v1/matches/{finished.match_id}/export", headers={"If-None-Match": response.headers["ETag"]})
    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", response.headers["ETag"])
    assert same.headers["Cache-Control"] == response.headers["Cache-Control"]
    verdict = verify(response.data.splitlines(keepends=True), GAMES)
    assert (verdict.match.head, verdict.checks) == (match.head, CHECKS)


def test_an_export_needs_the_end_of_the_match_and_access_to_it(
    client: FlaskClient, running: Table, hidden: Table
) -> None:
    assert problem(client.get(f"/v1/matches/{running.match_id}/export")).code == "match-not-finished"
    address = f"/v1/matches/{hidden.match_id}/export"
    for token in (None, running.ben_token):
        assert problem(client.get(address, headers=bearer(token))).code == "match-not-found"
    own = client.get(address, headers=bearer(hidden.ben_token))
    assert (own.status_code, own.headers["Cache-Control"]) == (200, "no-store")
