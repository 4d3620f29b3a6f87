"""What another account of the machine meets where `moonstone serve` runs: the API, and nothing of the two servers."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from service.adapters.server_folder import SOCKET
from tests.serving import Serving, serving

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
"""Connects as another account, and says what came of it."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that every account may enter, as one in a home folder or in /srv often is; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Serving]:
    (folder / "data" / "log").mkdir(parents=True)  # as an operator, a copy or an old release may have left them
    (folder / "data").chmod(0o777)
    with serving(folder) as running:
        yield running


def inodes(pid: int) -> Iterator[str]:
    """The sockets that a process has open."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            target = str(link.readlink())
            if target.startswith("socket:["):
                yield target.removeprefix("socket:[").removesuffix("]")


def listening(pids: set[int]) -> set[int]:
    """The TCP ports on which some processes listen, by either IP."""
    known = {inode for pid in pids for inode in inodes(pid)}
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in known:
                found.add(int(fields[1].rpartition(":")[2], 16))
    return found


def test_nothing_but_the_api_listens_on_tcp(served: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:  # it would be found
        assert listening({os.getpid()}) >= {other.getsockname()[1]}
    servers = {pid for pid in served.processes() if Path(f"/proc/{pid}/cwd").resolve().name in {"log", "queue"}}
    assert len(servers) == 2
    assert listening(servers) == set()
    assert listening(set(served.processes()) | {served.process.pid}) == {int(served.url.rpartition(":")[2])}


def test_nobody_else_can_put_another_folder_in_the_place_of_a_server_s(served: Serving, folder: Path) -> None:
    assert served.process.poll() is None
    assert (folder / "data").stat().st_mode & 0o777 == 0o755


def test_the_servers_folders_are_entered_by_nobody_else(served: Serving, folder: Path) -> None:
    assert served.process.poll() is None
    for server in ("log", "queue"):
        assert (folder / "data" / server).stat().st_mode & 0o077 == 0
        assert (folder / "data" / server / SOCKET).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another account")
def test_another_account_cannot_connect(served: Serving, folder: Path) -> None:
    sockets = [str(folder / "data" / server / SOCKET) for server in ("log", "queue")]

    def connected(uid: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, str(uid), *sockets], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.splitlines()

    assert served.process.poll() is None
    assert connected(os.getuid()) == [f"{path} b'+PONG\\r\\n'" for path in sockets]
    assert connected(NOBODY) == ["PermissionError"] * 2
