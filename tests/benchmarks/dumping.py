"""Moves over HTTP alone, and while `moonstone dump` runs again and again, in alternating rounds."""

import os
import subprocess
import sys
import threading
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

ENDED: Final = 150
"""Matches in the dump."""
ROUNDS: Final = 5


class Beside(msgspec.Struct, frozen=True):
    """Moves per second and their p99 (ms) alone and beside dumps, as medians of the rounds; and what the dumps did."""

    alone: float
    alone_p99: float
    beside: float
    beside_p99: float
    dumps: int
    matches_per_second: float


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
        dumps=dumps.count,
        matches_per_second=ENDED / median(dumps.seconds),
    )


@contextmanager
def _nothing() -> Iterator[None]:
    yield


class Dumps:
    """Runs `moonstone dump` into new folders, one after the other."""

    def __init__(self, env: Mapping[str, str], log: IO[bytes], folder: Path) -> None:
        self._env = env
        self._log = log
        self._folder = folder
        self.count = 0
        self.seconds: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Dumps run during the block; the last one is stopped at its end."""
        ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(ended,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _run(self, ended: threading.Event) -> None:
        while not ended.is_set():
            began = time.monotonic()
            self.count += 1
            command = [sys.executable, "-m", "service.ops.cli", "dump", str(self._folder / f"dump-{self.count}")]
            with subprocess.Popen(command, env=self._env, stdout=self._log, stderr=self._log) as process:
                while process.poll() is None and not ended.wait(0.02):
                    pass
                if process.poll() is None and self.seconds:
                    process.terminate()
                else:
                    assert process.wait() == 0, "see the log"
                    self.seconds.append(time.monotonic() - began)
