"""The folder of an embedded server: it belongs to one process, and other accounts of the machine are kept out."""

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
"""Where the server listens, a file in its folder."""
PRIVATE: Final = 0o700

_POLL: Final = 0.01
_ORPHAN_PATIENCE: Final = 10


class ValkeyFailed(Exception):
    """The server cannot be started: the text says why, with its last log lines where there are any."""


def fault_of(error: OSError) -> str:
    """What the system says, and of which file."""
    return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part is not None)


@contextmanager
def os_errors_named(folder: Path) -> Iterator[None]:
    """What a folder does not bear, as a failure of its server."""
    try:
        yield
    except OSError as error:
        raise ValkeyFailed(f"no server can run in {folder}: {fault_of(error)}") from error


def own(folder: Path) -> IO[str]:
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


def make_private(folder: Path) -> None:
    """Keep every other account out, also of a folder that an earlier release or a copy left open."""
    if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE:
        folder.chmod(PRIVATE)


def keep_writers_out(folder: Path) -> None:
    """Let no other account write in a folder of ours: it could put a folder of its own in the place of a server's.

    One that is shared, as /tmp is (sticky), is left as it is: there others cannot rename what is ours.
    """
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    others = mode & (stat.S_IWGRP | stat.S_IWOTH)
    if others and not mode & stat.S_ISVTX and found.st_uid == os.getuid():
        folder.chmod(mode & ~others)


def address_in(folder: Path) -> Path:
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
