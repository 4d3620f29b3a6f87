"""Clients of live streams on real sockets, and the real server that they talk to."""

import atexit
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from events.record import MatchId
from tests.waiting import until

ROOT: Final = Path(__file__).parents[2]
WORKERS: Final = 2


class Frame(NamedTuple):
    """A server-sent event; a comment has no name."""

    event: str
    id: str | None
    data: Any


@contextmanager
def get(port: int, path: str, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
    with (
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection,
        closing(_ask(connection, path, headers)) as response,
    ):
        yield response


class Source(Protocol):
    """The server that a follower reads from."""

    def get(
        self, path: str, headers: Mapping[str, str] | None = None, /
    ) -> AbstractContextManager[http.client.HTTPResponse]: ...


@cache
def _forks() -> subprocess.Popen[str]:
    """The process that forks all servers of this test process."""
    command = [sys.executable, "-m", "tests.api.live_server"]
    forks = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    atexit.register(forks.communicate)
    return forks


def _ask_forks(request: object) -> Any:
    forks = _forks()
    assert forks.stdin
    assert forks.stdout
    forks.stdin.write(msgspec.json.encode(request).decode() + "\n")
    forks.stdin.flush()
    return msgspec.json.decode(forks.stdout.readline())


class Process:
    """The first process of a server."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def send_signal(self, number: int) -> None:
        if self._poll() is None:
            os.kill(self.pid, number)

    def wait(self) -> int | None:
        """Wait until it has ended; returns its exit code."""
        until(lambda: self._poll() is not None, 60, "the server ends")
        return self._code

    def _poll(self) -> int | None:
        if self._code is None:
            self._code = _ask_forks(self.pid)
        return self._code


class Server(NamedTuple):
    process: Process
    port: int

    def get(
        self, path: str, headers: Mapping[str, str] | None = None
    ) -> AbstractContextManager[http.client.HTTPResponse]:
        return get(self.port, path, headers or {})

    @property
    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text("ascii").split()]

    def settle(self, workers: int = WORKERS) -> None:
        """Wait until all workers answer. A worker reads from the log when it starts, and the server stops if the log is down."""
        answered: set[int] = set()

        def all_of_them() -> bool:
            with suppress(OSError, http.client.HTTPException), self.get("/open-streams") as response:
                answered.add(msgspec.json.decode(response.read())["worker"])
            return len(answered & set(self.workers)) == workers

        until(all_of_them, 60, "all workers serve")

    def kill_workers(self) -> None:
        for pid in self.workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _ask(connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
    connection.request("GET", path, headers=dict(headers))
    return connection.getresponse()


@contextmanager
def serving(environ: Mapping[str, str], workers: int = WORKERS) -> Iterator[Server]:
    pid, port = _ask_forks(({**os.environ, **environ}, workers))
    assert port, "the server does not start"
    server = Server(Process(pid), port)
    try:
        server.settle(workers)
        yield server
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait() == 0
    finally:
        server.process.send_signal(signal.SIGKILL)


def frames(response: http.client.HTTPResponse) -> Iterator[Frame]:
    """The frames of an event stream until it ends or is cut."""
    assert response.status == http.HTTPStatus.OK, response.read()
    fields: dict[str, str] = {}
    while line := response.readline():
        name, _, value = line.decode().rstrip("\n").partition(":")
        if line != b"\n":
            fields[name] = value.removeprefix(" ")
        elif fields:
            data = msgspec.json.decode(fields["data"]) if "data" in fields else None
            yield Frame(fields.get("event", ""), fields.get("id"), data)
            fields = {}


class Follower(threading.Thread):
    """Follows a match as an EventSource does: it reconnects after its last event, until the stream reports the end."""

    def __init__(self, server: Source, match_id: MatchId, token: str | None = None) -> None:
        super().__init__(daemon=True)
        self.events: list[Any] = []
        self.ids: list[str | None] = []
        self.ends: list[str] = []
        self.connections = 0
        self.cut_after = 0
        self._server = server
        self._path = f"/v1/matches/{match_id}/events"
        self._headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {token}"} if token else {})

    def run(self) -> None:
        while not {"finished", "aborted"} & set(self.ends):
            with suppress(OSError, http.client.HTTPException):
                self._connect()

    def _connect(self) -> None:
        last_id = {"Last-Event-ID": self.ids[-1] or ""} if self.ids else {}
        with self._server.get(self._path, self._headers | last_id) as response:
            if response.status == http.HTTPStatus.TOO_MANY_REQUESTS:
                # Streams of killed workers still count for a while.
                time.sleep(int(response.headers["Retry-After"]))
                return
            assert response.status == 200, response.read()
            self.connections += 1
            first = None
            for frame in frames(response):
                first = first or frame.event
                assert first == "hello"
                if frame.event == "end":
                    self.ends.append(frame.data["reason"])
                elif frame.id is not None:
                    self.events.append(frame.data)
                    self.ids.append(frame.id)
                    if self.cut_after and len(self.events) % self.cut_after == 0:
                        return
