"""The folder of an embedded server: only one process uses it, and other accounts of the machine have no access."""

import fcntl
import hashlib
import os
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import AF_UNIX, socket
from typing import IO, Final

SOCKET: Final = "socket"
"""The server's Unix socket, a file in its folder."""
PRIVATE: Final = 0o700

_POLL_S: Final = 0.01
_ORPHAN_STOP_TIMEOUT_S: Final = 10


class ServerFailed(Exception):
    """The server cannot be started; the text says why, with the last lines of its log if there are any."""


def error_text(error: OSError) -> str:
    """The system's message, with the file that it is about."""
    return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None)


@contextmanager
def os_errors_named(folder: Path) -> Iterator[None]:
    """Raise OSErrors of the block as `ServerFailed`, with the folder's name."""
    try:
        yield
    except OSError as error:
        raise ServerFailed(f"no server can run in {folder}: {error_text(error)}") from error


def lock_folder(folder: Path) -> IO[str]:
    """Make this process the only one that runs a server on `folder`; the lock lasts until the returned file is closed.

    A server of an earlier process that still runs on the folder is ended.
    """
    owner = (folder / "owner.lock").open("a")  # closed by `Valkey.stop`
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner.close()
        raise ServerFailed(f"{folder} is in use by another process") from error
    deadline = time.monotonic() + _ORPHAN_STOP_TIMEOUT_S
    while orphan := _orphan(folder):
        if time.monotonic() > deadline:
            owner.close()
            raise ServerFailed(f"process {orphan}, a server of an earlier run on {folder}, does not end")
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGTERM)
        time.sleep(_POLL_S)
    return owner


def _orphan(folder: Path) -> int | None:
    """The process id of a server that still holds the lock on `folder`."""
    with (folder / "server.lock").open("a+") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            return int(lock.read() or 0) or None
    return None


def make_private(folder: Path) -> None:
    """Remove the access of other accounts, also to a folder that an earlier release or a copy left accessible."""
    if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE:
        folder.chmod(PRIVATE)


def keep_writers_out(folder: Path) -> None:
    """Remove other accounts' write access to our folder: they could replace a server's folder in it by another one.

    A shared folder with the sticky bit, such as /tmp, is left as it is: other accounts cannot rename our files there.
    """
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    others = mode & (stat.S_IWGRP | stat.S_IWOTH)
    if others and not mode & stat.S_ISVTX and found.st_uid == os.getuid():
        folder.chmod(mode & ~others)


def socket_path(folder: Path) -> Path:
    """The path of the Unix socket of a folder's server.

    It is in the folder if a socket can be created there. It cannot if the path is too long (more than 107 bytes on Linux) or
    not UTF-8, which redis-py requires, or if the file system has no sockets. Then it is in a temporary folder whose name is
    derived from the path, so that the next server on this folder finds and reuses it.
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
    """Create a private folder in the system's temporary folder, where another account may already have taken its name."""
    with suppress(FileExistsError):
        folder.mkdir(mode=PRIVATE)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & ~PRIVATE:
        raise ServerFailed(f"{folder} is another account's; set MOONSTONE_DATA_DIR to a shorter path")
    return folder
