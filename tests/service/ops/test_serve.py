"""`moonstone serve`: everything starts, comes back when it dies, and goes away with its supervisor."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from mmap import mmap
from pathlib import Path
from secrets import token_hex

import httpx
import pytest

from events.log import LogUnavailable
from service.adapters.log_file import _after_unit
from service.container import Service, build
from service.match.model import Match
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.settings import read
from service.usecases.match_lifecycle import create
from tests.ports import free_port
from tests.serving import COMMAND, ROOT, Serving, began, command, serving
from tests.waiting import in_time, until

PATIENCE = 60
"""Seconds; as long as a busy machine may take for what is not held against a clock."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def service_of(serving: Serving) -> Service:
    """The use cases on the servers that the workers use."""

    def environ() -> dict[str, str]:
        """Of a worker; for a moment it has none, between one program and the next."""
        worker = min(serving.pids("-m workers"), default=0)
        told = Path(f"/proc/{worker}/environ").read_text() if worker else ""
        return dict(entry.split("=", 1) for entry in told.split("\0") if "=" in entry)

    return build(read(until(environ, PATIENCE, "a worker has its environment")), listen=False)


def gone(pids: set[int]) -> bool:
    return not [pid for pid in pids if command(pid)]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], Serving]]:
    started: list[Serving] = []
    with ExitStack() as stack:

        def start() -> Serving:
            started.append(stack.enter_context(serving(tmp_path)))
            return started[-1]

        yield start
        for one in started:
            one.process.kill()  # the orderly end, which takes longer, has tests of its own


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service for all tests that leave it whole."""
    with serving(tmp_path_factory.mktemp("lasting")) as running:
        yield running


def bots(service: Service) -> Match:
    """A match of bots, made once the log answers: its server is there before it listens."""
    wanted, key = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random")), token_hex(4)

    def made() -> Match | None:
        with suppress(LogUnavailable):
            return create(service.ports, "pl_a", wanted, key).match
        return None

    return until(made, PATIENCE, "the log takes a match")


def played(service: Service, match: Match) -> bool:
    return service.ports.history.newest(match.id)[0].status == "finished"


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_finds_every_match(
    serve: Callable[[], Serving],
) -> None:
    first = serve()
    service = service_of(first)
    done, match = bots(service), bots(service)
    until(lambda: played(service, done), PATIENCE, "the bots play")
    children = set(first.processes())
    assert len(children) >= 7  # two servers, two workers, gunicorn and its two
    service.close()
    first.process.kill()
    until(lambda: gone(children), PATIENCE, "every process ends")

    second = serve()
    service = service_of(second)
    assert played(service, done)
    until(lambda: played(service, match), PATIENCE, "the other match is played on")
    service.close()
    children = set(second.processes())
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(PATIENCE) == 0
    assert gone(children)


@pytest.mark.parametrize(
    ("part", "processes"), [("-m api", 3), ("-m workers", 3), ("/log/socket", 1), ("/queue/socket", 1)]
)
def test_whatever_dies_is_back_within_three_seconds(lasting: Serving, part: str, processes: int) -> None:
    service = service_of(lasting)
    # A busy machine is slow at times, a service that is slow is so every time.
    assert any(seconds_away(lasting, part, processes) < 3 for _ in range(3))
    match = bots(service)
    until(lambda: played(service, match), PATIENCE, "the bots play")
    service.close()


def seconds_away(running: Serving, part: str, processes: int) -> float:
    """How long it takes until so many processes, which are killed all at once, have others in their places."""

    def all_of_them() -> set[int] | None:
        found = running.pids(part)
        return found if len(found) >= processes else None

    before = until(all_of_them, PATIENCE, "all are there")
    killed = time.monotonic()
    for pid in sorted(before, key=began):  # parents first: they would start their children again
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(running.pids(part) - before) >= processes, PATIENCE, "it is back")
    return time.monotonic() - killed


def refused(*arguments: str, **environ: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stderr


def test_a_data_folder_is_served_once_and_an_emptied_store_not_at_all(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    running = serve()
    assert "is in use by another `moonstone serve`" in refused("serve", "--port", "0", "--data-dir", str(data))
    running.process.terminate()
    assert running.process.wait(PATIENCE) == 0
    shutil.rmtree(data / "log" / "appendonlydir")
    assert "the log's server is empty" in refused("serve", "--port", "0", "--data-dir", str(data))


def test_a_log_that_lost_its_end_is_not_served_and_a_check_says_what_is_missing(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    running = serve()
    service = service_of(running)
    match = bots(service)
    until(lambda: played(service, match), PATIENCE, "the bots play")
    service.close()
    running.process.terminate()
    assert running.process.wait(PATIENCE) == 0
    environ, told = {"MOONSTONE_DATA_DIR": str(data)}, list[str]()
    assert maintenance.check(environ, told.append)
    assert re.fullmatch(r"compared 1 heads that were kept outside the log, last at 20\S+Z: 0 faults", told[-1])

    (file,) = (data / "log" / "appendonlydir").glob("*.incr.aof")
    with file.open("r+b") as opened, mmap(opened.fileno(), 0) as content:
        whole = len(content)
        at = 0
        while at < whole * 2 // 3:
            at = _after_unit(content, at, whole)
        content.resize(at)
    refusal = refused("serve", "--port", "0", "--data-dir", str(data))
    assert re.search(r"the log no longer holds all that it held at 20\S+Z \(version \d+ of match \w+\)", refusal)
    assert f"`moonstone restore`; or, to go on with what is there, remove {data}/heads.db" in refusal
    told.clear()
    assert not maintenance.check(environ, told.append)
    checked, missing, mark, compared = told
    assert checked.endswith("0 faults")  # in what is there nothing is wrong
    assert re.fullmatch(rf"match {match.id}, version \d+: the log held it and no longer does", missing)
    assert mark.startswith("the log lost what it acknowledged last before 20")
    assert compared.endswith("2 faults")

    (data / "heads.db").unlink()
    service = service_of(serve())
    until(lambda: played(service, match), PATIENCE, "the match is played on from where it is")
    service.close()


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


@pytest.mark.parametrize("part", ["log", "queue"])
def test_a_server_that_hangs_holds_up_the_end_for_no_more_than_ten_seconds(
    serve: Callable[[], Serving], part: str
) -> None:
    def ended() -> float:
        running = serve()
        until(lambda: len(running.pids("-m workers")) == 3, PATIENCE, "the workers are there")
        servers = {Path(f"/proc/{pid}/cwd").resolve().name: pid for pid in running.processes()}
        os.kill(servers[part], signal.SIGSTOP)
        asked = time.monotonic()
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(PATIENCE) == 0
        return time.monotonic() - asked

    in_time(ended, 10, "it ends")


def told(port: int) -> str:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/metrics").text
    except httpx.TransportError:
        return ""


@contextmanager
def alone(part: str, running: Serving, *arguments: str, **environ: str) -> Iterator[None]:
    """A part of the service by itself, on the servers of another."""
    service = service_of(running)
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
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        service.close()


def test_workers_run_alone_on_servers_that_are_named_and_tell_their_metrics(lasting: Serving, tmp_path: Path) -> None:
    other, port = tmp_path / "other", free_port()
    with alone("workers", lasting, "--data-dir", str(other), MOONSTONE_METRICS_PORT=str(port)):
        until((other / "store-id").exists, PATIENCE, "the workers met the store")
        until(lambda: "moonstone_chain_breaks_total 0.0" in told(port), PATIENCE, "they tell their metrics")


def test_the_api_runs_alone_and_tells_the_metrics_of_all_its_processes(lasting: Serving, tmp_path: Path) -> None:
    port = free_port()
    with alone("api", lasting, "--port", str(port), "--data-dir", str(tmp_path / "other")):
        until(lambda: "moonstone_chain_breaks_total 0.0" in told(port), PATIENCE, "it tells its metrics")
        for _ in range(20):  # each on a connection of its own, which any of its processes may take
            assert httpx.get(f"http://127.0.0.1:{port}/v1/games", timeout=PATIENCE).status_code == 200
        count = 'moonstone_request_seconds_count{method="GET",route="/v1/games",status="200"} 20.0'
        assert [count in told(port) for _ in range(10)] == [True] * 10
