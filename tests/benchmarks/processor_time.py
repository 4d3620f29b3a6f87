"""The processor time that processes have used."""

from collections.abc import Iterable
from pathlib import Path


def seconds(pids: Iterable[int]) -> float:
    """The processor time of processes, in seconds.

    It is the sum over the threads that they have now, to the nanosecond (schedstat); /proc/<pid>/stat counts ticks of 10 ms.
    """
    return sum(_nanoseconds(thread) for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def children(pid: int) -> list[int]:
    """The children of a process that were started by its main thread."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _nanoseconds(thread: Path) -> int:
    return int((thread / "schedstat").read_text("ascii").split()[0])
