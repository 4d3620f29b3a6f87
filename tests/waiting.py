"""Waiting for a condition, instead of sleeping for a fixed time."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.005
LONGEST_PAUSE_S: Final = 0.05


def until(found: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first true result of `found`; fails after this many seconds. The pauses grow, because most conditions cost time to look at."""
    deadline, pause_s = time.monotonic() + seconds, FIRST_PAUSE_S
    while time.monotonic() < deadline:
        answer = found()
        if answer:
            return answer
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, LONGEST_PAUSE_S)
    raise AssertionError(f"{what}: not within {seconds} s")


def in_time(measured: Callable[[], float], seconds: float, what: str, tries: int = 3) -> None:
    """Require that something takes less than this many seconds; `measured` does it and returns the seconds that it took.

    If it took longer, it is tried again, because the machine may have been busy; code that is too slow fails every time.
    """
    took: list[float] = []
    while not took or (took[-1] >= seconds and len(took) < tries):
        took.append(measured())
    assert took[-1] < seconds, f"{what}: not within {seconds} s, but in {took}"
