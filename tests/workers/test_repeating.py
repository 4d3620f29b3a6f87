"""A thread that does the same thing from time to time goes on after failures, and stops at once."""

import time
from collections.abc import Callable

import pytest

from events.log import LogUnavailable
from tests.waiting import until
from workers import repeating
from workers.repeating import Repeating


def test_a_failed_step_is_tried_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "RETRY_DELAY_S", 0.01)
    failures: list[Exception] = [LogUnavailable("unavailable"), ValueError("no")]
    done: list[bool] = []

    def step(goes_on: Callable[[], bool]) -> None:
        if failures:
            raise failures.pop()
        done.append(goes_on())

    thread = Repeating("test", step, 3_600)
    thread.start()
    until(lambda: done, 10, "the step succeeds")
    began = time.monotonic()
    thread.stop()
    assert time.monotonic() - began < 10
    assert done == [True]


def test_a_long_step_learns_that_it_should_stop() -> None:
    began: list[bool] = []

    def step(goes_on: Callable[[], bool]) -> None:
        began.append(True)
        while goes_on():
            time.sleep(0.001)

    thread = Repeating("test", step, 0.01)
    thread.start()
    until(lambda: began, 10, "the step begins")
    thread.stop()
    assert not thread._thread.is_alive()
