"""Other accounts of the machine where `moonstone serve` runs can use the API, but not its two servers."""

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
from tests.serving import FEWEST, Serving, serving

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
def served(folder: Path) -> Iterator[Serving]:
    (folder / "data" / "log").mkdir(parents=True)  # open, as an operator or a copy may leave it
    (folder / "data").chmod(0o777)
    with serving(folder, **FEWEST) as running:
        yield running


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


def test_nothing_but_the_api_listens_on_tcp(served: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:  # shows that `listening` finds one
        assert listening({os.getpid()}) >= {other.getsockname()[1]}
    servers = {pid for pid in served.processes() if Path(f"/proc/{pid}/cwd").resolve().name in {"log", "queue"}}
    assert len(servers) == 2
    assert listening(servers) == set()
    assert listening(set(served.processes()) | {served.process.pid}) == {int(served.url.rpartition(":")[2])}


def test_other_accounts_cannot_replace_a_server_s_folder(served: Serving, folder: Path) -> None:
    assert served.process.poll() is None
    assert (folder / "data").stat().st_mode & 0o777 == 0o755


def test_other_accounts_cannot_enter_the_servers_folders(served: Serving, folder: Path) -> None:
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
