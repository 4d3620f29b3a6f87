"""Commands of one match pass one at a time; one that takes too long holds up nobody for good."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.repository import match_lock
from service.repository.match_lock import Turnstile

LONG = 30
"""Seconds; a patience that no busy machine comes to the end of."""


def test_who_comes_second_passes_after_the_first_and_other_matches_do_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_lock, "PATIENCE", LONG)
    gates = Turnstile()
    passed: list[str] = []
    asked = threading.Event()

    def second() -> None:
        asked.set()
        with gates.passing("a"):
            passed.append("second")

    with ThreadPoolExecutor(1) as pool, gates.passing("a"):
        waiting = pool.submit(second)
        asked.wait(LONG)
        with gates.passing("b"):
            passed.append("other")
        passed.append("first")
    waiting.result(LONG)
    assert passed == ["other", "first", "second"]


def test_a_command_goes_on_beside_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_lock, "PATIENCE", 0.05)
    gates = Turnstile()

    def second() -> bool:
        with gates.passing("a"):
            return True

    with ThreadPoolExecutor(1) as pool, gates.passing("a"):
        assert pool.submit(second).result(LONG)


def test_a_command_inside_a_command_of_the_same_match_passes_and_both_leave_the_gate_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_lock, "PATIENCE", LONG)
    gates = Turnstile()
    began = time.monotonic()
    with gates.passing("a"), gates.passing("a"):
        pass

    def another() -> None:
        with gates.passing("a"):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(another).result(LONG)
    assert time.monotonic() - began < match_lock.PATIENCE
