"""Addresses that `moonstone view` fetches: which are used, and that no server can hang, flood or redirect it."""

import gzip
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import click
import pytest

from service.ops import match_address, match_input
from service.ops.match_address import export_url, fetch

ID: Final = "abcdefghijklmnopqrstuvwxyz"
FILE: Final = b'{"format":"moonstone-match/2"}\n'


class Server(ThreadingHTTPServer):
    """A server on this machine whose only answer the test sets. It counts the requests."""

    daemon_threads = True

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.paths: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.paths.append(self.path)
                answer(self)

            def log_message(self, *_args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[BaseHTTPRequestHandler], None]], Server]]:
    """Starts a server with this answer."""
    servers: list[Server] = []

    def start(answer: Callable[[BaseHTTPRequestHandler], None]) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answers(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (f"https://moon.example/v1/matches/{ID}", f"https://moon.example/v1/matches/{ID}/export"),
        (f"https://moon.example/a/v1/matches/{ID}/timeline?limit=3", f"https://moon.example/a/v1/matches/{ID}/export"),
        (f"https://moon.example/#/replay/{ID}?version=3", f"https://moon.example/v1/matches/{ID}/export"),
        (f"https://moon.example/a/#/match/{ID}", f"https://moon.example/a/v1/matches/{ID}/export"),
        ("https://moon.example/kept/match.ndjson?raw=1#top", "https://moon.example/kept/match.ndjson?raw=1"),
        (f"http://localhost:8080/v1/matches/{ID}", f"http://localhost:8080/v1/matches/{ID}/export"),
        ("http://[::1]:8080/match.ndjson", "http://[::1]:8080/match.ndjson"),
    ],
)
def test_the_address_of_a_match_is_that_of_its_file(address: str, url: str) -> None:
    assert export_url(address) == url


@pytest.mark.parametrize(
    "address",
    [
        "http://moon.example/match.ndjson",
        "http://127.0.0.1.moon.example/match.ndjson",
        "http://10.0.0.1/match.ndjson",
        "ftp://127.0.0.1/match.ndjson",
        "file:///etc/passwd",
        "https://",
        "https://moon.example:0/",
        "https://moon.example:99999/",
        "https://[::1/",
        "https://user:secret@moon.example/match.ndjson",
    ],
)
def test_other_addresses_are_refused_in_a_sentence(address: str) -> None:
    with pytest.raises(click.UsageError) as refusal:
        fetch(address)
    assert refusal.value.message.count("\n") == 0
    assert "secret" not in refusal.value.message


def test_a_file_is_fetched(serve: Callable[..., Server]) -> None:
    server = serve(answers(200, FILE))
    assert fetch(f"{server.url}/#/replay/{ID}").read() == FILE
    assert server.paths == [f"/v1/matches/{ID}/export"]


def test_a_compressed_file_is_fetched_as_it_is(serve: Callable[..., Server]) -> None:
    packed = gzip.compress(FILE)
    assert fetch(serve(answers(200, packed)).url).read() == packed


def test_no_redirect_is_followed(serve: Callable[..., Server]) -> None:
    target = serve(answers(200, FILE))
    server = serve(answers(302, b"", Location=f"{target.url}/match.ndjson"))
    with pytest.raises(click.ClickException, match="the server answers 302"):
        fetch(server.url)
    assert target.paths == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (answers(404, b'{"detail":"No such match.\\u001b[2J"}'), "the server answers 404: No such match.\ufffd[2J."),
        (answers(500, b"<html>"), "the server answers 500."),
        (answers(409, b"[" * 100_000), "the server answers 409."),
        (lambda handler: handler.wfile.write(b"\x00" * 200_000), "it cannot be fetched: "),
        (answers(200, b"short", **{"Content-Length": "100"}), "the answer ended too early."),
        (lambda _handler: None, "it cannot be fetched: "),
    ],
)
def test_a_bad_answer_is_reported_in_a_sentence(
    serve: Callable[..., Server], answer: Callable[[BaseHTTPRequestHandler], None], text: str
) -> None:
    with pytest.raises(click.ClickException) as refusal:
        fetch(serve(answer).url)
    assert text in refusal.value.message
    assert refusal.value.message.count("\n") == 0


def test_a_server_that_is_not_there_is_reported(serve: Callable[..., Server]) -> None:
    server = serve(answers(200, b""))
    server.shutdown()
    server.server_close()
    with pytest.raises(click.ClickException, match="it cannot be fetched: "):
        fetch(server.url)


def test_an_endless_answer_is_refused(serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    monkeypatch.setattr(match_input, "_MAX_BYTES", 1 << 20)
    with pytest.raises(click.ClickException, match="larger than the largest match"):
        fetch(serve(flood).url)


def test_a_slow_answer_is_given_up(serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        """One byte of the head after another, each before the server would count as silent."""
        while not ended.wait(0.05):
            handler.wfile.write(b"x")

    monkeypatch.setattr(match_address, "TIMEOUT_S", 1)
    with pytest.raises(click.ClickException, match="the answer took longer than 1 seconds"):
        fetch(serve(drip).url)
    ended.set()
