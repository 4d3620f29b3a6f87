"""Child processes that are started again whenever they end, and that die with this process, even by a kill -9 of it."""

import logging
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from service.adapters.child import spawn
from service.adapters.server_folder import ValkeyFailed
from service.adapters.valkey import Valkey
from service.observability.metrics_folder import PROCESS

FIRST_DELAY: Final = 0.1
LONGEST_DELAY: Final = 2.0
URL: Final = "url"
"""A file in a server's folder that says where it listens, for the operator's other commands."""
SETTLED: Final = 10.0
"""Seconds; a child that ran for longer is started again without delay."""
STOP_PATIENCE: Final = 12.0
"""Longer than gunicorn's, after which it ends its own."""
WORKER_PATIENCE: Final = 8.0
"""A worker that is in the middle of a job may be ended at any time: another one does it again."""

_log = logging.getLogger("moonstone.supervisor")


class Child(Protocol):
    """A process that the supervisor keeps running. Start it from the main thread: it dies with the thread."""

    name: str

    def start(self) -> None: ...

    def has_ended(self) -> bool: ...

    def bid_end(self) -> None:
        """Ask it to end, if no other child needs it to end itself."""
        ...

    def stop(self) -> None: ...


class Module:
    """`python -m <module>` with an environment of its own; `patience`: seconds in which it may end, once it is bidden."""

    def __init__(
        self, name: str, module: str, environ: Mapping[str, str], patience: float = STOP_PATIENCE, argument: str = ""
    ) -> None:
        self.name = name
        self._patience = patience
        self._module = module
        self._arguments = [argument] if argument else []
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._ends_by: float | None = None

    def start(self) -> None:
        # -P: a folder called `api` where the operator stands must not be taken for ours.
        environ = {**self._environ, PROCESS: self.name.replace(" ", "-")}
        self._ends_by = None
        self._process = spawn([sys.executable, "-P", "-m", self._module, *self._arguments], env=environ)

    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def bid_end(self) -> None:
        if self._process is not None and self._ends_by is None:  # RQ takes a second signal for an order to drop its job
            self._ends_by = time.monotonic() + self._patience
            self._process.terminate()

    def stop(self) -> None:
        if self._process is None:
            return
        self.bid_end()
        try:
            self._process.wait(max(0.0, (self._ends_by or 0.0) - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Server:
    """An embedded Valkey, which comes back on the same port and folder."""

    def __init__(self, name: str, folder: Path, *, durable: bool) -> None:
        self.name = name
        self.folder = folder
        self._durable = durable
        self._valkey: Valkey | None = None

    @property
    def url(self) -> str:
        return self._valkey.url if self._valkey else ""

    def start(self) -> None:
        if self._valkey is None:
            self._valkey = Valkey.start(self.folder, durable=self._durable)
            (self.folder / URL).write_text(self._valkey.url, encoding="ascii")
        else:
            self._valkey.restart()

    def has_ended(self) -> bool:
        return self._valkey is not None and self._valkey.wait(0)

    def bid_end(self) -> None:
        """Not before the others have ended."""

    def stop(self) -> None:
        if self._valkey is not None:
            self._valkey.stop()


@dataclass(slots=True)
class _Watched:
    child: Child
    started: float
    delay: float = 0.0
    due: float | None = None


class Supervisor:
    """Children are started in order, the first being needed by the others, and stopped from the last to the first.

    Those that nobody needs are all told before the first is waited for: however many hang, they cost one's patience.
    """

    def __init__(self) -> None:
        self._watched: list[_Watched] = []

    def start(self, child: Child) -> None:
        self._watched.append(_Watched(child, time.monotonic()))
        child.start()

    def look(self) -> None:
        """Start again what has ended; what ends soon after its start, a little later each time."""
        for watched in self._watched:
            now = time.monotonic()
            if watched.due is None and watched.child.has_ended():
                soon = now - watched.started < SETTLED
                watched.delay = min(max(2 * watched.delay, FIRST_DELAY), LONGEST_DELAY) if soon else 0.0
                watched.due = now + watched.delay
                _log.warning("%s has ended and is started again", watched.child.name)
            if watched.due is not None and now >= watched.due:
                watched.started, watched.due = now, None
                with suppress(ValkeyFailed):
                    watched.child.start()

    def stop(self) -> None:
        for watched in reversed(self._watched):
            watched.child.bid_end()
        for watched in reversed(self._watched):
            watched.child.stop()
