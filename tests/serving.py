"""`moonstone serve` as a process: start it, share it, find its processes, and kill them."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "from service.ops.cli import main; main()"]
UNHURRIED: Final = {
    "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    "MOONSTONE_SIGN_UPS_BY_ADDRESS": "1000000",
    "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
    "MOONSTONE_CREATIONS_BY_TOKEN": "1000000",
    "MOONSTONE_RECOVERIES_BY_ADDRESS": "1000000",
}
"""Higher limits, because the tests send requests faster than a person."""
FEWEST: Final = {"MOONSTONE_API_WORKERS": "1"}
"""The fewest processes. Each takes about half a second of processor time to start."""
SMALL: Final = {**UNHURRIED, **FEWEST}


class Serving:
    """A running `moonstone serve` that has printed its address."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        out = process.stdout
        assert out is not None
        self.url = _ready_line(out).split()[-1]

    def processes(self) -> dict[int, str]:
        """All descendants of the supervisor's process, with their command lines."""
        found: dict[int, str] = {}
        left = _children(self.process.pid)
        while left:
            pid = left.pop()
            found[pid] = command(pid)
            left += _children(pid)
        return found

    def pids(self, part: str) -> set[int]:
        return {pid for pid, line in self.processes().items() if part in line}

    def kill(self, part: str, folder: str = "") -> int:
        """Send SIGKILL to the youngest process whose command line has this part: a worker, not the process that forked it.

        `folder` is the working directory of the process: it distinguishes the two servers, which have the same command line.
        Returns the process id.
        """
        found = {pid: began(pid) for pid in self.pids(part) if _works_in(pid, folder)}
        victim = max(found, key=found.__getitem__)
        os.kill(victim, signal.SIGKILL)
        return victim


def _children(pid: int) -> list[int]:
    """The child processes of all threads of a process; none if it has ended."""
    found: list[int] = []
    with suppress(OSError):
        for children in [*Path(f"/proc/{pid}/task").glob("*/children")]:
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def _ready_line(out: IO[str]) -> str:
    line = out.readline()
    assert line.startswith("Moonstone is ready at http://127.0.0.1:"), line
    return line.strip()


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def began(pid: int) -> int:
    """The start time of a process in ticks since boot, because process ids are reused; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return 0


def _works_in(pid: int, folder: str) -> bool:
    return not folder or Path(f"/proc/{pid}/cwd").resolve().name == folder


@contextmanager
def serving(folder: Path, stderr: IO[bytes] | None = None, /, **settings: str) -> Iterator[Serving]:
    """The whole service on a data folder, and on a free port unless the settings name one.

    It logs to `stderr`, by default to the stderr of the tests.
    """
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", settings.get("MOONSTONE_PORT", "0"), "--data-dir", str(folder / "data")],
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        yield Serving(process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


class Served(NamedTuple):
    """A running service that this test process may not have started."""

    url: str


@contextmanager
def shared(folder: Path, **settings: str) -> Iterator[Served]:
    """The service of all test processes that name this folder. The first one starts it, and ends it after the others left."""
    folder.mkdir(exist_ok=True)
    address = folder / "address"
    with (folder / "lock").open("w") as lock, (folder / "users").open("w") as users, ExitStack() as stack:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            address.write_text(stack.enter_context(serving(folder, **settings)).url, encoding="ascii")
            stack.callback(address.unlink)
            stack.callback(fcntl.flock, users, fcntl.LOCK_EX)  # waits until the others have left
            stack.callback(fcntl.flock, lock, fcntl.LOCK_EX)  # who comes now waits, and starts another service
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(lock, fcntl.LOCK_UN)
        yield Served(address.read_text(encoding="ascii"))
