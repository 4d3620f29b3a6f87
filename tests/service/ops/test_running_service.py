"""One running `moonstone serve`: its parts are restarted, run beside it alone, and are closed to other accounts of its machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from service.adapters.server_folder import SOCKET
from tests.ports import free_port
from tests.service.ops.services import TIMEOUT_S, bots, played, service_of
from tests.serving import COMMAND, FEWEST, ROOT, Serving, began, serving
from tests.waiting import until

NOBODY = 65534

CONNECT = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
for path in sys.argv[2:]:
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)
            one.sendall(b"PING\\r\\n")
            print(path, one.recv(10))
    except OSError as error:
        print(type(error).__name__)
"""
"""Connects as another account, and prints the result."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that every account may enter, as folders in /srv often are; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shared_service(folder: Path) -> Iterator[tuple[Serving, int]]:
    """The service of all tests here, and the number of its processes."""
    (folder / "data" / "log").mkdir(parents=True)  # open, as an operator or a copy may leave it
    (folder / "data").chmod(0o777)
    with serving(folder, **FEWEST) as running:
        until(lambda: running.pids("-m workers.calls"), TIMEOUT_S, "the last process is started")
        yield running, len(running.processes())


@pytest.fixture
def running(shared_service: tuple[Serving, int]) -> Serving:
    """The service once the processes that the test before killed run again."""
    found, count = shared_service
    until(lambda: len(found.processes()) == count, TIMEOUT_S, "all processes run")
    until(lambda: answer(f"{found.url}/readyz"), TIMEOUT_S, "the service is ready")
    return found


def answer(url: str) -> str:
    """The text of a successful answer; empty if there is none."""
    with suppress(httpx.TransportError):
        response = httpx.get(url, timeout=TIMEOUT_S, verify=False)  # reads no certificates
        return response.text if response.is_success else ""
    return ""


@pytest.mark.parametrize(
    ("part", "processes"), [("-m api", 2), ("-m workers", 4), ("/log/socket", 1), ("/queue/socket", 1)]
)
def test_every_killed_part_is_restarted_within_three_seconds(running: Serving, part: str, processes: int) -> None:
    service = service_of(running)
    # A busy machine is slow sometimes; a slow service would be slow every time.
    assert any(seconds_until_restarted(running, part, processes) < 3 for _ in range(3))
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


def test_a_data_folder_in_use_is_refused(running: Serving, folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "serve", "--port", "0", "--data-dir", str(folder / "data")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, "is in use by another `moonstone serve`" in done.stderr) == (1, True), done
    assert running.process.poll() is None


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


def test_workers_run_without_an_api_on_given_servers_and_serve_their_metrics(running: Serving, tmp_path: Path) -> None:
    other, port = tmp_path / "other", free_port()
    with alone("workers", running, "--data-dir", str(other), MOONSTONE_METRICS_PORT=str(port)):
        until((other / "store-id").exists, TIMEOUT_S, "the workers have opened the store")
        metrics = f"http://127.0.0.1:{port}/metrics"
        until(lambda: "moonstone_chain_breaks_total 0.0" in answer(metrics), TIMEOUT_S, "they serve metrics")


def test_the_api_runs_without_workers_and_serves_the_metrics_of_all_its_processes(
    running: Serving, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with alone("api", running, "--port", url.rpartition(":")[2], "--data-dir", str(tmp_path / "other")):
        until(lambda: "moonstone_chain_breaks_total 0.0" in answer(f"{url}/metrics"), TIMEOUT_S, "it serves metrics")
        for _ in range(20):  # each on a new connection, which any API process may accept
            assert answer(f"{url}/v1/games")
        count = 'moonstone_request_seconds_count{method="GET",route="/v1/games",status="200"} 20.0'
        # A process counts a request after it has sent the answer.
        until(lambda: count in answer(f"{url}/metrics"), TIMEOUT_S, "the last request is counted")
        assert [count in answer(f"{url}/metrics") for _ in range(10)] == [True] * 10


def inodes(pid: int) -> Iterator[str]:
    """The open sockets of a process."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            target = str(link.readlink())
            if target.startswith("socket:["):
                yield target.removeprefix("socket:[").removesuffix("]")


def listening(pids: set[int]) -> set[int]:
    """The TCP ports on which some processes listen, with IPv4 or IPv6."""
    known = {inode for pid in pids for inode in inodes(pid)}
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in known:
                found.add(int(fields[1].rpartition(":")[2], 16))
    return found


def test_nothing_but_the_api_listens_on_tcp(running: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:  # shows that `listening` finds one
        assert listening({os.getpid()}) >= {other.getsockname()[1]}
    servers = {pid for pid in running.processes() if Path(f"/proc/{pid}/cwd").resolve().name in {"log", "queue"}}
    assert len(servers) == 2
    assert listening(servers) == set()
    assert listening(set(running.processes()) | {running.process.pid}) == {int(running.url.rpartition(":")[2])}


def test_other_accounts_cannot_replace_a_server_s_folder(running: Serving, folder: Path) -> None:
    assert running.process.poll() is None
    assert (folder / "data").stat().st_mode & 0o777 == 0o755


def test_other_accounts_cannot_enter_the_servers_folders(running: Serving, folder: Path) -> None:
    assert running.process.poll() is None
    for server in ("log", "queue"):
        assert (folder / "data" / server).stat().st_mode & 0o077 == 0
        assert (folder / "data" / server / SOCKET).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another account")
def test_another_account_cannot_connect(running: Serving, folder: Path) -> None:
    sockets = [str(folder / "data" / server / SOCKET) for server in ("log", "queue")]

    def connected(uid: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, str(uid), *sockets], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.splitlines()

    assert running.process.poll() is None
    assert connected(os.getuid()) == [f"{path} b'+PONG\\r\\n'" for path in sockets]
    assert connected(NOBODY) == ["PermissionError"] * 2
