"""`include` adds to events what reading the match at their version shows to the same viewer."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

import msgspec
import pytest

from tests.api.checked import Client, Json
from tests.api.conftest import problem
from tests.api.table import set_table
from tests.api.two_seats import Seated, seated

ALL: Final = "decisions,legal_actions,texts"
PAGE: Final = "application/json"
FORMS: Final = (PAGE, "application/x-ndjson", "text/event-stream")
MOVES: Final = 12


@pytest.fixture(scope="module")
def match() -> Seated:
    """A running match with a clock."""
    found = seated(clock={"bank_seconds": 600, "increment_seconds": 5})
    tokens = (found.turn, found.other)
    for _ in range(MOVES):
        views = [found.client.ask(f"{found.path}?include=legal_actions", token) for token in tokens]
        seat = next(seat for seat, view in enumerate(views) if view["legal_actions"])
        found.act({"action": views[seat]["legal_actions"][0]}, tokens[seat])
    return found


def frames(match: Seated, query: str, token: str | None, form: str) -> tuple[Json, Sequence[Json]]:
    """The page or the `hello` of the stream, and all its events up to the newest."""
    path = f"{match.path}/events?{query}"
    if form == PAGE:
        page = match.client.ask(f"{path}&limit=500", token)
        return page, page["events"]
    newest = match.client.ask(match.path, token)["version"]
    rights = {} if token is None else {"Authorization": f"Bearer {token}"}
    with closing(match.client.app.test_client().get(path, headers={"Accept": form, **rights})) as answer:
        first, *events = _until(newest, answer.iter_encoded())
    return first, events


def _until(version: int, pieces: Iterator[bytes]) -> Iterator[Json]:
    for piece in pieces:
        for line in piece.split(b"\n"):
            text = line.removeprefix(b"data: ")
            if text.startswith(b"{"):
                frame = msgspec.json.decode(text)
                yield frame
                if frame["version"] == version and frame["type"] != "hello":
                    return
        if frame["type"] == "hello" and "decisions" in frame:
            return


def viewers(match: Seated) -> tuple[str | None, ...]:
    return None, match.turn, match.other


@pytest.mark.parametrize("form", FORMS)
def test_every_event_has_the_decisions_that_were_open_right_after_it(match: Seated, form: str) -> None:
    for token in viewers(match):
        _, events = frames(match, "include=texts,decisions", token, form)
        assert [event["version"] for event in events] == list(range(1, len(events) + 1))
        assert len(events) > MOVES
        for event in events:
            view = match.client.ask(f"{match.path}?include=texts&version={event['version']}", token)
            assert (event["decisions"], event["banks"]) == (view["decisions"], view["banks"])
            assert "legal_actions" not in event
    assert len({tuple(event["banks"]) for event in events}) > 2


@pytest.mark.parametrize("form", FORMS)
def test_only_the_newest_event_has_legal_actions_and_only_those_of_the_viewer(match: Seated, form: str) -> None:
    lists = []
    for token in viewers(match):
        view = match.client.ask(f"{match.path}?include=legal_actions,texts", token)
        for query in (f"include={ALL}", f"include={ALL}&after={view['version'] - 1}"):
            _, (*older, newest) = frames(match, query, token, form)
            for field in ("legal_actions", "action_texts"):
                assert newest[field] == view[field]
                assert not any(field in event for event in older)
        _, (*_, newest) = frames(match, "include=legal_actions", token, form)
        assert newest["legal_actions"] == view["legal_actions"]
        assert not {"decisions", "banks", "text", "action_texts"} & newest.keys()
        lists.append(newest["legal_actions"])
    assert sorted(map(bool, lists)) == [False, False, True]


@pytest.mark.parametrize("form", FORMS)
def test_a_client_that_has_all_events_gets_the_open_decisions_immediately(match: Seated, form: str) -> None:
    for token in viewers(match):
        view = match.client.ask(f"{match.path}?include=legal_actions,texts", token)
        first, events = frames(match, f"include={ALL}&after={view['version']}", token, form)
        assert not events
        assert {name: first[name] for name in ("decisions", "banks", "legal_actions", "action_texts")} == {
            name: view[name] for name in ("decisions", "banks", "legal_actions", "action_texts")
        }


def test_a_finished_match_has_no_open_decision() -> None:
    client = Client()
    table = set_table(client.container.ports)
    head = table.finish(client.container.ports).head
    path = f"/v1/matches/{table.match_id}/events?limit=500&include={ALL}"
    page = client.ask(path, table.ben_token)
    assert page["events"][-1]["decisions"] == []
    assert not any("legal_actions" in event for event in page["events"])
    rest = client.ask(f"{path}&after={head.version}", table.ben_token)
    assert (rest["events"], rest["decisions"], "legal_actions" in rest) == ([], [], False)


def test_the_next_page_has_the_same_include(match: Seated) -> None:
    page = match.client.ask(f"{match.path}/events?limit=3&include={ALL}", match.turn)
    assert "legal_actions" not in page["events"][-1]
    whole = list(page["events"])
    while page["next"]:
        page = match.client.ask(page["next"], match.turn)
        whole += page["events"]
    assert tuple(whole) == tuple(frames(match, f"include={ALL}", match.turn, PAGE)[1])


@pytest.mark.parametrize("wanted", ["", "decision", "decisions,", "texts legal_actions", "all", "decisions,,texts"])
def test_unknown_names_are_refused(match: Seated, wanted: str) -> None:
    refusal = problem(match.client.get(f"{match.path}/events?include={wanted}"))
    assert (refusal.code, refusal.document["errors"][0]["parameter"]) == ("invalid-parameter", "include")
    assert "decisions, legal_actions, texts" in refusal.document["detail"]
