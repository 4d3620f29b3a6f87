"""Clients that send without end do not delay others: other requests stay fast, and streams continue."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import pytest
import yaml

from tests.api.raw import ROOT, TIMEOUT_S, Running, gunicorn
from tests.api.raw_parts import CLOSE, GET, HOST
from tests.chaos.senders import CREATIONS, SHAPES, SLOW_HEADERS
from tests.length import LONG
from tests.ports import free_port
from tests.waiting import until

SHORT: Final = ("a body that is too large", "endless chunks", "an endless header", "requests without pauses")
"""One shape for each code path that reads a request."""
COUNTS: Final = (1, 2, 10) if LONG else (2,)
MAX_TRIES: Final = 5
REQUESTS: Final = 100 if LONG else 60
NOISE_S: Final = 0.003
"""Shorter 95th percentiles count as this, because they are noise on a busy machine."""
NGINX_RATE: Final = 100_000_000
"""Bytes per second of all senders to nginx. Over loopback nginx would read rejected bodies so fast that it keeps two cores
busy; a network limits the rate.
"""

CPUS: Final = sorted(os.sched_getaffinity(0))
SENDERS_CPU: Final = CPUS[0]
SERVER_CPUS: Final = CPUS[1:] or CPUS
"""Senders get a processor of their own: in reality they run on other machines, and on the server's processors they would
delay requests whatever the server does.
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    os.sched_setaffinity(0, SERVER_CPUS)
    try:
        with gunicorn() as running:
            until(running.workers, TIMEOUT_S, "a worker process runs")
            yield running
    finally:
        os.sched_setaffinity(0, CPUS)


@pytest.fixture(scope="module")
def proxied(server: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The server behind nginx, configured as in compose.yaml."""
    if (nginx := shutil.which("nginx")) is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("nginx")
    port = free_port()
    site: str = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["configs"]["nginx"]["content"]
    for old, wanted in (
        ("$$", "$"),
        ("listen 8080", f"listen 127.0.0.1:{port}"),
        ("http://app:8080", f"http://127.0.0.1:{server.port}"),
    ):
        assert old in site
        site = site.replace(old, wanted)
    (folder / "nginx.conf").write_text(
        "daemon off; worker_processes 1; pid nginx.pid; events {} http { access_log off; " + _temporary() + site + "}",
        encoding="utf-8",
    )
    with subprocess.Popen([nginx, "-p", folder, "-e", "errors", "-c", "nginx.conf"]) as process:
        front = server._replace(port=port)
        try:
            until(lambda: _is_up(front), TIMEOUT_S, "nginx answers")
            yield front
        finally:
            process.terminate()


def _temporary() -> str:
    return "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


def _is_up(front: Running) -> bool:
    try:
        return front.send(GET + HOST + CLOSE + b"\r\n").status == 200
    except OSError:
        return False


def p95(server: Running) -> float:
    """The 95th percentile of the answer times of requests in seconds, each on a new connection."""
    return sorted(_answer_time_s(server) for _ in range(REQUESTS))[REQUESTS * 95 // 100]


def _answer_time_s(server: Running) -> float:
    began = time.monotonic()
    assert server.send(GET + HOST + CLOSE + b"\r\n", timeout=5).status == 200
    took = time.monotonic() - began
    time.sleep(0.002)  # a rate that a server can handle easily
    return took


@contextmanager
def sending(port: int, shape: str, count: int, rate: int = 0) -> Iterator[None]:
    words = [sys.executable, "-m", "tests.chaos.senders", str(port), shape, str(count), str(rate), str(SENDERS_CPU)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "sending\n"
            yield
        finally:
            process.kill()


class Stream(threading.Thread):
    """Reads a stream to its end; `longest_gap_s`: the longest time between two parts so far; `is_over`: it has ended."""

    def __init__(self, server: Running) -> None:
        super().__init__(daemon=True)
        self._client = server.connect()
        self.longest_gap_s = 0.0
        self.is_over = False

    def run(self) -> None:
        self._client.sendall(b"GET /endless HTTP/1.1\r\n" + HOST + b"\r\n")
        last = time.monotonic()
        with suppress(ConnectionResetError):
            while self._client.recv(1 << 16):
                now = time.monotonic()
                self.longest_gap_s = max(self.longest_gap_s, now - last)
                last = now
        self.is_over = True

    def close(self) -> None:
        self._client.shutdown(2)
        self.join(TIMEOUT_S)
        self._client.close()


def slowdown(server: Running, under_load: Callable[[], float]) -> float:
    """How many times longer other clients wait than without the senders. Repeated while it is too long, since the machine is shared."""
    ratios: list[float] = []
    while not ratios or (ratios[-1] > 2 and len(ratios) < MAX_TRIES):
        alone = p95(server)
        ratios.append(max(under_load(), NOISE_S) / max(alone, NOISE_S))
    return ratios[-1]


def check_other_clients(server: Running, shape: str, count: int, rate: int = 0) -> None:
    with ExitStack() as stack:
        stream = Stream(server)
        stack.callback(stream.close)
        stream.start()
        workers = server.workers()

        def under_load() -> float:
            with sending(server.port, shape, count, rate):
                return p95(server)

        assert slowdown(server, under_load) <= 2
        assert (stream.is_over, server.workers()) == (False, workers)
        assert stream.longest_gap_s < 2


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES if LONG else SHORT)
@pytest.mark.parametrize("count", COUNTS)
def test_row_34_clients_that_send_without_a_pause_delay_no_other_clients(
    server: Running, shape: str, count: int
) -> None:
    check_other_clients(server, shape, count)


def test_row_33_slow_headers_delay_no_other_clients(server: Running) -> None:
    check_other_clients(server, SLOW_HEADERS, 200)


def test_players_who_create_matches_without_end_delay_no_other_clients(server: Running) -> None:
    check_other_clients(server, CREATIONS, 10)


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="only in the long form")
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "requests without pauses"])
@pytest.mark.parametrize("count", COUNTS)
def test_row_34_clients_that_send_without_a_pause_delay_no_other_clients_behind_nginx(
    proxied: Running, shape: str, count: int
) -> None:
    check_other_clients(proxied, shape, count, NGINX_RATE // count)
