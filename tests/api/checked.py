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

from api.app import create_app
from api.http.context import Container as AnyContainer
from service.settings import Settings
from tests.api.conftest import Container, settings

Json: TypeAlias = dict[str, Any]

ROOT: Final = Path(__file__).parents[2]
MANY: Final = 10**6
UNLIMITED: Final = {
    name: MANY for name in Settings.__dataclass_fields__ if re.search("_by_(token|address|caller)$|_waiting$", name)
}
"""Settings without rate limits."""
SOMETIMES: Final = {"Idempotent-Replay", "X-Accel-Buffering"}
"""Headers that only some answers of their status have."""
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
    """The committed file."""
    loaded: Json = yaml.load((ROOT / "openapi.yaml").read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


def documented(rule: Rule) -> str:
    """A route's path as the reference writes it."""
    return "".join(f"{{{part}}}" if is_argument else part for is_argument, part in rule._trace)[1:]


def validator(schema: Json) -> jsonschema_rs.Draft202012Validator:
    """Of a schema that may name components of the reference."""
    return _compiled(msgspec.json.encode(schema))


@cache
def _compiled(schema: bytes) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({**msgspec.json.decode(schema), "components": reference()["components"]})


@cache
def _validator(path: str, method: str, status: str, media_type: str) -> jsonschema_rs.Draft202012Validator:
    responses = reference()["paths"][path][method]["responses"]
    assert status in responses, f"{method} {path} does not say that it answers {status}"
    content = responses[status].get("content", {})
    assert media_type in content, f"{method} {path} does not say that it answers {status} in {media_type}"
    return validator(content[media_type]["schema"])


def check(app: Flask, method: str, path: str, response: TestResponse) -> None:
    """Fail if a response does not conform to the reference."""
    found, _ = app.url_map.bind("moon").match(path.partition("?")[0], method, return_rule=True)
    written, verb, status = documented(found), method.lower(), str(response.status_code)
    body = response.get_data()
    told = reference()["paths"][written][verb]["responses"]
    if not body:
        assert "content" not in told[status]
        assert "Content-Type" not in response.headers
    else:
        _validator(written, verb, status, response.content_type).validate(_value(response.content_type, body))
    if response.status_code >= 400:
        problem = msgspec.json.decode(body)
        code = problem["code"]
        assert f"`{code}`" in told[status]["description"], f"{verb} {written} does not say that it answers {code}"
        places = [error.keys() & {"pointer", "parameter"} for error in problem.get("errors", ())]
        assert all(len(place) == 1 for place in places)
        assert places or code not in LOCATED, f"{verb} {written} does not say where it met {code}"
    else:
        missing = set(told[status].get("headers", ())) - set(response.headers.keys()) - SOMETIMES
        assert not missing, f"{verb} {written} answers without {missing}"


def _value(media_type: str, body: bytes) -> Any:
    """What the schema of a body speaks of: a JSON value, or else its text."""
    return msgspec.json.decode(body) if "json" in media_type else body.decode()


class Client:
    """Requests to an app on a container, by default on a log in memory and without limits.

    `hasty`: answers are not checked, where a test asks for thousands that others ask for too.
    """

    def __init__(self, container: AnyContainer | None = None, *, hasty: bool = False) -> None:
        self._hasty = hasty
        self.container = container or Container(settings(**UNLIMITED))
        self.app = create_app(self.container)
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
        """An answer, checked; `data` are the bytes of a body that `body` could not be."""
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if method == "POST":
            sent.setdefault("Content-Type", "application/json")
            data = msgspec.json.encode({} if body is None else body) if data is None else data
        response = self._http.open(path, method=method, data=data, headers=sent)
        if not self._hasty:
            check(self.app, method, path, response)
        return response

    def get(self, path: str, token: str | None = None, **headers: str) -> TestResponse:
        return self.send("GET", path, token=token, headers=named(headers))

    def post(self, path: str, body: object = None, token: str | None = None, **headers: str) -> TestResponse:
        return self.send("POST", path, body, token=token, headers=named(headers))

    def ask(self, path: str, token: str | None = None) -> Json:
        """The JSON of an answer of success."""
        return _succeeded(self.get(path, token))

    def do(self, path: str, body: object = None, token: str | None = None, **headers: str) -> Json:
        """As `ask`, of a POST."""
        return _succeeded(self.post(path, body, token, **headers))

    def sign_up(self, name: str = "Somebody") -> str:
        """A new player's token."""
        token: str = self.do("/v1/players", {"name": name})["token"]
        return token

    def log(self, match: str) -> tuple[bytes, ...]:
        """All stored bytes of a match."""
        return self.container.ports.log.read(match).events


def named(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers from keywords: if_match for If-Match."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _succeeded(response: TestResponse) -> Json:
    assert response.status_code < 300, response.get_data(as_text=True)
    value: Json = msgspec.json.decode(response.get_data())
    return value
