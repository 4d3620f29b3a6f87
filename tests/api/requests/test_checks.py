"""The checks of every request, in their order, and the headers of every response."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.usecases import accounts
from tests.api.checked import Client, parsed
from tests.api.conftest import ANNA as ANNA_PLAYER
from tests.api.conftest import SMALL, TOKEN, Container, app_of, problem, settings

ANNA: Final = {"Authorization": f"Bearer {TOKEN}"}
JSON: Final = {"Content-Type": "application/json"}


def client_with(**wanted: Any) -> FlaskClient:
    return app_of(Container(settings(**wanted)), SMALL).test_client()


def test_a_valid_request_is_answered(client: FlaskClient) -> None:
    response = client.post("/v1/stones", json={"name": "agate"}, headers=ANNA)
    assert (response.status_code, response.content_type) == (201, "application/json")
    assert response.get_data() == b'{"name":"agate","weight":1}'


def test_a_view_without_a_body_accepts_no_body_or_an_empty_object(client: FlaskClient) -> None:
    for body in (None, b"", b"{}"):
        assert client.post("/v1/stones/polish", data=body, content_type="application/json").status_code == 200
    assert problem(client.post("/v1/stones/polish", json={"a": 1})).code == "invalid-request"


REFUSED: Final[Mapping[str, tuple[int, str, Mapping[str, Any]]]] = {
    "no body": (422, "invalid-request", {}),
    "compressed in chunks": (
        400,
        "bad-request",
        {"headers": {"Transfer-Encoding": "gzip, chunked", **JSON}, "data": b"{}"},
    ),
    "too large": (413, "body-too-large", {"data": b" " * 16_385, "headers": JSON}),
    "form": (415, "unsupported-media-type", {"data": {"name": "x"}}),
    "text": (415, "unsupported-media-type", {"data": b"{}", "headers": {"Content-Type": "text/plain"}}),
    "another JSON type": (
        415,
        "unsupported-media-type",
        {"data": b"{}", "headers": {"Content-Type": "application/x+json"}},
    ),
    "latin-1": (
        415,
        "unsupported-media-type",
        {"data": b"{}", "headers": {"Content-Type": "application/json; charset=latin-1"}},
    ),
    "no media type": (415, "unsupported-media-type", {"data": b"{}"}),
    "compressed": (415, "unsupported-media-type", {"data": b"{}", "headers": {**JSON, "Content-Encoding": "gzip"}}),
    "not JSON": (400, "bad-json", {"data": b"{", "headers": JSON}),
    "empty": (422, "invalid-request", {"headers": JSON, "environ_overrides": {"CONTENT_LENGTH": "0"}}),
    "white space": (400, "bad-json", {"data": b" ", "headers": JSON}),
    "NaN": (400, "bad-json", {"data": b'{"name":"x","weight":NaN}', "headers": JSON}),
    "deep": (400, "bad-json", {"data": b"[" * 5000, "headers": JSON}),
    "list": (422, "invalid-request", {"json": [1]}),
    "missing": (422, "invalid-request", {"json": {}}),
    "unknown": (422, "invalid-request", {"json": {"name": "x", "id": 1}}),
    "type": (422, "invalid-request", {"json": {"name": "x", "weight": "5"}}),
    "query": (400, "invalid-parameter", {"json": {"name": "x"}, "query_string": {"dry": "1"}}),
    "idempotency key where none is known": (
        400,
        "invalid-parameter",
        {"json": {"name": "x"}, "headers": {"Idempotency-Key": "a"}},
    ),
    "no token": (401, "token-missing", {"json": {"name": "x"}}),
    "bad token": (401, "token-invalid", {"json": {"name": "x"}, "headers": {"Authorization": "Bearer y"}}),
}


@pytest.mark.parametrize(("status", "code", "request_"), REFUSED.values(), ids=REFUSED.keys())
def test_each_fault_of_a_write_is_refused_with_its_own_code(
    client: FlaskClient, status: int, code: str, request_: Mapping[str, Any]
) -> None:
    headers = {**({} if code == "token-missing" else ANNA), **request_.get("headers", {})}
    assert problem(client.post("/v1/stones", **{**request_, "headers": headers}))[:2] == (status, code)


STONES: Final = "name, weight, round, colours, where"
DETAILS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "list": ({"json": [1]}, "#: Must be a JSON object."),
    "unknown": ({"json": {"name": "x", "id": 1}}, f"#/id: Is unknown; the known ones are {STONES}."),
    "two": ({"json": {"id": 1}}, "#/name: Is required. 1 more in `errors`."),
    "query": (
        {"json": {"name": "x"}, "query_string": {"dry": "1"}},
        "dry: Is unknown; this operation takes no parameters.",
    ),
}


@pytest.mark.parametrize(("request_", "detail"), DETAILS.values(), ids=DETAILS.keys())
def test_the_detail_has_the_position_of_the_first_fault_and_what_would_be_right(
    client: FlaskClient, request_: Mapping[str, Any], detail: str
) -> None:
    assert problem(client.post("/v1/stones", **request_, headers=ANNA)).document["detail"] == detail


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json; charset=utf8",
        "application/json; charset=us-ascii",
        "application/json;",
        "application/json; odata=verbose",
        'application/json; profile="https://moon.example/a;b"; charset=UTF8; v=1',
    ],
)
def test_every_spelling_of_the_json_media_type_in_utf_8_is_accepted(client: FlaskClient, media_type: str) -> None:
    response = client.post("/v1/stones", data=b'{"name":"x"}', content_type=media_type, headers=ANNA)
    assert response.status_code == 201


IN_ORDER: Final[list[tuple[str, Mapping[str, str | None]]]] = [
    ("bad-request", {"Transfer-Encoding": "gzip"}),
    ("bad-host", {"Transfer-Encoding": None}),
    ("token-invalid", {"Host": "moon.example"}),
    ("token-missing", {"Authorization": None}),
    ("unsupported-media-type", ANNA),
    ("bad-json", JSON),
]


def test_the_checks_run_in_a_fixed_order() -> None:
    client = client_with(allowed_hosts=("moon.example",))
    given: dict[str, str | None] = {"Host": "elsewhere", "Authorization": "Bearer y"}
    for code, corrected in IN_ORDER:
        given |= corrected
        headers = {name: value for name, value in given.items() if value is not None}
        response = client.post("/v1/stones", headers=headers, data=b"{]")
        assert problem(response).code == code


@pytest.mark.parametrize(
    ("host", "is_served"),
    [
        ("moon.example", True),
        ("MOON.example:8080", True),
        ("[::1]:80", True),
        ("moon.example:65535", True),
        ("moon.example:65536", False),
        ("moon.example:99999", False),
        ("moon.example.evil", False),
        ("evil", False),
        ("moon.example@evil", False),
        ("moon.example/", False),
        ("", False),
    ],
)
def test_only_the_listed_hosts_are_served(host: str, is_served: bool) -> None:
    client = client_with(allowed_hosts=("moon.example", "[::1]"))
    response = client.get("/v1/stones", headers={"Host": host})
    assert (response.status_code == 200) is is_served
    if not is_served:
        assert problem(response)[:2] == (400, "bad-host")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_may_use_a_bare_address_but_not_an_invalid_host(path: str) -> None:
    client = Client(Container(settings(allowed_hosts=("moon.example",))))
    assert client.get(path, host="10.0.0.7:8080").status_code == 200
    assert problem(client.get(path, host="moon.example/")).code == "bad-host"
    found = problem(client.get("/v1/games", host="10.0.0.7:8080"))
    assert found.document["detail"] == "The Host header does not name a host of this service: 10.0.0.7:8080"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("limit=1&limit=2", "limit"),
        ("page=2", "page"),
        ("cursor=", "cursor"),
    ],
)
def test_a_wrong_query_names_its_parameter(client: FlaskClient, query: str, parameter: str) -> None:
    found = problem(client.get(f"/v1/stones?{query}"))
    assert (found.status, found.code) == (400, "invalid-parameter")
    assert {error["parameter"] for error in found.document["errors"]} == {parameter}


@pytest.mark.parametrize("path", ["/nowhere", "/v1/stones/", "//v1/stones", "/v1/stones/polish/x"])
def test_an_unknown_path_is_a_problem_and_no_redirect(client: FlaskClient, path: str) -> None:
    assert problem(client.get(path))[:2] == (404, "not-found")


def test_head_options_and_wrong_methods(client: FlaskClient) -> None:
    head, get = client.head("/v1/stones"), client.get("/v1/stones")
    assert head.get_data() == b""
    assert head.headers["Content-Length"] == get.headers["Content-Length"]
    options = client.options("/v1/stones")
    assert (options.status_code, set(options.headers["Allow"].split(", "))) == (200, {"GET", "HEAD", "OPTIONS", "POST"})
    response = client.delete("/v1/stones")
    assert problem(response).code == "method-not-allowed"
    assert "POST" in response.headers["Allow"]


def test_requests_over_the_limit_get_the_time_of_the_next_try() -> None:
    client = client_with(requests_by_token=2, requests_by_address=1)
    anna = [client.get("/v1/stones", headers=ANNA) for _ in range(3)]
    assert [response.status_code for response in anna] == [200, 200, 429]
    assert anna[1].headers["RateLimit"].startswith('"token";r=0;t=')
    assert anna[2].headers["RateLimit-Policy"] == '"token";q=2;w=10'
    assert problem(anna[2]).code == "rate-limited"
    assert int(anna[2].headers["Retry-After"]) in range(1, 11)


def test_all_tokens_of_a_player_and_all_spellings_count_together() -> None:
    container = Container(settings(requests_by_token=3, requests_by_address=1))
    client = app_of(container, SMALL).test_client()
    other, _ = accounts.add_token(container.ports, ANNA_PLAYER)
    headers = [f"Bearer {TOKEN}", f"bearer   {TOKEN}", f"BEARER {other}", f"Bearer {TOKEN} "]
    answers = [client.get("/v1/stones", headers={"Authorization": header}) for header in headers]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]


def test_wrong_tokens_count_against_their_address() -> None:
    client = client_with(requests_by_address=2)
    guesses = [client.get("/v1/stones", headers={"Authorization": f"Bearer {guess}"}) for guess in range(3)]
    assert [problem(response).code for response in guesses] == ["token-invalid", "token-invalid", "rate-limited"]


@pytest.mark.parametrize("path", ["/v1/stones", "/nowhere", "/openapi.yaml", "/docs", "/docs/start.js"])
def test_every_answer_has_the_common_headers(client: FlaskClient, path: str) -> None:
    with client.get(path) as response:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in response.headers["Content-Security-Policy"]
        assert ("no-store" in response.headers["Cache-Control"]) == (path in {"/v1/stones", "/nowhere"})
        assert len(response.headers["X-Request-Id"]) == 36


@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/docs", 200), ("/openapi.yaml", 400), ("/docs/start.js", 400)]
)
def test_a_page_for_people_ignores_what_other_sites_add_to_its_link(
    client: FlaskClient, path: str, status: int
) -> None:
    assert client.get(f"{path}?fbclid=x&fbclid=y").status_code == status


PREFLIGHT: Final = {
    "Origin": "https://play.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization",
}


@pytest.mark.parametrize(
    ("origins", "allowed"),
    [
        (("*",), "*"),
        (("https://play.example",), "https://play.example"),
        (("https://other.example",), None),
        ((), None),
    ],
)
def test_browsers_of_the_configured_origins_may_call(origins: tuple[str, ...], allowed: str | None) -> None:
    client = client_with(cors_origins=origins)
    preflight, call = client.options("/v1/stones", headers=PREFLIGHT), client.get("/v1/stones", headers=PREFLIGHT)
    for response in (preflight, call):
        assert response.headers.get("Access-Control-Allow-Origin") == allowed
        assert "Access-Control-Allow-Credentials" not in response.headers
        assert (response.headers.get("Vary") == "Origin") == (origins not in ((), ("*",)))
    if allowed is None:
        return
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    names = {"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "Last-Event-ID"}
    assert names <= set(preflight.headers["Access-Control-Allow-Headers"].split(", "))
    exposed = {"ETag", "Location", "Retry-After", "RateLimit", "RateLimit-Policy", "Idempotent-Replay", "Date"}
    assert exposed <= set(call.headers["Access-Control-Expose-Headers"].split(", "))


def test_a_problem_has_the_headers_for_browsers_too(client: FlaskClient) -> None:
    assert client.get("/nowhere", headers=PREFLIGHT).headers["Access-Control-Allow-Origin"] == "*"


def test_the_reference_page_needs_no_other_host(app: Flask) -> None:
    client = app.test_client()
    page = client.get("/docs").get_data(as_text=True)
    assert "//" not in page.replace("<!doctype", "")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png", "start.js"):
        with client.get(f"/docs/{name}") as response:
            assert response.status_code == 200
    assert problem(client.get("/docs/oauth2-redirect.html")).code == "not-found"


@pytest.mark.parametrize("name", ["If-Modified-Since", "If-Unmodified-Since", "If-Range"])
@pytest.mark.parametrize("year", ["9" * 20, "10000"])
def test_a_condition_with_an_invalid_date_is_ignored(client: FlaskClient, name: str, year: str) -> None:
    for date in (
        f"Mon, 01 Jan {year} 00:00:00 GMT",
        f"Mon, {year} Jan 2026 00:00:00 GMT",
        f"Mon, 01 Jan 2026 00:00:00 +{year}",
    ):
        for path in ("/openapi.yaml", "/openapi.json", "/docs/swagger-ui.css", "/v1/stones"):
            with client.get(path, headers={name: date, "Range": "bytes=0-9"}) as answer:
                assert answer.status_code in {200, 206}


def test_a_client_that_has_the_reference_gets_304(client: FlaskClient) -> None:
    first = client.get("/openapi.yaml")
    again = client.get("/openapi.yaml", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.content_type, again.status_code) == ("application/yaml", 304)
    as_json = client.get("/openapi.json")
    assert as_json.content_type == "application/json"
    assert as_json.get_json() == parsed(first.get_data(as_text=True))
    for path in ("/openapi.yaml", "/docs/swagger-ui.css"):
        assert problem(client.get(path, headers={"If-Match": '"another"'})).status == 412


class WrongClock(Container):
    def clock_fault(self) -> str | None:
        return "this machine's clock is 30.0 s ahead of the log server's; clocks must agree (NTP)"


def test_a_process_with_a_wrong_clock_takes_no_commands_and_serves_reads() -> None:
    client = app_of(WrongClock(), SMALL).test_client()
    for body in (b'{"name":"agate"}', b"{"):
        refusal = problem(client.post("/v1/stones", data=body, headers={**ANNA, **JSON}))
        assert (refusal.status, refusal.code) == (503, "clock-wrong")
        assert refusal.document["detail"].startswith(
            "This process does nothing that needs the time: this machine's clock is 30.0 s"
        )
        assert refusal.document["retryable"] is True
    assert client.get("/v1/stones").status_code == 200
    assert client.options("/v1/stones").status_code == 200
    assert problem(client.post("/v1/stones", json={"name": "agate"})).code == "token-missing"
    assert problem(client.post("/v1/nowhere", json={})).code == "not-found"
    assert problem(client.delete("/v1/stones")).code == "method-not-allowed"
    assert problem(Client(WrongClock(), unchecked=True).get("/v1/me/stream", TOKEN)).code == "clock-wrong"
