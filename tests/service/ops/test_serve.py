"""`moonstone serve`: it starts all processes, restarts those that die, and all end with their supervisor."""

import os
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from mmap import mmap
from pathlib import Path

import pytest

from service.adapters.log_file import _after_unit
from service.adapters.valkey import Valkey
from service.match.model import Match
from service.ops import maintenance
from service.ops.serve import CannotServe, _head_keeper, run_workers
from service.ops.serve import serve as serve_here
from service.settings import BadSetting, read
from tests import command_line
from tests.service.ops.services import TIMEOUT_S, bots, have_ended, played, service_of
from tests.service.ops.stores import open_store
from tests.serving import FEWEST, Serving, serving
from tests.waiting import in_time, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


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
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    """The next one ends within ten seconds although the queue hangs, and saves the heads of the log."""
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
    last = bots(service)
    until(lambda: played(service, last), TIMEOUT_S, "a third match is played, whose head is saved at the end")
    service.close()
    children = set(second.processes())
    in_time(partial(ended, second, serve, "queue"), 10, "it ends")
    assert have_ended(children)
    messages = list[str]()
    assert maintenance.check({"MOONSTONE_DATA_DIR": str(tmp_path / "data")}, messages.append)
    assert re.fullmatch(r"compared 3 heads that were saved outside the log, last at 20\S+Z: 0 faults", messages[-1])


def not_served(data: Path) -> str:
    """Why a data folder is not served."""
    with pytest.raises(CannotServe) as refusal:
        serve_here({**os.environ, "MOONSTONE_PORT": "0", "MOONSTONE_DATA_DIR": str(data)}, print)
    return str(refusal.value)


def match_of_a_service_that_ended(data: Path) -> Match:
    """A finished match in the log of a new data folder, whose heads are saved too."""
    with ExitStack() as stack:
        log = stack.enter_context(Valkey.start(data / "log", durable=True))
        environ = {"MOONSTONE_LOG_URL": log.url, "MOONSTONE_QUEUE_URL": log.url, "MOONSTONE_DATA_DIR": str(data)}
        match = open_store(environ, stack).bots(over=True)
        keeper = _head_keeper(read(environ))
        keeper.start()
        keeper.stop()
    return match


def test_a_log_that_lost_its_end_is_not_served_and_a_check_reports_what_is_missing(
    serve: Callable[[], Serving], tmp_path: Path
) -> None:
    """The service that continues with what is left ends within ten seconds although the log hangs."""
    data = tmp_path / "data"
    match = match_of_a_service_that_ended(data)
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
    running = serve()
    service = service_of(running)
    until(lambda: played(service, match), TIMEOUT_S, "the match is played on from where it is")
    service.close()
    in_time(partial(ended, running, serve, "log"), 10, "it ends")
    shutil.rmtree(data / "log" / "appendonlydir")
    assert "the log's server is empty" in not_served(data)


def refused(*words: str, **environ: str) -> str:
    """Why a command does nothing."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        done = command_line.run(*words)
    assert done.exit_code == 1, done.output
    return done.stderr


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
    assert "MOONSTONE_LOG_URL must name a server" in command_line.run("api", *data, "--port", "", "--host", "").stderr
    assert "MOONSTONE_LOG_URL must name a server" in refused("api", *data)
    with pytest.raises(BadSetting, match="MOONSTONE_WORKERS must be"):
        run_workers({"MOONSTONE_WORKERS": "0"})
    unreachable_url = "redis://me:secret@127.0.0.1:1/0"
    output = refused("workers", *data, MOONSTONE_LOG_URL=unreachable_url, MOONSTONE_QUEUE_URL=unreachable_url)
    assert "the log at 127.0.0.1:1 is not available: unavailable" in output
    assert "secret" not in output
