"""Waiting for a condition, instead of sleeping for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first true result of `found`; fails after this many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = found()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {seconds} s")


def in_time(measured: Callable[[], float], seconds: float, what: str, tries: int = 3) -> None:
    """Require that something takes less than this many seconds; `measured` does it and returns how many it took.

    What took longer is tried again: a machine that was busy with something else for a moment is no fault of ours, and
    what is too slow by itself is so each time.
    """
    took: list[float] = []
    while not took or (took[-1] >= seconds and len(took) < tries):
        took.append(measured())
    assert took[-1] < seconds, f"{what}: not within {seconds} s, but in {took}"
