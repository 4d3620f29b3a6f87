"""`/timeline`, `/diff` and `?view=now`: a line for each version, changes between two versions, and the views of all seats."""

from typing import Any

import pytest

from service.match.model import Match
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.api.table import Table


def newest(client: Client, table: Table) -> Match:
    return client.container.ports.history.newest(table.match_id)[0]


def lines(client: Client, table: Table, query: str = "?limit=500") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.ask(f"/v1/matches/{table.match_id}/timeline{query}")["moments"]
    return found


def test_the_timeline_has_a_line_for_every_version_and_the_last_has_the_scores(client: Client, finished: Table) -> None:
    match, found = newest(client, finished), lines(client, finished)
    assert [line["version"] for line in found] == list(range(1, match.head.version + 1))
    assert found[0]["points"] is None
    assert match.outcome is not None
    assert found[-1]["points"] == list(match.outcome.scores)


def test_a_line_has_the_points_of_its_version(client: Client, finished: Table) -> None:
    for line in lines(client, finished)[::7]:
        points = client.container.ports.history.at(finished.match_id, line["version"]).points(None)
        assert line["points"] == (None if points is None else list(points))


def test_a_line_names_each_clause_of_its_effects_once(client: Client, finished: Table) -> None:
    events = client.ask(f"/v1/matches/{finished.match_id}/events?limit=500")["events"]
    for line, event in zip(lines(client, finished), events, strict=True):
        named = [effect["clause"] for effect in event["data"].get("effects", ()) if "clause" in effect]
        assert line["clauses"] == list(dict.fromkeys(named))


def test_pages_of_lines_follow_each_other_to_the_newest_version(client: Client, running: Table) -> None:
    address, found = f"/v1/matches/{running.match_id}/timeline?limit=7", []
    while address:
        page = client.ask(address)
        found += page["moments"]
        address = page["next"]
    assert found == lines(client, running)


def test_a_line_has_the_text_of_its_event_in_both_languages(client: Client, running: Table) -> None:
    events = client.ask(f"/v1/matches/{running.match_id}/events?include=texts&limit=500")["events"]
    assert [line["text"] for line in lines(client, running)] == [event["text"] for event in events]
    german = client.get(f"/v1/matches/{running.match_id}/timeline", accept_language="de")
    assert german.headers["Content-Language"] == "de"
    assert german.get_json()["moments"][0]["text"].startswith("Eine Partie")


def test_a_diff_has_the_effects_of_the_events_between_two_versions(client: Client, running: Table) -> None:
    match = newest(client, running)
    events = client.ask(f"/v1/matches/{running.match_id}/events?limit=500")["events"]
    for first, last in ((0, match.head.version), (3, 9), (5, 5)):
        diff = client.ask(f"/v1/matches/{running.match_id}/diff?from={first}&to={last}")
        assert (diff["from"], diff["to"]) == (first, last)
        expected = [
            (event["version"], effect)
            for event in events
            if first < event["version"] <= last
            for effect in event["data"].get("effects", ())
        ]
        assert [(found["version"], found["effect"]) for found in diff["effects"]] == expected
        assert all(found["text"] for found in diff["effects"])


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("timeline?after=100000", 404, "version-not-found"),
        ("timeline?viewer=1", 403, "not-your-seat"),
        ("timeline?viewer=9", 400, "invalid-parameter"),
        ("diff?from=3&to=2", 400, "invalid-parameter"),
        ("diff?from=1&to=100000", 404, "version-not-found"),
        ("diff?from=100000", 400, "invalid-parameter"),
        ("diff?from=-1", 400, "invalid-parameter"),
        ("diff?from=1&to=2&viewer=0", 403, "not-your-seat"),
    ],
)
def test_a_wrong_query_is_refused(client: Client, running: Table, query: str, status: int, code: str) -> None:
    assert problem(client.get(f"/v1/matches/{running.match_id}/{query}"))[:2] == (status, code)


def test_after_the_end_everyone_sees_what_every_seat_knew_at_any_version(client: Client, finished: Table) -> None:
    address = f"/v1/matches/{finished.match_id}?version=9"
    shown = client.ask(f"{address}&view=now")
    each = [client.ask(f"{address}&viewer={seat}")["observation"] for seat in (0, 1)]
    assert shown["observations"] == each
    assert shown["observation"]["seats"][0]["hand"] is None
    assert each[0]["seats"][0]["hand"] is not None
    assert "observations" not in client.ask(f"{address}&view=then")


def test_before_the_end_no_viewer_sees_what_every_seat_knows(client: Client, running: Table) -> None:
    for token in (None, running.anna_token, running.ben_token):
        answer = client.get(f"/v1/matches/{running.match_id}?view=now&version=9", token=token)
        assert problem(answer)[:2] == (403, "not-your-seat")


def test_the_answer_to_an_unknown_parameter_names_the_known_ones(client: Client, running: Table) -> None:
    answer = client.get(f"/v1/matches/{running.match_id}/diff?first=3")
    assert "from, to, viewer" in answer.get_data(as_text=True)
