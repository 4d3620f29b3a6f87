"""Commands of one match run one at a time, but do not wait for ever for one that takes too long."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.repository import match_lock
from service.repository.match_lock import MatchLocks

LONG = 30
"""Seconds; a timeout that is not reached even on a busy machine."""


def test_a_second_command_waits_for_the_first_and_other_matches_do_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_lock, "TIMEOUT_S", LONG)
    locks = MatchLocks()
    passed: list[str] = []
    started = threading.Event()

    def second() -> None:
        started.set()
        with locks.holding("a"):
            passed.append("second")

    with ThreadPoolExecutor(1) as pool, locks.holding("a"):
        waiting = pool.submit(second)
        started.wait(LONG)
        with locks.holding("b"):
            passed.append("other")
        passed.append("first")
    waiting.result(LONG)
    assert passed == ["other", "first", "second"]


def test_a_command_does_not_wait_for_ever_for_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_lock, "TIMEOUT_S", 0.05)
    locks = MatchLocks()

    def second() -> bool:
        with locks.holding("a"):
            return True

    with ThreadPoolExecutor(1) as pool, locks.holding("a"):
        assert pool.submit(second).result(LONG)


def test_the_lock_is_reentrant_and_released_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_lock, "TIMEOUT_S", LONG)
    locks = MatchLocks()
    began = time.monotonic()
    with locks.holding("a"), locks.holding("a"):
        pass

    def another() -> None:
        with locks.holding("a"):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(another).result(LONG)
    assert time.monotonic() - began < match_lock.TIMEOUT_S
