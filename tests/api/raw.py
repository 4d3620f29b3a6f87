"""A real gunicorn with the test API in its own process, and raw requests to it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
TIMEOUT_S: Final = 60
"""A generous timeout for steps whose duration is not tested."""


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Running(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    log: IO[bytes]

    def lines(self) -> list[str]:
        """All log lines so far. Read with `pread`: the process writes to the same file and shares its position."""
        return os.pread(self.log.fileno(), 16 << 20, 0).decode().splitlines()

    def workers(self) -> list[int]:
        """The process ids of gunicorn's workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text("ascii").split()]

    def connect(self, timeout: float = TIMEOUT_S) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def send(self, request: bytes, timeout: float = TIMEOUT_S) -> Reply:
        """The reply to raw bytes, after which the server closes or the body is complete."""
        with self.connect(timeout) as client:
            client.sendall(request)
            return read_reply(client)


def read_reply(client: socket.socket) -> Reply:
    with client.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers = {}
        while line := stream.readline().strip().decode():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return Reply(status, headers, stream.read(int(headers.get("content-length", 0))))


def _started(log: IO[bytes]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.api.small_api_server"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)


@contextmanager
def gunicorn() -> Iterator[Running]:
    with TemporaryFile() as log, _started(log) as process:
        assert process.stdout
        try:
            yield Running(process, int(process.stdout.readline()), log)
            process.terminate()
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()
