"""The output of the benchmarks: a table on stdout, a line of progress on a terminal, and the same rows as JSON."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

LOG: Final = "servers.log"
"""The name of the file to which the servers of a part write, in the folder of the part."""

_CLEAR: Final = "\r\x1b[K"
_LOG_LINES: Final = 20


class Row(msgspec.Struct, frozen=True):
    """A figure with its unit, and a note with what to compare it with."""

    part: str
    what: str
    value: float
    unit: str
    note: str


class Table:
    """Collects the rows of a run, and prints each when it is measured."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._seconds: dict[str, float] = {}
        self._part = ""

    def row(self, what: str, value: float, unit: str, note: str = "", *, digits: int = 0) -> None:
        self._rows.append(Row(self._part, what, value, unit, note))
        self._progress("")
        print(f"{what:<58} {f'{value:,.{digits}f} {unit}':>22}   {note}", flush=True)
        self._progress(f"{self._part} …")

    @contextmanager
    def part(self, name: str, log: Path) -> Iterator[None]:
        """Run a part, whose servers write to `log`. If it fails, the end of the log is printed."""
        began = time.monotonic()
        self._part = name
        self._progress(f"{name} …")
        try:
            yield
        except BaseException:
            self._progress("")
            if log.exists():
                sys.stderr.writelines(log.read_text("utf-8", "replace").splitlines(keepends=True)[-_LOG_LINES:])
            raise
        self._progress("")
        self._seconds[name] = round(time.monotonic() - began, 1)

    def json(self) -> bytes:
        machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
        document = {"rows": self._rows, "seconds": self._seconds, "on": machine}
        return msgspec.json.format(msgspec.json.encode(document)) + b"\n"

    @staticmethod
    def _progress(text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(_CLEAR + text)
            sys.stderr.flush()
