"""Servers with simulated power failures, slow disks and wrong clocks."""

import os
import shutil
import signal
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from service.adapters.valkey import Valkey, _packaged_binary
from tests.waiting import until

HERE: Final = Path(__file__).parent


def shim(folder: Path, source: str) -> Path:
    """A library in `folder` for LD_PRELOAD."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc here, which the shim needs")
    made = folder / f"{source}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", made, HERE / f"{source}.c", "-ldl"], check=True)
    return made


def preloaded(folder: Path, source: str, environ: Mapping[str, str]) -> Path:
    """A script in `folder` that runs the server with a shim in LD_PRELOAD."""
    script = folder / source
    preload = {"LD_PRELOAD": str(shim(folder, source))}
    words = " ".join(f"'{name}={value}'" for name, value in {**environ, **preload}.items())
    script.write_text(f'#!/bin/sh\nexec env {words} {_packaged_binary()} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


class Written(NamedTuple):
    """The bytes of a file, and how many of them are certainly on the disk."""

    size: int
    synced: int


class PowerCut:
    """A log with power failures, which lose what was not synced, and a disk that can be slow."""

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        folder.mkdir()
        self._synced = folder / "synced"
        self._slow = folder / "slow"
        environ = {"POWERCUT_LOG": str(self._synced), "SLOW_DISK": str(self._slow)}
        binary = preloaded(folder, "powercut", environ)
        self.server = Valkey.start(folder / "log", durable=True, binary=binary, options=options)

    def slow_down(self, ms: int) -> None:
        """Make every sync take this many milliseconds."""
        self._slow.write_text(str(ms), encoding="ascii")

    def cut(self, least: int = 0) -> int:
        """Cut the power at a moment that loses at least this many bytes; returns how many. The server stays down."""

        def would_cost_it() -> bool:
            os.kill(self.server.pid, signal.SIGSTOP)
            if sum(file.size - file.synced for file in self._files().values()) >= least:
                return True
            os.kill(self.server.pid, signal.SIGCONT)
            return False

        until(would_cost_it, 60, f"{least} bytes are not on the disk")
        self.server.kill()
        files = self._files()
        for path, file in files.items():
            with path.open("r+b") as opened:
                opened.truncate(file.synced)
        return sum(file.size - file.synced for file in files.values())

    def settle(self) -> None:
        """Wait until everything that the server has written so far is on the disk."""
        marks = {path: file.size for path, file in self._files().items()}
        until(
            lambda: all(file.synced >= marks.get(path, 0) for path, file in self._files().items()),
            60,
            "all is on the disk",
        )

    def _files(self) -> Mapping[Path, Written]:
        synced: dict[str, int] = {}
        for line in self._synced.read_text(encoding="utf-8").splitlines():
            length, _, name = line.partition(" ")
            synced[name] = int(length)
        found = {}
        for path in (self.server.data_dir / "appendonlydir").glob("*.incr.aof"):
            with suppress(FileNotFoundError):  # a running server has just rewritten it
                size = path.stat().st_size
                found[path] = Written(size, min(size, synced.get(str(path), 0)))
        return found


class WrongClock:
    """The environment of processes whose clock is off by some seconds."""

    def __init__(self, folder: Path, seconds: int = 0) -> None:
        folder.mkdir(exist_ok=True)
        self._offset = folder / "offset"
        self.move(seconds)
        self.environ = {"CLOCK_OFFSET": str(self._offset), "LD_PRELOAD": str(shim(folder, "clockjump"))}

    def move(self, seconds: int) -> None:
        """Set the difference of their clock, also while they run."""
        with self._offset.open("r+b" if self._offset.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))


class Displaced:
    """A log whose server has a wrong clock."""

    def __init__(self, folder: Path) -> None:
        clock = WrongClock(folder)
        binary = preloaded(folder, "clockjump", clock.environ)
        self.server = Valkey.start(folder / "log", durable=True, binary=binary)
        self.move = clock.move
