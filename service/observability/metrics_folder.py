"""Where the processes of one supervisor count together, told to them by two environment variables that are no settings.

Only the standard library: the API's first process must not import more before gevent's patches.
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
"""Names a process's files there. A process that takes a dead one's place counts on in them, so that counts never fall and
files never pile up."""

_NAME: Final = "moonstone-metrics-"
_MEMORY: Final = "/dev/shm"  # noqa: S108  (the folder made there is this process's alone)


@contextmanager
def made() -> Iterator[str]:
    """A new folder, and its end. In memory where there is such a place: the files are mapped, and a full disk would kill
    whoever writes to them.
    """
    place = Path(_MEMORY if os.access(_MEMORY, os.W_OK) else gettempdir())
    _clear(place)
    maker = os.getpid()
    folder = mkdtemp(prefix=f"{_NAME}{maker}-", dir=place)
    try:
        yield folder
    finally:
        if os.getpid() == maker:  # a forked child may leave by here too
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared() -> Iterator[None]:
    """A folder for the processes that this one starts, unless a supervisor has named one for all its children.

    Enter it before `service.observability.metrics` is imported: what a process counts in is settled there.
    """
    if FOLDER in os.environ:
        yield
        return
    with made() as folder:
        os.environ[FOLDER] = folder
        yield


def _clear(place: Path) -> None:
    """Remove what processes left that were killed."""
    for folder in place.glob(f"{_NAME}*"):
        try:
            os.kill(int(folder.name.removeprefix(_NAME).partition("-")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (PermissionError, ValueError):  # another user's
            continue
