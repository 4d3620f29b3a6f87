"""Moves over HTTP alone, and while `moonstone dump` runs, in alternating rounds."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import IO, Final

import msgspec

from service.automation.bot_turns import advance
from service.container import Service
from service.match.new_match import NewMatch
from service.usecases.match_lifecycle import create
from tests.benchmarks.http import GAME, action_scripts, serving
from tests.benchmarks.load import drive
from tests.ports import free_port
from tests.waiting import until

ENDED: Final = 300
"""Matches in the dump: enough for a whole round of moves."""
ROUNDS: Final = 5


class Beside(msgspec.Struct, frozen=True):
    """Moves per second and their p99 (ms), and the matches per second that a dump copies, as medians of the rounds."""

    alone: float
    alone_p99: float
    beside: float
    beside_p99: float
    copied_alone: float
    copied_beside: float


def compare(service: Service, environ: Mapping[str, str], log: IO[bytes], folder: Path) -> Beside:
    for number in range(ENDED):
        wanted = NewMatch(game=GAME, seats=2, bots=("random", "random"))
        match = create(service.ports, "pl_bench", wanted, f"ended-{number}").match
        while advance(service.ports, match.id, moves=1000):
            pass
    port = free_port()
    env = {
        **environ,
        "MOONSTONE_PORT": str(port),
        "MOONSTONE_MOVES_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    }
    rates: dict[bool, list[float]] = {False: [], True: []}
    p99s: dict[bool, list[float]] = {False: [], True: []}
    dumps = Dumps({**os.environ, **env}, log, folder)
    copied_alone = dumps.whole()
    with serving(log, "api", env=env, port=port):
        for number in range(ROUNDS):
            for dumping in (False, True):
                scripts = action_scripts(service, f"dump-{number}-{dumping}")
                with dumps.running() if dumping else _nothing():
                    answers = drive(port, scripts)
                assert set(answers.statuses) <= {200, 201}, answers.statuses
                rates[dumping].append(answers.rate)
                p99s[dumping].append(answers.percentile(0.99))
    return Beside(
        alone=median(rates[False]),
        alone_p99=median(p99s[False]),
        beside=median(rates[True]),
        beside_p99=median(p99s[True]),
        copied_alone=copied_alone,
        copied_beside=median(dumps.rates),
    )


@contextmanager
def _nothing() -> Iterator[None]:
    yield


class Dumps:
    """Runs `moonstone dump` into new folders."""

    def __init__(self, env: Mapping[str, str], log: IO[bytes], folder: Path) -> None:
        self._env = env
        self._log = log
        self._folder = folder
        self._whole_bytes = 0
        self.rates: list[float] = []
        """Matches per second that were copied during each block of `running`."""

    def whole(self) -> float:
        """Write a whole dump; returns its matches per second."""
        folder = self._folder / "dump-whole"
        with self._started(folder) as process:
            began = time.monotonic()
            assert process.wait() == 0, "see the log"
        self._whole_bytes = _size(folder)
        return ENDED / (time.monotonic() - began)

    @contextmanager
    def running(self) -> Iterator[None]:
        """A dump copies matches from before the block until after it; then it is stopped."""
        folder = self._folder / f"dump-{len(self.rates)}"
        with self._started(folder) as process:
            began, size = time.monotonic(), _size(folder)
            yield
            copied = ENDED * (_size(folder) - size) / self._whole_bytes
            self.rates.append(copied / (time.monotonic() - began))
            assert process.poll() is None, "the dump ended before the moves"
            process.terminate()

    @contextmanager
    def _started(self, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "service.ops.cli", "dump", str(folder)]
        with subprocess.Popen(command, env=self._env, stdout=self._log, stderr=self._log) as process:
            until(lambda: _size(folder) > 0, 60, "the dump has a match")
            yield process


def _size(folder: Path) -> int:
    """The size (bytes) of the matches in a dump, also of those in a draft."""
    return sum(path.stat().st_size for path in folder.glob("*.ndjson.zst*"))
