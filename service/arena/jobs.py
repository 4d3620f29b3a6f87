"""Runs the jobs of a contest and yields their deals in order.

Job number 1 of 3 gets the deals 1, 4, 7 and so on. So which process plays a deal, and after which others, depends only on
the number of jobs, and a run can be repeated even with bots that keep something between matches.
"""

import os
import selectors
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import IO, Final, cast

import msgspec

from service.arena.deals import Broken, Deal, JobOrder, Report

QUEUED: Final = 2
"""Deals that a job has been asked for and has not reported: one that it plays, and the next."""
AHEAD: Final = 16
"""A job starts no deal that is this many rounds of all jobs after the first one that is missing."""

_decode: Final = msgspec.json.Decoder(Report).decode


class JobFailed(Exception):
    """A job ended before its deals were played; the message says why."""


class _Job:
    def __init__(self, order: JobOrder) -> None:
        self._process = subprocess.Popen(  # noqa: S603  (our own program)
            [sys.executable, "-P", "-m", "service.arena.job", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._input = cast(IO[bytes], self._process.stdin)
        self.output = cast(IO[bytes], self._process.stdout)
        self.queued = 0
        self._incomplete = b""
        self._send(msgspec.json.encode(order))

    def ask(self, number: int) -> None:
        self.queued += 1
        self._send(b"%d" % number)

    def _send(self, line: bytes) -> None:
        with suppress(BrokenPipeError):  # its last report, or the end of its output, says why
            self._input.write(line + b"\n")

    def reports(self) -> Iterator[Report]:
        """The reports that have arrived. Wait for the output to be readable first."""
        part = os.read(self.output.fileno(), 1 << 16)
        if not part:
            yield Broken(f"a job ended with status {self._process.wait()}")
        *lines, self._incomplete = (self._incomplete + part).split(b"\n")
        yield from map(_decode, lines)

    def stop(self) -> None:
        """Ask the process to end, with its bots. Then `close` waits for it."""
        self._process.terminate()

    def close(self) -> None:
        self._process.wait()
        self._input.close()
        self.output.close()


def deals(order: JobOrder, jobs: int, limit: int | None, known: Mapping[int, Deal]) -> Generator[Deal, None, None]:
    """Yield the deals 0, 1, … up to the limit, in order. Deals in `known` are not played again.

    Close the generator to end the jobs early.

    Raises:
        JobFailed: a bot cannot be loaded, or the rules failed.
    """
    done = dict(known)
    jobs = jobs if limit is None else min(jobs, limit)
    running: list[_Job] = []
    numbers = [_missing(first, jobs, limit, known) for first in range(jobs)]
    pending = [next(missing, None) for missing in numbers]
    try:
        running.extend(_Job(order) for _ in range(jobs))
        with selectors.DefaultSelector() as ready:
            for index, job in enumerate(running):
                ready.register(job.output, selectors.EVENT_READ, index)
            for wanted in count():
                if wanted == limit:
                    return
                while wanted not in done:
                    for index, job in enumerate(running):
                        number = pending[index]
                        while number is not None and job.queued < QUEUED and number < wanted + AHEAD * jobs:
                            job.ask(number)
                            number = pending[index] = next(numbers[index], None)
                    for key, _ in ready.select():
                        job = running[key.data]
                        for report in job.reports():
                            if isinstance(report, Broken):
                                raise JobFailed(report.fault)
                            if isinstance(report, Deal):
                                job.queued -= 1
                                done[report.number] = report
                yield done.pop(wanted)
    finally:
        for job in running:
            job.stop()
        for job in running:
            job.close()


def _missing(first: int, jobs: int, limit: int | None, known: Mapping[int, Deal]) -> Iterator[int]:
    return (
        number for number in (count(first, jobs) if limit is None else range(first, limit, jobs)) if number not in known
    )
