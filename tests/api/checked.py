"""A client that validates every response against openapi.yaml: status, media type, body, headers, problem code."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import jsonschema_rs
import msgspec
import yaml
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from api.http.context import Container as AnyContainer
from service.settings import Settings
from tests.api.conftest import Container, app_of, settings

Json: TypeAlias = dict[str, Any]

ROOT: Final = Path(__file__).parents[2]
MANY: Final = 10**6
UNLIMITED: Final = {
    name: MANY for name in Settings.__dataclass_fields__ if re.search("_by_(token|address|caller)$|_waiting$", name)
}
"""Settings without rate limits."""
SOMETIMES: Final = {"Idempotent-Replay", "X-Accel-Buffering"}
"""Headers that not every response of a status has."""
_REFERENCE_URI: Final = "urn:reference"
LOCATED: Final = {
    "invalid-request",
    "invalid-parameter",
    "invalid-options",
    "invalid-action",
    "idempotency-key-invalid",
}
"""Codes whose problems have the position of each fault in the request."""


@cache
def reference() -> Json:
    """The committed openapi.yaml."""
    return parsed((ROOT / "openapi.yaml").read_text(encoding="utf-8"))


def parsed(text: str) -> Json:
    """A document in YAML, read by LibYAML if it is there: without it, the reference takes two seconds."""
    loaded: Json = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


def documented(rule: Rule) -> str:
    """The path of a route in the form that openapi.yaml uses."""
    return "".join(f"{{{part}}}" if is_argument else part for is_argument, part in rule._trace)[1:]


def validator(schema: Json) -> jsonschema_rs.Draft202012Validator:
    """A validator of a schema, which may refer to components of the reference."""
    return _compiled(msgspec.json.encode(schema))


@cache
def _compiled(schema: bytes) -> jsonschema_rs.Draft202012Validator:
    absolute = schema.replace(b'"#/components/', f'"{_REFERENCE_URI}#/components/'.encode())
    return jsonschema_rs.Draft202012Validator(msgspec.json.decode(absolute), registry=_registry())


@cache
def _registry() -> jsonschema_rs.Registry:
    """Has the reference, so that no validator needs a copy of its components."""
    return jsonschema_rs.Registry([(_REFERENCE_URI, reference())], draft=jsonschema_rs.Draft202012)


@cache
def _validator(path: str, method: str, status: str, media_type: str) -> jsonschema_rs.Draft202012Validator:
    responses = reference()["paths"][path][method]["responses"]
    assert status in responses, f"{method} {path}: {status} is not documented"
    content = responses[status].get("content", {})
    assert media_type in content, f"{method} {path}: {media_type} is not documented for {status}"
    return validator(content[media_type]["schema"])


def check(app: Flask, method: str, path: str, response: TestResponse) -> None:
    """Fail if a response does not conform to the reference."""
    found, _ = app.url_map.bind("moon").match(path.partition("?")[0], method, return_rule=True)
    written, verb, status = documented(found), method.lower(), str(response.status_code)
    body = response.get_data()
    documented_responses = reference()["paths"][written][verb]["responses"]
    if not body:
        assert "content" not in documented_responses[status]
        assert "Content-Type" not in response.headers
    else:
        _validator(written, verb, status, response.content_type).validate(_value(response.content_type, body))
    if response.status_code >= 400:
        problem = msgspec.json.decode(body)
        code = problem["code"]
        assert f"`{code}`" in documented_responses[status]["description"], f"{verb} {written}: {code} is not documented"
        positions = [error.keys() & {"pointer", "parameter"} for error in problem.get("errors", ())]
        assert all(len(position) == 1 for position in positions)
        assert positions or code not in LOCATED, f"{verb} {written}: {code} has no position of the fault"
    else:
        missing = set(documented_responses[status].get("headers", ())) - set(response.headers.keys()) - SOMETIMES
        assert not missing, f"{verb} {written}: headers {missing} are missing"


def _value(media_type: str, body: bytes) -> Any:
    """The value that the schema of a body describes: parsed JSON or lines of JSON, or text for other media types."""
    if media_type == "application/x-ndjson":
        return [msgspec.json.decode(line) for line in body.splitlines() if line]
    return msgspec.json.decode(body) if "json" in media_type else body.decode()


class Client:
    """Sends requests to an app on a container, by default with a log in memory and without rate limits.

    `unchecked` skips the validation, for tests that send thousands of requests which other tests check.
    """

    def __init__(self, container: AnyContainer | None = None, *, unchecked: bool = False) -> None:
        self._unchecked = unchecked
        self.container = container or Container(settings(**UNLIMITED))
        self.app = app_of(self.container)
        self._http = self.app.test_client()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestResponse:
        """Send a request and validate the response; `data` is a raw body, for one that `body` cannot express."""
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if method in {"POST", "PATCH"}:
            sent.setdefault("Content-Type", "application/json")
            data = msgspec.json.encode({} if body is None else body) if data is None else data
        response = self._http.open(path, method=method, data=data, headers=sent)
        if not self._unchecked:
            check(self.app, method, path, response)
        return response

    def get(self, path: str, token: str | None = None, **headers: str) -> TestResponse:
        return self.send("GET", path, token=token, headers=header_names(headers))

    def post(self, path: str, body: object = None, token: str | None = None, **headers: str) -> TestResponse:
        return self.send("POST", path, body, token=token, headers=header_names(headers))

    def ask(self, path: str, token: str | None = None) -> Json:
        """GET: the JSON of a successful response."""
        return _succeeded(self.get(path, token))

    def do(self, path: str, body: object = None, token: str | None = None, **headers: str) -> Json:
        """POST: the JSON of a successful response."""
        return _succeeded(self.post(path, body, token, **headers))

    def sign_up(self, name: str = "Somebody") -> str:
        """A new player's token."""
        token: str = self.do("/v1/players", {"name": name})["token"]
        return token

    def log(self, match: str) -> tuple[bytes, ...]:
        """All stored bytes of a match."""
        return self.container.ports.log.read(match).events


def header_names(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers from keyword arguments: if_match is If-Match."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _succeeded(response: TestResponse) -> Json:
    assert response.status_code < 300, response.get_data(as_text=True)
    value: Json = msgspec.json.decode(response.get_data())
    return value
