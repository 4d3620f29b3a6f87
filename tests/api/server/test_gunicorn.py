"""A real gunicorn against malformed, slow or hostile clients."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final
from urllib.parse import urlencode

import pytest

from api.http.headers import DEFAULTS
from tests.api.raw import TIMEOUT_S, Running, gunicorn, read_reply
from tests.api.raw_parts import CLOSE, GET, HOST, JSON, POST
from tests.waiting import until


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with gunicorn() as running:
        yield running


STONE: Final = b'{"weight":1,"name":"agate"}'
CHUNKED: Final = POST + HOST + JSON + b"Transfer-Encoding: chunked\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"


def padded(size: int) -> bytes:
    """A valid body of `size` bytes."""
    return STONE.replace(b",", b"," + b" " * (size - len(STONE)))


def chunks(*pieces: bytes | int) -> bytes:
    """The empty line after a head, and a chunk for each piece (bytes, or a single byte)."""
    whole = (bytes([piece]) if isinstance(piece, int) else piece for piece in pieces)
    return b"\r\n" + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in whole)


ABSOLUTE: Final = b"GET http://%b/v1/stones HTTP/1.1\r\n"
"""The host in such a target counts, whatever the Host header says (RFC 9112, 3.2.2)."""

HUNDRED_MATCHES: Final = urlencode([("match", f"{number:026}:{2**53 - 1}") for number in range(100)]).encode()
"""The longest address that a client needs: matches of `/v1/streams` with the length of real ids and the largest versions."""

REQUESTS: Final = {
    "good": (200, GET + HOST + CLOSE + b"\r\n"),
    "a path of a proxy": (200, GET + HOST + CLOSE + b"SCRIPT_NAME: /moon\r\n\r\n"),
    "a path of a proxy, cut off": (404, GET.replace(b"/v1", b"/v2/v1") + HOST + CLOSE + b"SCRIPT_NAME: /v2\r\n\r\n"),
    "two schemes": (200, GET + HOST + CLOSE + b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\n\r\n"),
    "no Host": (400, GET + CLOSE + b"\r\n"),
    "an absolute target": (200, ABSOLUTE % b"moon:80" + HOST + CLOSE + b"\r\n"),
    "an absolute target with a wrong port": (400, ABSOLUTE % b"moon:99999" + HOST + CLOSE + b"\r\n"),
    "an absolute target with a user": (400, ABSOLUTE % b"me@moon" + HOST + CLOSE + b"\r\n"),
    "two Hosts": (400, GET + HOST + HOST + b"\r\n"),
    "length and chunked": (400, POST + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "two lengths": (400, POST + HOST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
    "signed length": (400, POST + HOST + b"Content-Length: +4\r\n\r\nabcd"),
    "space before colon": (400, POST + HOST + b"Content-Length : 4\r\n\r\nabcd"),
    "bare line feeds": (400, b"GET /v1/stones HTTP/1.1\nHost: moon\n\n"),
    "identity coding": (400, POST + HOST + b"Transfer-Encoding: identity\r\n\r\n"),
    "unknown coding": (400, POST + HOST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "an expectation": (417, GET + HOST + b"Expect: 200-ok\r\n\r\n"),
    "no HTTP": (400, b"hello\r\n\r\n"),
    "long request line": (414, b"GET /" + b"a" * 8190 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a hundred matches": (
        404,
        b"GET /v1/streams?%b&include=decisions%%2Ctexts HTTP/1.1\r\n" % HUNDRED_MATCHES + HOST + CLOSE + b"\r\n",
    ),
    "long header": (431, GET + HOST + b"A: " + b"a" * 9000 + b"\r\n\r\n"),
    "101 headers": (431, GET + HOST + b"".join(b"A%d: b\r\n" % number for number in range(101)) + b"\r\n"),
    "20 GB claimed": (413, POST + HOST + JSON + b"Content-Length: 20000000000\r\n\r\n"),
    "one byte too many": (413, POST + HOST + JSON + CLOSE + b"Content-Length: 16385\r\n\r\n" + b" " * 16_385),
    "more than its length": (400, POST + HOST + JSON + CLOSE + b"Content-Length: 4\r\n\r\n" + STONE),
    "no length": (422, POST + HOST + JSON + CLOSE + b"\r\n"),
    "chunked": (201, CHUNKED + CLOSE + chunks(STONE) + LAST_CHUNK),
    "chunked, byte by byte": (201, CHUNKED + CLOSE + chunks(*STONE) + LAST_CHUNK),
    "chunked, with extensions": (201, CHUNKED + CLOSE + b"\r\n1b;a=b;c\r\n" + STONE + b"\r\n0;d\r\n\r\n"),
    "chunked, with a trailer": (201, CHUNKED + CLOSE + chunks(STONE) + b"0\r\nA: b\r\n\r\n"),
    "chunked, empty": (422, CHUNKED + CLOSE + b"\r\n" + LAST_CHUNK),
    "chunked, maximum size": (201, CHUNKED + CLOSE + chunks(padded(16_384)) + LAST_CHUNK),
    "chunked, one byte too many": (413, CHUNKED + CLOSE + chunks(padded(16_385)) + LAST_CHUNK),
    "chunked, too large in small chunks": (413, CHUNKED + CLOSE + chunks(*padded(20_000)) + LAST_CHUNK),
    "chunked, mostly framing": (413, CHUNKED + CLOSE + chunks(*padded(16_384)) + LAST_CHUNK),
    "chunked, mostly extensions": (
        413,
        CHUNKED + CLOSE + b"\r\n" + (b"1;" + b"a" * 3000 + b"\r\n{\r\n") * 100 + LAST_CHUNK,
    ),
    "chunked and compressed": (400, CHUNKED.replace(b"chunked", b"gzip, chunked") + CLOSE + chunks(STONE) + LAST_CHUNK),
    "chunks without a size": (400, CHUNKED + CLOSE + b"\r\nx\r\n\r\n"),
    "chunks with a sign": (400, CHUNKED + CLOSE + b"\r\n+1b\r\n" + STONE + b"\r\n" + LAST_CHUNK),
    "chunks longer than they say": (400, CHUNKED + CLOSE + b"\r\n1a\r\n" + STONE + b"\r\n" + LAST_CHUNK),
    "chunks with a forbidden trailer": (400, CHUNKED + CLOSE + chunks(STONE) + b"0\r\nHost: sun\r\n\r\n"),
    "chunks in a GET": (400, GET + HOST + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n" + LAST_CHUNK),
    "chunks in HTTP/1.0": (400, CHUNKED.replace(b"/1.1", b"/1.0") + chunks(STONE) + LAST_CHUNK),
}


@pytest.mark.parametrize(("status", "request_"), REQUESTS.values(), ids=REQUESTS.keys())
def test_each_request_gets_its_status(server: Running, status: int, request_: bytes) -> None:
    reply = server.send(request_)
    assert reply.status == status
    assert "gunicorn/" not in reply.headers.get("server", "")
    if status >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        assert json.loads(reply.body)["status"] == status
        assert json.loads(reply.body)["instance"] == f"urn:uuid:{reply.headers['x-request-id']}"
    (line,) = (line for line in server.lines() if f"request={reply.headers['x-request-id']}" in line)
    assert f" status={status}" in line
    assert {name.lower() for name, _ in DEFAULTS} <= reply.headers.keys()
    assert reply.headers["access-control-allow-origin"] == "*"


def test_a_body_of_the_maximum_size_is_read_to_its_end(server: Running) -> None:
    reply = server.send(POST + HOST + JSON + CLOSE + b"Content-Length: 16384\r\n\r\n" + padded(16_384))
    assert (reply.status, json.loads(reply.body)) == (201, json.loads(STONE))


def test_bytes_after_the_content_length_are_not_a_request(server: Running) -> None:
    with server.connect() as client, client.makefile("rb") as stream:
        client.sendall(POST + HOST + JSON + b"Content-Length: %d\r\n\r\n" % len(STONE) + STONE + b"  {}\r\n\r\n")
        assert stream.readline().split()[1] == b"201"
        rest = stream.read()
    assert (rest.count(b"HTTP/1.1 "), rest.count(b"HTTP/1.1 400 ")) == (1, 1)


@pytest.mark.parametrize("body", [b"Content-Length: 10\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n1b\r\n{}"])
def test_a_body_that_ends_early_is_refused(server: Running, body: bytes) -> None:
    with server.connect() as client:
        client.sendall(POST + HOST + JSON + body)
        client.shutdown(socket.SHUT_WR)
        assert read_reply(client).status == 400


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (b"HTTP/1.0", b"HTTP/1.0 200"),
        (b"HTTP/1.1", b"HTTP/1.1 200"),
        (b"HTTP/1.2", b"HTTP/1.1 200"),
        (b"HTTP/1.9", b"HTTP/1.1 200"),
        (b"HTTP/2.0", b"HTTP/1.1 400"),
        (b"HTTP/0.9", b"HTTP/1.1 400"),
    ],
)
def test_a_request_is_answered_in_a_supported_version_of_http(server: Running, asked: bytes, answered: bytes) -> None:
    with server.connect() as client:
        client.sendall(b"GET /v1/stones " + asked + b"\r\n" + HOST + CLOSE + b"\r\n")
        assert client.recv(12) == answered


PROBES: Final = {
    b"GET /healthz HTTP/1.0\r\n": 200,
    b"GET /readyz HTTP/1.0\r\n": 200,
    b"GET /healthz HTTP/1.1\r\nHost:\r\n": 200,
    b"GET /readyz HTTP/1.1\r\nHost:\r\n": 200,
    b"GET /healthz HTTP/1.1\r\nHost: 10.0.0.7:8080\r\n": 200,
    b"GET /healthz HTTP/1.1\r\n": 400,  # RFC 9112, 3.2
    b"GET /healthz HTTP/1.0\r\nHost: moon/\r\n": 400,
    b"GET /v1/stones HTTP/1.0\r\n": 400,
    b"GET /v1/stones HTTP/1.1\r\nHost:\r\n": 400,
}


@pytest.mark.parametrize("probe", PROBES, ids=bytes.decode)
def test_health_checks_need_no_host(server: Running, probe: bytes) -> None:
    assert server.send(probe + CLOSE + b"\r\n").status == PROBES[probe]


NOWHERE: Final = b"POST /nowhere HTTP/1.1\r\n" + HOST + JSON
UNREAD: Final = {
    "too large": (413, NOWHERE + b"Content-Length: 300000\r\n\r\n" + b" " * 300_000),
    "chunked, too large": (413, CHUNKED + b"\r\n8000\r\n" + b" " * 32_768 + b"\r\n80000\r\n" + b" " * 400_000),
    "for no address": (404, NOWHERE + CLOSE + b"Content-Length: 16000\r\n\r\n" + b" " * 16_000),
    "chunked, for no address": (404, NOWHERE + b"Transfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b" " * 32_768),
    "long header": (431, GET + HOST + b"A: " + b"a" * 300_000),
}


@pytest.mark.parametrize(("status", "request_"), UNREAD.values(), ids=UNREAD.keys())
def test_the_answer_to_a_request_that_is_not_read_completely_arrives_and_closes_the_connection(
    server: Running, status: int, request_: bytes
) -> None:
    with server.connect() as client:
        client.sendall(request_)
        reply = read_reply(client)
        assert (reply.status, reply.headers["connection"]) == (status, "close")
        assert client.recv(10) == b""  # not ConnectionResetError


def test_a_connection_stays_open_after_a_refused_short_body(server: Running) -> None:
    with server.connect() as client:
        for _ in range(3):
            client.sendall(NOWHERE + b"Content-Length: %d\r\n\r\n" % len(STONE) + STONE)
            reply = read_reply(client)
            assert (reply.status, reply.headers["connection"]) == (404, "keep-alive")


def test_a_connection_is_used_again_after_chunks(server: Running) -> None:
    with server.connect() as client:
        for _ in range(3):
            client.sendall(CHUNKED + chunks(STONE[:9], STONE[9:]) + LAST_CHUNK)
            reply = read_reply(client)
            assert (reply.status, reply.headers["connection"]) == (201, "keep-alive")


def test_a_client_that_expects_100_continue_gets_it_only_for_a_body_that_is_read(server: Running) -> None:
    asks = HOST + JSON + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(STONE)
    with server.connect() as client:
        client.sendall(POST + asks)
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(STONE)
        reply = read_reply(client)
        assert (reply.status, reply.headers["connection"]) == (201, "keep-alive")
        client.sendall(b"POST /nowhere HTTP/1.1\r\n" + asks)
        reply = read_reply(client)
        assert (reply.status, reply.headers["connection"]) == (404, "close")
        assert client.recv(10) == b""


def test_slow_silent_and_incomplete_clients_are_closed_and_disturb_no_other_client(server: Running) -> None:
    """The deadline closes slow bodies, the keep-alive time closes half requests, TCP_USER_TIMEOUT closes clients that never read."""
    with ExitStack() as open_clients:
        began = time.monotonic()
        slow, half = ([open_clients.enter_context(server.connect()) for _ in range(40)] for _ in range(2))
        for number, client in enumerate(slow):
            body = chunks(b"abc") if number % 2 else b"Content-Length: 10\r\n\r\nabc"
            client.sendall((CHUNKED if number % 2 else POST + HOST + JSON) + body)
        for client in half:
            client.sendall(b"GET /v1/sto")
        for path, window in ((b"/endless", 4096), (b"/large", 4096), (b"/large", 1 << 20)):
            silent = open_clients.enter_context(socket.socket())
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            silent.connect(("127.0.0.1", server.port))
            silent.sendall(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        until(lambda: open_streams(server) == 3, 4, "all streams are open")
        with_all_clients = best_median_s(server)
        replies = [read_reply(client) for client in slow]
        assert {(reply.status, json.loads(reply.body)["code"]) for reply in replies} == {(408, "request-timeout")}
        assert {reply.headers["connection"] for reply in replies} == {"close"}
        assert 4 < time.monotonic() - began < 15  # five on an idle machine
        with_silent_clients = best_median_s(server)
        assert all(client.recv(10) == b"" for client in half)
        until(lambda: not open_streams(server), TIMEOUT_S, "the streams end")
    alone = best_median_s(server)
    assert max(with_all_clients, with_silent_clients) < max(0.1, 3 * alone)


def best_median_s(server: Running) -> float:
    """Seconds until another client's request is answered: the median of nine, and the best of three such medians."""
    return min(sorted(_answer_time_s(server) for _ in range(9))[4] for _ in range(3))


def _answer_time_s(server: Running) -> float:
    began = time.monotonic()
    assert server.send(GET + HOST + CLOSE + b"\r\n").status == 200
    return time.monotonic() - began


def open_streams(server: Running) -> int:
    return int(server.send(b"GET /open-streams HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n").body)


def test_streams_end_when_the_server_gets_a_signal_to_stop() -> None:
    with gunicorn() as running, running.connect() as client:
        client.sendall(b"GET /endless HTTP/1.1\r\n" + HOST + b"\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
        running.process.terminate()
        tail = b""
        while not tail.endswith(b"0\r\n\r\n"):
            received = client.recv(65536)
            assert received
            tail = (tail + received)[-200:]
        assert b": bye" in tail
        client.close()
        assert running.process.wait(TIMEOUT_S) == 0
