"""`python -m api` starts without a log: it is alive, reports what it waits for, and serves later."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from events.redis_log import connect
from service.adapters.valkey import Valkey
from tests.api.conftest import TOKEN
from tests.ports import free_port
from tests.serving import ROOT
from tests.waiting import in_time, until

TIMEOUT_S: Final = 60


class Alone(httpx.Client):
    """A client of a process that started without a log."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port
        super().__init__(base_url=f"http://127.0.0.1:{port}", timeout=TIMEOUT_S)

    def status(self, path: str) -> int:
        try:
            return self.get(path).status_code
        except httpx.TransportError:
            return 0


@contextmanager
def alone(log: Valkey, queue: Valkey, folder: Path, **more: str) -> Iterator[Alone]:
    port = free_port()
    environ = {
        "MOONSTONE_LOG_URL": log.url,
        "MOONSTONE_QUEUE_URL": queue.url,
        "MOONSTONE_DATA_DIR": str(folder),
        "MOONSTONE_PORT": str(port),
        "MOONSTONE_API_WORKERS": "1",
        **more,
    }
    with subprocess.Popen([sys.executable, "-m", "api"], env=os.environ | environ, cwd=ROOT) as process:
        try:
            with Alone(process, port) as client:
                until(lambda: client.status("/healthz") == 200, TIMEOUT_S, "it listens")
                yield client
        finally:
            process.terminate()
            try:
                process.wait(TIMEOUT_S)
            finally:
                process.kill()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Valkey, Valkey]]:
    """A log that does not exist, and a queue."""
    with Valkey.start(tmp_path / "log", durable=True) as log, Valkey.start(tmp_path / "queue", durable=False) as queue:
        log.kill()
        yield log, queue


def test_it_is_alive_and_reports_why_it_is_not_ready_and_serves_once_it_is(
    servers: tuple[Valkey, Valkey], tmp_path: Path
) -> None:
    log, _ = servers
    with alone(*servers, tmp_path / "data", MOONSTONE_CORS_ORIGINS="*") as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, "not-ready")
        (fault,) = ready.json()["faults"]
        assert fault == f"the log at {log.url.removeprefix('unix://')} is not available: unavailable"
        for method, path in (
            ("GET", "/"),
            ("GET", "/v1/games"),
            ("POST", "/v1/players"),
            ("DELETE", "/v1/me/tokens/current"),
        ):
            answer = client.request(method, path, headers={"Authorization": f"Bearer {TOKEN}"})
            assert (answer.status_code, answer.json()["code"]) == (503, "store-unavailable")
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.headers.keys() >= {"retry-after", "x-request-id", "access-control-allow-origin"}
        assert client.head("/v1/games").status_code == 503
        unread = client.get(f"/{'a' * 9000}")
        assert (unread.status_code, unread.headers["Access-Control-Allow-Origin"]) == (414, "*")
        log.restart()
        until(lambda: client.status("/readyz") == 200, TIMEOUT_S, "it serves")
        made = client.post("/v1/players", json={"name": "Ada"})
        assert made.status_code == 201
        assert client.get("/v1/me", headers={"Authorization": f"Bearer {made.json()['token']}"}).status_code == 200
    # The last use of a token is stored when the server stops.
    with connect(log.url) as stored:
        assert len(stored.hgetall(f"uses:{{account:{made.json()['player']['id']}}}")) == 1


def test_it_stops_on_a_signal(servers: tuple[Valkey, Valkey], tmp_path: Path) -> None:
    def stopped() -> float:
        with alone(*servers, tmp_path / "data") as client:
            assert "Access-Control-Allow-Origin" not in client.get(f"/{'a' * 9000}").headers
            client.close()
            began = time.monotonic()
            client.process.terminate()
            assert client.process.wait(TIMEOUT_S) == 0
            return time.monotonic() - began

    in_time(stopped, 8, "it ends")


def test_its_workers_end_with_their_parent_and_leave_the_port_free(
    servers: tuple[Valkey, Valkey], tmp_path: Path
) -> None:
    def freed() -> float:
        with alone(*servers, tmp_path / "data") as client:
            began = time.monotonic()
            client.process.send_signal(signal.SIGKILL)
            until(lambda: is_free(client.port), TIMEOUT_S, "the port is free")
            return time.monotonic() - began

    in_time(freed, 8, "its workers end")


def is_free(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("missing", ["MOONSTONE_LOG_URL", "MOONSTONE_QUEUE_URL"])
def test_without_the_url_of_a_server_it_ends_with_a_message(missing: str) -> None:
    urls = dict.fromkeys(("MOONSTONE_LOG_URL", "MOONSTONE_QUEUE_URL"), "redis://127.0.0.1:1/0") | {missing: ""}
    done = subprocess.run(
        [sys.executable, "-m", "api"],
        env=os.environ | urls,
        cwd=ROOT,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1
    assert f"{missing} must name a server".encode() in done.stderr
