"""Restarts child processes whenever they end. They are killed when this process ends, even by a kill -9."""

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
from service.adapters.server_folder import ServerFailed
from service.adapters.valkey import Valkey
from service.observability.metrics_folder import PROCESS

FIRST_RESTART_DELAY_S: Final = 0.1
"""Doubled with each further restart up to `LONGEST_RESTART_DELAY_S`."""
LONGEST_RESTART_DELAY_S: Final = 2.0
URL: Final = "url"
"""A file in a server's folder with its URL, for the operator's other commands."""
STABLE_AFTER_S: Final = 10.0
"""A child that ran for longer than this is restarted without delay."""
STOP_TIMEOUT_S: Final = 12.0
"""Longer than gunicorn's graceful timeout, after which gunicorn kills its own workers."""
WORKER_STOP_TIMEOUT_S: Final = 8.0
"""A worker may be killed in the middle of a job: another worker does the job again."""

_log = logging.getLogger("moonstone.supervisor")


class Child(Protocol):
    """A process or thread that the supervisor keeps running. Start it from the main thread: it is killed when that thread ends."""

    name: str

    def start(self) -> None: ...

    def has_ended(self) -> bool: ...

    def request_stop(self) -> None:
        """Ask it to end, unless other children need it until they have ended."""
        ...

    def stop(self) -> None: ...


class Module:
    """`python -m <module>` with its own environment; it is killed `stop_timeout_s` seconds after `request_stop`."""

    def __init__(
        self,
        name: str,
        module: str,
        environ: Mapping[str, str],
        stop_timeout_s: float = STOP_TIMEOUT_S,
        argument: str = "",
    ) -> None:
        self.name = name
        self._stop_timeout_s = stop_timeout_s
        self._module = module
        self._arguments = [argument] if argument else []
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._ends_by: float | None = None

    def start(self) -> None:
        # -P: do not import a package `api` from the current folder.
        environ = {**self._environ, PROCESS: self.name.replace(" ", "-")}
        self._ends_by = None
        self._process = spawn([sys.executable, "-P", "-m", self._module, *self._arguments], env=environ)

    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def request_stop(self) -> None:
        if self._process is not None and self._ends_by is None:  # at a second signal RQ would drop its job
            self._ends_by = time.monotonic() + self._stop_timeout_s
            self._process.terminate()

    def stop(self) -> None:
        if self._process is None:
            return
        self.request_stop()
        try:
            self._process.wait(max(0.0, (self._ends_by or 0.0) - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Server:
    """An embedded Valkey server, which restarts on the same address and folder."""

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

    def request_stop(self) -> None:
        """Does nothing: the other children need the server until they have ended."""

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
    """Starts children in order, so that the first ones can serve the others, and stops them in reverse order.

    `stop` first signals all children that no other child needs, and then waits for them. So the wait is one timeout, however
    many of them hang.
    """

    def __init__(self) -> None:
        self._watched: list[_Watched] = []

    def start(self, child: Child) -> None:
        self._watched.append(_Watched(child, time.monotonic()))
        child.start()

    def restart_ended(self) -> None:
        """Restart children that have ended. If one ends again soon after its start, the next restart is delayed for longer."""
        for watched in self._watched:
            now = time.monotonic()
            if watched.due is None and watched.child.has_ended():
                soon = now - watched.started < STABLE_AFTER_S
                watched.delay = (
                    min(max(2 * watched.delay, FIRST_RESTART_DELAY_S), LONGEST_RESTART_DELAY_S) if soon else 0.0
                )
                watched.due = now + watched.delay
                _log.warning("%s has ended and is restarted", watched.child.name)
            if watched.due is not None and now >= watched.due:
                watched.started, watched.due = now, None
                with suppress(ServerFailed):
                    watched.child.start()

    def stop(self) -> None:
        for watched in reversed(self._watched):
            watched.child.request_stop()
        for watched in reversed(self._watched):
            watched.child.stop()
