"""Two releases on one log and one queue: their trees, and their processes."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from os import environ as own_environ
from pathlib import Path
from typing import Final, NamedTuple
from zipfile import ZipFile

import pytest

from tests.ports import free_port
from tests.waiting import until

ROOT: Final = Path(__file__).parents[2]
BEFORE: Final = "4ee5d89f1d5f2f54243008489e2b33e11fb1023a"
"""The last commit whose processes know two kinds of due entries, `job` and `clock`, and lanes `turns` and `overtime`."""
START_S: Final = 120
STOP_S: Final = 60

_VERIFY: Final = """
import sys
from service.local_commands import verify
for file in sys.argv[1:]:
    verify.main([file], standalone_mode=False)
"""


class Running(NamedTuple):
    """A process of a release; `log` holds what it wrote to stderr."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Ask it to end, and wait until it has ended as it should."""
        self.process.terminate()
        assert self.process.wait(STOP_S) == 0, self.log.read_text(encoding="utf-8")[-2000:]

    def faults(self) -> list[str]:
        """All lines of its log that tell of something that should not happen."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        bad = ("level=error", "level=critical", "Traceback")
        return [f"{self.name}: {line}" for line in lines if any(word in line for word in bad)]


class Release:
    """One tree of the project, and the processes of it that run."""

    def __init__(self, name: str, tree: Path, folder: Path, environ: Mapping[str, str]) -> None:
        self.name = name
        self.port = free_port()
        self.processes: list[Running] = []
        self._tree = tree
        self._folder = folder
        self._environ = environ

    def start(self, *workers: Sequence[str]) -> None:
        """Start an API process, and a worker process for each list of arguments; wait until the API serves."""
        for arguments in (["api"], *(["workers", *given] for given in workers)):
            self.processes.append(self._started(arguments))
        until(self._serves, START_S, f"the API of the {self.name} release serves")

    def stop(self) -> None:
        for running in self.processes:
            running.stop()

    def kill(self) -> None:
        for running in self.processes:
            running.process.kill()
            running.process.wait()

    def faults(self) -> list[str]:
        return [fault for running in self.processes for fault in running.faults()]

    def verify(self, files: Sequence[Path]) -> None:
        """Let this release check match files."""
        command = [sys.executable, "-c", _VERIFY, *map(str, files)]
        done = subprocess.run(command, cwd=self._tree, env=self._environment(), capture_output=True, check=False)
        assert done.returncode == 0, f"the {self.name} release: {done.stderr.decode()[-2000:]}"
        assert done.stdout.decode().count("chain, draws, effects, actions, outcome hold") == len(files)

    def _started(self, arguments: Sequence[str]) -> Running:
        name = f"{self.name}-{'-'.join(arguments)}"
        log = self._folder / f"{name}.log"
        with log.open("wb") as opened:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=self._tree,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stderr=opened,
            )
        return Running(name, process, log)

    def _environment(self) -> Mapping[str, str]:
        more = {"PYTHONPATH": str(self._tree), "MOONSTONE_PORT": str(self.port)}
        return {**own_environ, **self._environ, **more}

    def _serves(self) -> bool:
        for running in self.processes:
            assert running.process.poll() is None, running.log.read_text(encoding="utf-8")[-2000:]
        with (
            suppress(OSError, HTTPException),
            closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection,
        ):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        return False


@contextmanager
def two_releases(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[Release, Release]]:
    """The release before and that of this tree, neither running yet; what runs of them ends with the block."""
    tree = folder / "before"
    _unpack(BEFORE, tree)
    releases = Release("old", tree, folder, environ), Release("new", ROOT, folder, environ)
    try:
        yield releases
    finally:
        for release in releases:
            release.kill()


def _unpack(commit: str, tree: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git here, which knows the release before")
    command = ["git", "archive", "--format=zip", commit]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip(f"the release before, commit {commit[:8]}, is not in the history of this checkout")
    with ZipFile(BytesIO(packed.stdout)) as archive:
        archive.extractall(tree)
