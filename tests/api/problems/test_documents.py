"""Every error is a problem document of the table, and contains nothing hidden."""

import ast
import html
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import MethodNotAllowed, default_exceptions

from api.app import create_app
from api.problems.documents import Problem, field_errors
from api.problems.types import PROBLEM_TYPES
from events.log import LogUnavailable, Unavailability
from service.automation.bot_turns import advance
from service.errors import Corrupt, Refused
from service.observability.logfmt import Logfmt
from tests.api.checked import LOCATED, Client, validator
from tests.api.conftest import SMALL, TOKEN, Container, problem, settings

ROOT = Path(__file__).parents[3]
SOURCES = [path for folder in ("api", "service", "workers", "events") for path in sorted((ROOT / folder).rglob("*.py"))]


def raising(app: Flask, error: BaseException) -> FlaskClient:
    """A client of an app whose path /raise raises this error."""
    app.extensions["raises"] = error
    return app.test_client()


@pytest.mark.parametrize("status", sorted(default_exceptions))
def test_every_http_error_is_a_problem_with_its_status(app: Flask, status: int) -> None:
    assert problem(raising(app, default_exceptions[status]()).get("/raise")).status == status


def test_the_answer_to_a_wrong_method_names_the_allowed_ones(app: Flask) -> None:
    response = raising(app, MethodNotAllowed(["GET"])).get("/raise")
    assert problem(response).code == "method-not-allowed"
    assert response.headers["Allow"] == "GET"


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_code_has_its_status(app: Flask, code: str) -> None:
    error = Refused(code, "No.", why="because", scope="play", version=3, head="ab" * 32)
    response = raising(app, error).get("/raise")
    found = problem(response)
    assert (found.code, found.status) == (code, PROBLEM_TYPES[code].status)
    assert found.document["detail"] == "No."
    assert found.document["why"] == "because"
    assert response.headers["ETag"] == f'"3-{"ab" * 8}"'
    assert found.document["retryable"] == ("Retry-After" in response.headers)
    assert ("WWW-Authenticate" in response.headers) == (found.status == 401 or code == "scope-missing")  # RFC 6750, 3.1


@pytest.mark.parametrize("reason", get_args(Unavailability))
def test_an_unavailable_log_is_503_with_retry_after(app: Flask, reason: Unavailability) -> None:
    response = raising(app, LogUnavailable(reason)).get("/raise")
    assert problem(response)[:2] == (503, f"store-{reason}")
    assert int(response.headers["Retry-After"]) > 0


def test_the_problem_of_a_corrupt_match_has_the_version(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    found = problem(raising(app, Corrupt(7, "another hash")).get("/raise"))
    assert (found.status, found.code, found.document["version"]) == (503, "match-corrupt", 7)
    assert "another hash" not in str(found.document)
    assert "another hash" in caplog.text


def test_the_answer_to_an_unforeseen_error_has_only_its_id(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    found = problem(raising(app, KeyError("a secret seed")).get("/raise"))
    assert (found.status, found.code) == (500, "internal-error")
    assert "secret" not in str(found.document)
    lines = [Logfmt().format(record) for record in caplog.records]
    (line,) = (
        line for line in lines if found.document["instance"].removeprefix("urn:uuid:") in line and "error=" in line
    )
    assert line.endswith('KeyError"')
    assert "secret" not in line


def test_facts_never_replace_the_members_that_all_problems_have(app: Flask) -> None:
    found = problem(raising(app, Refused("match-full", "No.", status="open", instance="x")).get("/raise"))
    assert found.status == 409


def test_errors_have_the_pointer_or_parameter_of_the_fault() -> None:
    messages = {"seats": ["Too few."], "bots": {1: {"na/me~": ["Bad.", "Worse."]}}, "_schema": ["Odd."]}
    assert [(error.pointer, error.detail) for error in field_errors(messages, in_body=True)] == [
        ("#/seats", "Too few."),
        ("#/bots/1/na~1me~0", "Bad."),
        ("#/bots/1/na~1me~0", "Worse."),
        ("#", "Odd."),
    ]
    assert [error.parameter for error in field_errors({"limit": ["Bad."]}, in_body=False)] == ["limit"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "colours": ["green"] * 1500},
        {"name": "x", "colours": [1] * 5000},
        {"name": "x", **{f"unknown{number}": 1 for number in range(700)}},
        {"name": "x" * 10_000},
        {"x" * 10_000: 1, "name": "x"},
    ],
)
def test_a_body_with_many_faults_gets_a_short_answer(client: FlaskClient, body: dict[str, object]) -> None:
    response = client.post("/v1/stones", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    found = problem(response)
    assert (found.status, found.code) == (422, "invalid-request")
    assert len(found.document["errors"]) <= 20
    assert len(response.get_data()) < 4096
    assert "x" * 200 not in response.get_data(as_text=True)


@cache
def refusals() -> tuple[tuple[str, str, ast.Call], ...]:
    """Every call of `Refused` and `refused` in the sources: its position, its code (empty if it is no literal), and the call."""
    return tuple(
        (f"{path.relative_to(ROOT)}:{node.lineno}", _code(node), node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Refused", "refused"}
    )


def _code(call: ast.Call) -> str:
    first = call.args[0]
    return str(first.value).partition(".")[0] if isinstance(first, ast.Constant) else ""


def test_every_refusal_in_the_sources_has_a_code_of_the_table() -> None:
    codes = {position: code for position, code, _ in refusals() if code}
    assert (
        codes.keys() >= {position for position, _, call in refusals() if ast.unparse(call.func) == "refused"} != set()
    )
    assert {position: code for position, code in codes.items() if code not in PROBLEM_TYPES} == {}


def test_no_fact_of_a_refusal_is_named_like_a_member_that_all_problems_have() -> None:
    members = set(Problem.__struct_fields__)
    assert [
        position for position, _, call in refusals() if any(keyword.arg in members for keyword in call.keywords)
    ] == []


def test_a_refusal_for_a_part_of_a_request_names_the_part() -> None:
    located = [call for _, code, call in refusals() if code in LOCATED]
    assert len(located) > 10
    assert [
        ast.unparse(call) for call in located if "parameter" not in {keyword.arg for keyword in call.keywords}
    ] == []


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("invalid-parameter", {"parameter": "viewer", "detail": "No."}),
        ("invalid-options", {"pointer": "#/viewer", "detail": "No."}),
    ],
)
def test_a_fault_in_a_named_part_has_the_form_of_a_fault_that_a_schema_finds(
    app: Flask, code: str, error: dict[str, str]
) -> None:
    document = problem(raising(app, Refused(code, "No.", parameter="viewer")).get("/raise")).document
    assert document["errors"] == [error]
    assert "parameter" not in document


@pytest.fixture(scope="module")
def app() -> Flask:
    made = create_app(Container(settings(requests_by_address=100_000)), resources=SMALL)

    def view() -> str:
        error: BaseException = made.extensions["raises"]
        raise error

    made.add_url_rule("/raise", view_func=view)
    return made


@pytest.fixture(scope="module")
def whole_app() -> Flask:
    return create_app(Container(settings(requests_by_address=100_000)))


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_every_code_has_a_page_for_people_and_for_programs(whole_app: Flask, code: str) -> None:
    kind = PROBLEM_TYPES[code]
    client = whole_app.test_client()
    document = client.get(f"/problems/{code}").get_json()
    assert document.pop("example")["code"] == code
    assert document == {
        "code": code,
        "status": kind.status,
        "title": kind.title,
        "cause": kind.cause,
        "remedy": kind.remedy,
        "retryable": kind.retry_after is not None,
    }
    page = client.get(f"/problems/{code}", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.content_type == "text/html; charset=utf-8"
    assert code in page.get_data(as_text=True)
    assert kind.cause in html.unescape(page.get_data(as_text=True))
    assert "<script" not in page.get_data(as_text=True)


def facts_of(code: str) -> list[tuple[str, set[str]]]:
    """Position and names of the facts of each refusal with a code, without facts passed as `**mapping`."""
    return [
        (position, {keyword.arg for keyword in call.keywords if keyword.arg})
        for position, found, call in refusals()
        if found == code
    ]


@pytest.mark.parametrize("code", PROBLEM_TYPES)
def test_the_example_of_every_code_is_a_possible_answer(app: Flask, whole_app: Flask, code: str) -> None:
    example = whole_app.test_client().get(f"/problems/{code}").get_json()["example"]
    validator({"$ref": "#/components/schemas/Problem"}).validate(example)
    own = {name: example[name] for name in example if name not in Problem.__struct_fields__}
    answered = problem(raising(app, Refused(code, example["detail"], **own)).get("/raise")).document
    assert {**answered, "instance": "", "errors": []} == {**example, "instance": "", "errors": []}
    in_sources = facts_of(code)
    if any(facts for _, facts in in_sources):
        assert any(facts <= own.keys() | {"parameter"} for _, facts in in_sources)


def test_an_example_has_every_fact_of_its_code_in_the_sources(whole_app: Flask) -> None:
    """Facts that only some refusals of a code have are in the example too, except for the position in the request."""
    client = whole_app.test_client()
    for code in PROBLEM_TYPES:
        example = client.get(f"/problems/{code}").get_json()["example"]
        for position, facts in facts_of(code):
            # Only `moonstone play` adds the version of a suspended match.
            if not position.startswith("service/ops/simulate.py"):
                assert facts - example.keys() <= {"parameter"}, position


def test_an_example_of_a_refusal_by_the_rules_has_every_member() -> None:
    client = Client()
    token = client.sign_up()
    match = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random"]}, token)
    client.do(f"/v1/matches/{match['id']}/seats", {}, token)
    play_until_to_move(client, match["id"], token)
    wrong = {"action": {"type": "leave_behind", "tribe": "red"}}
    answered = problem(client.post(f"/v1/matches/{match['id']}/actions", wrong, token)).document
    example = client.ask("/problems/illegal-action")["example"]
    assert answered["code"] == "illegal-action"
    # `facts` is present only if the reason of the rules has parameters.
    assert answered.keys() - {"facts"} == example.keys() - {"facts"}


def play_until_to_move(client: Client, match: str, token: str) -> None:
    while not client.ask(f"/v1/matches/{match}/legal-actions", token)["actions"]:
        advance(client.container.ports, match)


def test_the_list_of_problems_is_complete(whole_app: Flask) -> None:
    client = whole_app.test_client()
    assert [entry["code"] for entry in client.get("/problems").get_json()["problems"]] == list(PROBLEM_TYPES)
    assert client.get("/problems", headers={"Accept": "text/html"}).get_data(as_text=True).count("<li>") == len(
        PROBLEM_TYPES
    )


def test_an_unknown_code_or_media_type_gets_a_problem(whole_app: Flask) -> None:
    client = whole_app.test_client()
    assert problem(client.get("/problems/none-such")).code == "not-found"
    assert problem(client.get("/problems/match-full", headers={"Accept": "image/png"})).code == "not-acceptable"
