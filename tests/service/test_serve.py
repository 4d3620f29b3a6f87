"""`moonstone serve`: everything starts, comes back when it dies, and goes away with its supervisor."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

import httpx
import pytest

from service.adapters.valkey import free_port
from service.container import Service, build
from service.match import Match
from service.matches import create
from service.new_match import NewMatch
from service.settings import read
from tests.waiting import until

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from service.cli import main; main()"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


class Serving:
    """One `moonstone serve` that has told its address."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        out = process.stdout
        assert out is not None
        self.told = ready_line(out)

    def processes(self) -> dict[int, str]:
        """All that descend from the supervisor, with their command lines."""
        parents: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(stat.parent.name)] = int(fields[1])
        family = {self.process.pid}
        while grown := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= grown
        return {pid: command(pid) for pid in family - {self.process.pid}}

    def pids(self, part: str) -> set[int]:
        return {pid for pid, line in self.processes().items() if part in line}

    def service(self) -> Service:
        """The use cases on the servers that the workers use."""
        worker = min(self.pids("-m workers"))
        environ = dict(
            entry.split("=", 1) for entry in Path(f"/proc/{worker}/environ").read_text().split("\0") if "=" in entry
        )
        return build(read(environ), listen=False)


def ready_line(out: IO[str]) -> str:
    line = out.readline()
    assert line.startswith("Moonstone is ready at http://127.0.0.1:"), line
    return line.strip()


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def gone(pids: set[int]) -> bool:
    return not [pid for pid in pids if command(pid)]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], Serving]]:
    started: list[Serving] = []

    def start() -> Serving:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--data-dir", str(tmp_path / "data")],
            env=environ,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(Serving(process))
        return started[-1]

    yield start
    for serving in started:
        serving.process.kill()
        serving.process.communicate()


def bots(service: Service) -> Match:
    wanted = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random"))
    return create(service.ports, "pl_a", wanted, token_hex(4)).match


def played(service: Service, match: Match) -> bool:
    return service.ports.history.newest(match.id)[0].status == "finished"


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_finds_every_match(
    serve: Callable[[], Serving],
) -> None:
    first = serve()
    service = first.service()
    done, match = bots(service), bots(service)
    until(lambda: played(service, done), 15, "the bots play")
    children = set(first.processes())
    assert len(children) >= 7  # two servers, two workers, gunicorn and its two
    service.close()
    first.process.kill()
    until(lambda: gone(children), 5, "every process ends")

    second = serve()
    service = second.service()
    assert played(service, done)
    until(lambda: played(service, match), 15, "the other match is played on")
    service.close()
    children = set(second.processes())
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(15) == 0
    assert gone(children)


@pytest.mark.parametrize("part", ["-m api", "-m workers", "log", "queue"])
def test_whatever_dies_is_back_within_three_seconds(serve: Callable[[], Serving], part: str) -> None:
    serving = serve()
    service = serving.service()
    if part in {"log", "queue"}:
        url = service.settings.log_url if part == "log" else service.settings.queue_url
        part = f":{(url or '').rpartition(':')[2].partition('/')[0]}"
    before = serving.pids(part)
    assert before
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(serving.pids(part) - before) == len(before), 3, "it is back")
    match = bots(service)
    until(lambda: played(service, match), 15, "the bots play")
    service.close()


def refused(*arguments: str, **environ: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stderr


def test_a_data_folder_is_served_once_and_an_emptied_store_not_at_all(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    serving = serve()
    assert "is in use by another `moonstone serve`" in refused("serve", "--port", "0", "--data-dir", str(data))
    serving.process.terminate()
    assert serving.process.wait(15) == 0
    shutil.rmtree(data / "log" / "appendonlydir")
    assert "the log's server is empty" in refused("serve", "--port", "0", "--data-dir", str(data))


def test_what_an_operator_can_mend_is_told_in_a_sentence(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"cannot listen on 127.0.0.1:{port} (Address already in use)" in refused("serve", "--port", port, *data)
    assert "MOONSTONE_PORT must be a whole number" in refused("serve", "--port", "http", *data)
    assert "MOONSTONE_LOG_URL must name a server" in refused("workers", *data)
    assert "MOONSTONE_WORKERS must be" in refused("api", *data, MOONSTONE_WORKERS="0")
    gone_url = "redis://me:secret@127.0.0.1:1/0"
    told = refused("workers", *data, MOONSTONE_LOG_URL=gone_url, MOONSTONE_QUEUE_URL=gone_url)
    assert "the log at 127.0.0.1:1 is not available: unavailable" in told
    assert "secret" not in told


def told(port: int) -> str:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/metrics").text
    except httpx.TransportError:
        return ""


@contextmanager
def alone(part: str, serving: Serving, *arguments: str, **environ: str) -> Iterator[None]:
    """A part of the service by itself, on the servers of another."""
    service = serving.service()
    urls = {
        "MOONSTONE_LOG_URL": service.settings.log_url or "",
        "MOONSTONE_QUEUE_URL": service.settings.queue_url or "",
    }
    process = subprocess.Popen(
        [*COMMAND, part, *arguments], env={**os.environ, "PYTHONPATH": str(ROOT), **urls, **environ}
    )
    try:
        yield
        process.terminate()
        assert process.wait(15) == 0
    finally:
        process.kill()
        service.close()


def test_workers_run_alone_on_servers_that_are_named_and_tell_their_metrics(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    other, port = tmp_path / "other", free_port()
    with alone("workers", serve(), "--data-dir", str(other), MOONSTONE_METRICS_PORT=str(port)):
        until((other / "store-id").exists, 5, "the workers met the store")
        until(lambda: "moonstone_chain_breaks_total 0.0" in told(port), 10, "they tell their metrics")


def test_the_api_runs_alone_and_tells_the_metrics_of_all_its_processes(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    port = free_port()
    with alone("api", serve(), "--port", str(port), "--data-dir", str(tmp_path / "other")):
        until(lambda: "moonstone_chain_breaks_total 0.0" in told(port), 10, "it tells its metrics")
        for _ in range(20):  # each on a connection of its own, which any of its processes may take
            assert httpx.get(f"http://127.0.0.1:{port}/v1/games").status_code == 200
        count = 'moonstone_request_seconds_count{method="GET",route="/v1/games",status="200"} 20.0'
        assert [count in told(port) for _ in range(10)] == [True] * 10
