"""The folder in which the processes of one supervisor write their metrics. They get it by two environment variables.

Imports only the standard library: the API's first process must not import anything else before gevent's patches.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The folder; prometheus_client itself reads this variable."""
PROCESS: Final = "METRICS_PROCESS"
"""The variable with the name of a process's files there. A process that replaces a dead one continues its files, so that
counters never decrease and files do not pile up."""

_NAME: Final = "moonstone-metrics-"
_MEMORY: Final = "/dev/shm"  # noqa: S108  (only this process uses the folder that is created there)


@contextmanager
def new_folder() -> Iterator[str]:
    """Create a folder and delete it at the end, in memory if possible: the files are memory-mapped, and on a full disk a
    write to them would kill the process.
    """
    parent = Path(_MEMORY if os.access(_MEMORY, os.W_OK) else gettempdir())
    _clear(parent)
    maker = os.getpid()
    folder = mkdtemp(prefix=f"{_NAME}{maker}-", dir=parent)
    try:
        yield folder
    finally:
        if os.getpid() == maker:  # a forked child may run this too
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_folder() -> Iterator[None]:
    """A folder for this process and those that it starts, unless a supervisor has already set one.

    Enter it before `service.observability.metrics` is imported, because that module reads the variable.
    """
    if FOLDER in os.environ:
        yield
        return
    with new_folder() as folder:
        os.environ[FOLDER] = folder
        yield


def _clear(parent: Path) -> None:
    """Delete the folders of processes that were killed."""
    for folder in parent.glob(f"{_NAME}*"):
        try:
            os.kill(int(folder.name.removeprefix(_NAME).partition("-")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (PermissionError, ValueError):  # another user's
            continue
