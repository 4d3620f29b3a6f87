"""A header in two lines, which the server joins: lists are concatenated, any other header is refused."""

import json
from typing import Final

import pytest

from tests.api.conftest import TOKEN
from tests.api.raw import Reply, Running
from tests.api.raw_parts import HOST, JSON
from tests.api.server.test_gunicorn import server

__all__ = ["server"]

NEW_MATCH: Final = json.dumps({"game": "ape_town", "seats": 2, "bots": ["random", "random"]}).encode()
TOKEN_HEADER: Final = f"Authorization: Bearer {TOKEN}".encode()


def ask(server: Running, line: bytes, *headers: bytes, body: bytes = b"") -> Reply:
    lines = [line + b" HTTP/1.1", HOST.strip(), b"Connection: close", *headers]
    if line.startswith(b"POST"):
        lines += [JSON.strip(), b"Content-Length: %d" % len(body)]
    return server.send(b"\r\n".join(lines) + b"\r\n\r\n" + body)


@pytest.fixture(scope="module")
def match(server: Running) -> bytes:
    made = ask(server, b"POST /v1/matches", TOKEN_HEADER, body=NEW_MATCH)
    assert made.status == 201
    return f"/v1/matches/{json.loads(made.body)['id']}".encode()


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (b"Idempotency-Key: a", b"Idempotency-Key: b", "idempotency-key-invalid"),
        (b"Idempotency-Key: a", b"Idempotency-Key: a", "idempotency-key-invalid"),
        (b'Idempotency-Key: "a"', b'Idempotency-Key: "b"', "idempotency-key-invalid"),
        (b"Idempotency-Key: a", b"idempotency-key:", "idempotency-key-invalid"),
        (JSON.strip(), b"", "http-400"),
        (b"Host: moon", b"", "http-400"),
        (b"Host: sun", b"", "http-400"),
        (TOKEN_HEADER, b"", "token-invalid"),
        (b"Authorization: Bearer x", b"", "token-invalid"),
        (b"Authorization:", b"", "token-invalid"),
        (b"Authorization: Basic x", b"", "token-invalid"),
    ],
)
def test_a_header_that_is_not_a_list_is_refused_in_two_lines(
    server: Running, first: bytes, second: bytes, code: str
) -> None:
    reply = ask(server, b"POST /v1/matches", TOKEN_HEADER, first, *([second] if second else []), body=NEW_MATCH)
    assert (json.loads(reply.body)["code"], reply.status in {400, 401}) == (code, True)


def test_an_event_id_in_two_lines_is_refused(server: Running, match: bytes) -> None:
    sse = b"Accept: text/event-stream"
    reply = ask(server, b"GET " + match + b"/events", sse, b"Last-Event-ID: 1", b"Last-Event-ID: 2")
    assert (reply.status, json.loads(reply.body)["code"]) == (400, "invalid-parameter")


@pytest.mark.parametrize("tags", [(b'"1-0"', b"%s"), (b"%s", b'"1-0"'), (b"", b"%s"), (b"%s", b"")])
def test_a_list_of_tags_may_come_in_several_lines(server: Running, match: bytes, tags: tuple[bytes, bytes]) -> None:
    tag = ask(server, b"GET " + match).headers["etag"].encode()
    known = [b"If-None-Match: " + one.replace(b"%s", tag) for one in tags]
    assert ask(server, b"GET " + match, *known).status == 304
    wanted = [b"If-Match: " + one.replace(b"%s", tag) for one in tags]
    body = json.dumps({"action": {"type": "take_tile", "segment": 0}}).encode()
    reply = ask(server, b"POST " + match + b"/actions", TOKEN_HEADER, *wanted, body=body)
    assert json.loads(reply.body)["code"] == "not-seated", "the precondition holds"


def test_accept_headers_may_come_in_several_lines(server: Running, match: bytes) -> None:
    languages = (b"Accept-Language: en;q=0.2", b"Accept-Language: de;q=0.9")
    assert ask(server, b"GET " + match + b"?include=texts", *languages).headers["content-language"] == "de"
    forms = (b"Accept: text/html;q=0.9", b"Accept: application/json;q=0.1")
    assert ask(server, b"GET /problems", *forms).headers["content-type"] == "text/html; charset=utf-8"
