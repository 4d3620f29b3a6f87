"""Waiting for what must come true, and no longer."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first true answer of `found`; fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = found()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {seconds} s")
