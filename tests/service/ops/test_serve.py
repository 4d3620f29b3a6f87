"""`moonstone serve`: it starts all processes, restarts those that die, and all end with their supervisor."""

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
from functools import partial
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
from service.ops.serve import CannotServe, run_workers
from service.ops.serve import serve as serve_here
from service.settings import BadSetting, read
from service.usecases.match_lifecycle import create
from tests import command_line
from tests.ports import free_port
from tests.serving import COMMAND, FEWEST, ROOT, Serving, began, command, serving
from tests.waiting import in_time, until

TIMEOUT_S = 60
"""For steps without a time limit of their own, on a busy machine."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def service_of(serving: Serving) -> Service:
    """The service on the servers that the workers use."""

    def environ() -> dict[str, str]:
        """The environment of a worker; empty for a moment, between fork and exec."""
        worker = min(serving.pids("-m workers"), default=0)
        content = Path(f"/proc/{worker}/environ").read_text() if worker else ""
        return dict(entry.split("=", 1) for entry in content.split("\0") if "=" in entry)

    return build(read(until(environ, TIMEOUT_S, "a worker has its environment")), listen=False)


def have_ended(pids: set[int]) -> bool:
    return not [pid for pid in pids if command(pid)]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], Serving]]:
    started: list[Serving] = []
    with ExitStack() as stack:

        def start() -> Serving:
            started.append(stack.enter_context(serving(tmp_path, **FEWEST)))
            return started[-1]

        yield start
        for one in started:
            one.process.kill()  # other tests cover an orderly shutdown, which takes longer


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared_service")


@pytest.fixture(scope="module")
def shared_service(shared_folder: Path) -> Iterator[Serving]:
    """A service that is shared by the tests that do not damage it."""
    with serving(shared_folder, **FEWEST) as running:
        yield running


def bots(service: Service) -> Match:
    """A match of bots, created once the log answers: the server's process exists before it listens."""
    wanted, key = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random")), token_hex(4)

    def created() -> Match | None:
        with suppress(LogUnavailable):
            return create(service.ports, "pl_a", wanted, key).match
        return None

    return until(created, TIMEOUT_S, "the log stores the match")


def played(service: Service, match: Match) -> bool:
    return service.ports.history.newest(match.id)[0].status == "finished"


def ended(running: Serving, again: Callable[[], Serving], part: str) -> float:
    """Seconds until a service ends after SIGINT while one of its servers hangs. A service that has ended is started again."""
    if running.process.poll() is not None:
        running = again()
        until(lambda: len(running.pids("-m workers")) == 4, TIMEOUT_S, "the workers and the calls run")
    servers = {Path(f"/proc/{pid}/cwd").resolve().name: pid for pid in running.processes()}
    os.kill(servers[part], signal.SIGSTOP)
    requested_at = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(TIMEOUT_S) == 0
    return time.monotonic() - requested_at


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_finds_every_match(
    serve: Callable[[], Serving],
) -> None:
    """The next one ends within ten seconds although the queue hangs."""
    first = serve()
    service = service_of(first)
    done, match = bots(service), bots(service)
    until(lambda: played(service, done), TIMEOUT_S, "the bots play")
    children = set(first.processes())
    assert len(children) == 8  # two servers, gunicorn and one worker of it, two workers, one for bots, and the calls
    service.close()
    first.process.kill()
    until(lambda: have_ended(children), TIMEOUT_S, "every process ends")

    second = serve()
    service = service_of(second)
    assert played(service, done)
    until(lambda: played(service, match), TIMEOUT_S, "the other match is played on")
    service.close()
    children = set(second.processes())
    in_time(partial(ended, second, serve, "queue"), 10, "it ends")
    assert have_ended(children)


@pytest.mark.parametrize(
    ("part", "processes"), [("-m api", 2), ("-m workers", 4), ("/log/socket", 1), ("/queue/socket", 1)]
)
def test_every_killed_part_is_restarted_within_three_seconds(
    shared_service: Serving, part: str, processes: int
) -> None:
    service = service_of(shared_service)
    # A busy machine is slow sometimes; a slow service would be slow every time.
    assert any(seconds_until_restarted(shared_service, part, processes) < 3 for _ in range(3))
    match = bots(service)
    until(lambda: played(service, match), TIMEOUT_S, "the bots play")
    service.close()


def seconds_until_restarted(running: Serving, part: str, processes: int) -> float:
    """Kill all processes of a part at once; seconds until as many new ones run."""

    def all_of_them() -> set[int] | None:
        found = running.pids(part)
        return found if len(found) >= processes else None

    before = until(all_of_them, TIMEOUT_S, "all processes run")
    killed = time.monotonic()
    for pid in sorted(before, key=began):  # parents first, or they would restart their children
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(running.pids(part) - before) >= processes, TIMEOUT_S, "it runs again")
    return time.monotonic() - killed


def refused(*arguments: str, **environ: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stderr


def test_a_data_folder_in_use_is_refused(shared_service: Serving, shared_folder: Path) -> None:
    refusal = refused("serve", "--port", "0", "--data-dir", str(shared_folder / "data"))
    assert "is in use by another `moonstone serve`" in refusal
    assert shared_service.process.poll() is None


def not_served(data: Path) -> str:
    """Why a data folder is not served."""
    with pytest.raises(CannotServe) as refusal:
        serve_here({**os.environ, "MOONSTONE_PORT": "0", "MOONSTONE_DATA_DIR": str(data)}, print)
    return str(refusal.value)


def test_a_log_that_lost_its_end_is_not_served_and_a_check_reports_what_is_missing(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    """The service that continues with what is left ends within ten seconds although the log hangs."""
    data = tmp_path / "data"
    running = serve()
    service = service_of(running)
    match = bots(service)
    until(lambda: played(service, match), TIMEOUT_S, "the bots play")
    service.close()
    running.process.terminate()
    assert running.process.wait(TIMEOUT_S) == 0
    environ, messages = {"MOONSTONE_DATA_DIR": str(data)}, list[str]()
    assert maintenance.check(environ, messages.append)
    assert re.fullmatch(r"compared 1 heads that were saved outside the log, last at 20\S+Z: 0 faults", messages[-1])

    (file,) = (data / "log" / "appendonlydir").glob("*.incr.aof")
    with file.open("r+b") as opened, mmap(opened.fileno(), 0) as content:
        size = len(content)
        at = 0
        while at < size * 2 // 3:
            at = _after_unit(content, at, size)
        content.resize(at)
    refusal = not_served(data)
    assert re.search(r"the log has lost data that it had at 20\S+Z \(version \d+ of match \w+\)", refusal)
    assert f"`moonstone restore`; or, to continue with what is left, remove {data}/heads.db" in refusal
    messages.clear()
    assert not maintenance.check(environ, messages.append)
    checked, missing, mark, compared = messages
    assert checked.endswith("0 faults")  # what is left is valid
    assert re.fullmatch(rf"match {match.id}, version \d+: the log held it and no longer does", missing)
    assert mark.startswith("the log lost data that it acknowledged before 20")
    assert compared.endswith("2 faults")

    (data / "heads.db").unlink()
    second = serve()
    service = service_of(second)
    until(lambda: played(service, match), TIMEOUT_S, "the match is played on from where it is")
    service.close()
    in_time(partial(ended, second, serve, "log"), 10, "it ends")
    shutil.rmtree(data / "log" / "appendonlydir")
    assert "the log's server is empty" in not_served(data)


def test_faults_that_an_operator_can_fix_are_reported_in_a_sentence(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=rf"cannot listen on 127.0.0.1:{port} \(Address already in use\)"):
            serve_here({"MOONSTONE_PORT": f"{port}", "MOONSTONE_DATA_DIR": str(tmp_path)}, print)
    wrong_port = command_line.run("serve", "--port", "http", *data)
    assert "Invalid value for '--port': must be a whole number from 0 to 65535." in wrong_port.stderr
    assert "MOONSTONE_PORT must be a whole number" in refused("serve", *data, MOONSTONE_PORT="http")
    assert "MOONSTONE_LOG_URL must name a server" in command_line.run("api", *data).stderr
    with pytest.raises(BadSetting, match="MOONSTONE_WORKERS must be"):
        run_workers({"MOONSTONE_WORKERS": "0"})
    unreachable_url = "redis://me:secret@127.0.0.1:1/0"
    output = refused("workers", *data, MOONSTONE_LOG_URL=unreachable_url, MOONSTONE_QUEUE_URL=unreachable_url)
    assert "the log at 127.0.0.1:1 is not available: unavailable" in output
    assert "secret" not in output


def metrics_text(port: int) -> str:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/metrics", verify=False).text  # reads no certificates
    except httpx.TransportError:
        return ""


@contextmanager
def alone(part: str, running: Serving, *arguments: str, **environ: str) -> Iterator[None]:
    """Start one part of the service alone, on the servers of another."""
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
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.kill()
        service.close()


def test_workers_run_without_an_api_on_given_servers_and_serve_their_metrics(
    shared_service: Serving, tmp_path: Path
) -> None:
    other, port = tmp_path / "other", free_port()
    settings = {**FEWEST, "MOONSTONE_METRICS_PORT": str(port)}
    with alone("workers", shared_service, "--data-dir", str(other), **settings):
        until((other / "store-id").exists, TIMEOUT_S, "the workers have opened the store")
        until(lambda: "moonstone_chain_breaks_total 0.0" in metrics_text(port), TIMEOUT_S, "they serve metrics")


def test_the_api_runs_without_workers_and_serves_the_metrics_of_all_its_processes(
    shared_service: Serving, tmp_path: Path
) -> None:
    port = free_port()
    with alone("api", shared_service, "--port", str(port), "--data-dir", str(tmp_path / "other")):
        until(lambda: "moonstone_chain_breaks_total 0.0" in metrics_text(port), TIMEOUT_S, "it serves metrics")
        for _ in range(20):  # each on a new connection, which any API process may accept
            assert httpx.get(f"http://127.0.0.1:{port}/v1/games", timeout=TIMEOUT_S, verify=False).is_success
        count = 'moonstone_request_seconds_count{method="GET",route="/v1/games",status="200"} 20.0'
        assert [count in metrics_text(port) for _ in range(10)] == [True] * 10
