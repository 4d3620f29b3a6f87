"""Texts, if they are requested, in English and German."""

from collections.abc import Mapping

import pytest

from tests.api.checked import Client
from tests.api.conftest import problem
from tests.api.problems.test_documents import play_until_to_move
from tests.api.table import Table, set_table
from tests.api.two_seats import seated

GERMAN = {"accept_language": "de-AT, en;q=0.5"}


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def table(client: Client) -> Table:
    made = set_table(client.container.ports)
    made.play(client.container.ports, 10)
    return made


def test_a_refusal_by_the_rules_is_in_the_requested_language(client: Client) -> None:
    token = client.sign_up()
    match = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random"]}, token)["id"]
    client.do(f"/v1/matches/{match}/seats", {}, token)
    play_until_to_move(client, match, token)
    wrong = {"action": {"type": "leave_behind", "tribe": "red"}}
    answers = [
        client.post(f"/v1/matches/{match}/actions", wrong, token, **headers)
        for headers in ({}, GERMAN, {"accept_language": "fr"}, {"accept_language": "*"})
    ]
    details = [problem(answer).document["detail"] for answer in answers]
    assert details[0] == details[2] == details[3] != details[1]
    assert [answer.headers["Content-Language"] for answer in answers] == ["en", "de", "en", "en"]
    assert all("Accept-Language" in answer.headers["Vary"] for answer in answers)


def test_a_refusal_before_the_rules_run_is_in_the_requested_language() -> None:
    table = seated()
    move, stranger = {"action": {"type": "pass"}}, table.client.sign_up()
    mine = table.client.ask(table.path, table.turn)["viewer"]
    moves: list[tuple[str, Mapping[str, object], str, Mapping[str, str]]] = [
        ("not-your-turn", move, table.other, {}),
        ("not-seated", move, stranger, {}),
        ("not-your-seat", {**move, "seat": 1 - mine}, table.turn, {}),
        ("decision-closed", {**move, "decision": "0:1"}, table.turn, {}),
        ("stale-version", move, table.turn, {"if_match": '"other"'}),
        ("history-diverged", move, table.turn, {"if_match": '"99-0123456789abcdef"'}),
    ]
    requests = [
        (code, f"{table.path}/actions{query}", body, token, headers)
        for code, body, token, headers in moves
        for query in ("", "?dry_run=true")
    ]
    for code, path, body, token, headers in [*requests, ("not-seated", f"{table.path}/leave", None, stranger, {})]:
        english, german, french = (
            table.client.post(path, body, token, **headers, **language)
            for language in ({}, GERMAN, {"accept_language": "fr"})
        )
        problems = [problem(answer).document | {"instance": ""} for answer in (english, german, french)]
        assert {one["code"] for one in problems} == {code}
        assert problems[0] == problems[2]
        assert problems[0]["detail"] != problems[1]["detail"]
        assert problems[0] | {"detail": ""} == problems[1] | {"detail": ""}
        assert [answer.headers["Content-Language"] for answer in (english, german, french)] == ["en", "de", "en"]
        assert all("Accept-Language" in answer.headers["Vary"] for answer in (english, german, french))


@pytest.mark.parametrize(("headers", "language"), [({}, "en"), (GERMAN, "de")])
def test_decisions_and_events_have_texts_only_on_request(
    client: Client, table: Table, headers: dict[str, str], language: str
) -> None:
    path = f"/v1/matches/{table.match_id}"
    texts = client.container.ports.games["monkeys_on_the_moon"].texts[language]
    plain = client.get(path, **headers).get_json()
    answer = client.get(f"{path}?include=texts", **headers)
    view = answer.get_json()
    assert [decision.pop("text") for decision in view["decisions"]] == [
        texts[f"step.{decision['step']}"] for decision in plain["decisions"]
    ]
    assert view == plain
    assert answer.headers["Content-Language"] == language
    page = client.get(f"{path}/events", **headers).get_json()
    with_texts = client.get(f"{path}/events?include=texts", **headers)
    events = with_texts.get_json()
    found = [event.pop("text") for event in events["events"]]
    assert events == page
    assert with_texts.headers["Content-Language"] == language
    assert all(found)


def test_legal_actions_and_texts_can_be_included_together(client: Client, table: Table) -> None:
    spectator = client.ask(f"/v1/matches/{table.match_id}?include=legal_actions,texts")
    assert (spectator["legal_actions"], spectator["action_texts"]) == ([], [])
    assert all(decision["text"] for decision in spectator["decisions"])
    match = seated()
    view = match.client.ask(f"{match.path}?include=texts,legal_actions", match.turn)
    listed = match.client.ask(f"{match.path}/legal-actions?include=texts", match.turn)
    assert (view["legal_actions"], view["action_texts"]) == (listed["actions"], listed["texts"])
    assert "action_texts" not in match.client.ask(f"{match.path}?include=legal_actions", match.turn)


@pytest.mark.parametrize(("headers", "language"), [({}, "en"), (GERMAN, "de")])
def test_legal_actions_and_receipts_have_texts_on_request(headers: dict[str, str], language: str) -> None:
    table = seated()
    texts = table.client.container.ports.games["monkeys_on_the_moon"].texts[language]
    plain = table.client.get(f"{table.path}/legal-actions", table.turn, **headers).get_json()
    answered = table.client.get(f"{table.path}/legal-actions?include=texts", table.turn, **headers)
    listed = answered.get_json()
    assert answered.headers["Content-Language"] == language
    assert len(listed["texts"]) == len(listed["actions"]) > 0
    assert [one.pop("text") for one in listed["decisions"]] == [
        texts[f"step.{one['step']}"] for one in plain["decisions"]
    ]
    assert {**listed, "texts": None} == {**plain, "texts": None}
    body = {"action": plain["actions"][0]}
    acted = [
        table.client.post(f"{table.path}/actions{query}", body, table.turn, idempotency_key="one", **headers)
        for query in ("?include=texts", "", "?include=texts")
    ]
    first, without_texts, again = (answer.get_json() for answer in acted)
    assert first == again
    assert (acted[0].headers["Content-Language"], "Content-Language" in acted[1].headers) == (language, False)
    assert first["event"].pop("text")
    assert [one.pop("text") for one in first["decisions"]] == [
        texts[f"step.{one['step']}"] for one in first["decisions"]
    ]
    assert first == without_texts


def test_the_next_page_after_one_with_texts_has_texts(client: Client, table: Table) -> None:
    page = client.ask(f"/v1/matches/{table.match_id}/events?include=texts&limit=2")
    assert client.ask(page["next"])["events"][0]["text"]


@pytest.mark.parametrize("form", ["application/x-ndjson", "text/event-stream"])
def test_a_stream_uses_the_language_of_each_client(form: str) -> None:
    client = Client(unchecked=True)
    table = set_table(client.container.ports)
    table.finish(client.container.ports)
    path = f"/v1/matches/{table.match_id}/events"
    german, english, without_texts = (
        client.get(f"{path}{query}", accept=form, **headers).get_data(as_text=True)
        for query, headers in (("?include=texts", GERMAN), ("?include=texts", {}), ("", GERMAN))
    )
    assert "Die Partie beginnt." in german
    assert "The match starts." in english
    assert '"text":' not in without_texts


@pytest.mark.parametrize("query", ["include=texts", "version=4&include=texts", "include=texts&viewer=1"])
@pytest.mark.parametrize("resource", ["", "/legal-actions", "/events"])
def test_an_answer_with_texts_is_never_304(client: Client, table: Table, resource: str, query: str) -> None:
    path = f"/v1/matches/{table.match_id}{resource}"
    if resource == "/events":
        query = query.replace("version=", "after=")
    english = client.get(f"{path}?{query}", table.ben_token)
    tag = english.headers["ETag"]
    for headers in (GERMAN, {}):
        again = client.get(f"{path}?{query}", table.ben_token, if_none_match=tag, **headers)
        assert (again.status_code, again.headers["ETag"]) == (200, tag)
        assert "Accept-Language" in again.headers["Vary"]
        assert (again.get_json() == english.get_json()) is not bool(headers), "only another language has other texts"
    for headers in (GERMAN, {}):
        # An answer without texts is the same in every language.
        plain = query.replace("include=texts", "").strip("&")
        first = client.get(f"{path}?{plain}", table.ben_token, **headers)
        assert "Accept-Language" not in first.headers.get("Vary", "")
        same = client.get(f"{path}?{plain}", table.ben_token, if_none_match=first.headers["ETag"], **headers)
        assert (same.status_code, same.headers["ETag"]) == (304, first.headers["ETag"])
        assert set(first.headers.getlist("Vary")) <= set(same.headers.getlist("Vary"))


def test_pages_of_problems_vary_by_accept(client: Client) -> None:
    for path in ("/problems", "/problems/match-over"):
        for form in ("application/json", "text/html"):
            answer = client.app.test_client().get(path, headers={"Accept": form})
            assert answer.content_type.startswith(form)
            assert "public" in answer.headers["Cache-Control"]
            assert "Accept" in [name.strip() for name in ",".join(answer.headers.getlist("Vary")).split(",")]
