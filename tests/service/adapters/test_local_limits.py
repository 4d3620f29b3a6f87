"""Limits of one process: bursts up to the quota, then one request per interval, for each key separately."""

import pytest

from service.adapters.local_limits import MAX_KEYS, LocalLimits
from service.repository.limits import Policy

TEN = Policy("ten", quota=10, window=5)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_of_the_quota_passes_and_no_more(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    assert [limiter.take(TEN, "anna").remaining for _ in range(10)] == list(range(9, -1, -1))
    refused = limiter.take(TEN, "anna")
    assert (refused.wait, refused.remaining) == (1, 0)
    assert refused.reset == 5


def test_a_refused_request_does_not_count(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    for _ in range(100):
        limiter.take(TEN, "anna")
    clock.now += 0.5
    assert limiter.take(TEN, "anna").wait == 0
    assert limiter.take(TEN, "anna").wait == 1


def test_after_the_window_the_whole_quota_is_back(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    for _ in range(10):
        limiter.take(TEN, "anna")
    clock.now += 5
    assert limiter.take(TEN, "anna").remaining == 9


def test_keys_and_policies_are_counted_separately(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    for _ in range(11):
        limiter.take(TEN, "anna")
    assert limiter.take(TEN, "bert").wait == 0
    assert limiter.take(Policy("other", 1, 1), "anna").wait == 0


def test_the_number_of_keys_is_bounded_and_the_newest_are_kept(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    for number in range(MAX_KEYS + 10):
        limiter.take(Policy("once", 1, 1000), str(number))
    assert len(limiter._full_again_at) <= MAX_KEYS
    assert limiter.take(Policy("once", 1, 1000), str(MAX_KEYS + 9)).wait > 0


def test_keys_with_a_full_quota_are_forgotten_first(clock: Clock) -> None:
    limiter = LocalLimits(clock)
    once = Policy("once", 1, 1000)
    limiter.take(Policy("once", 1, 5000), "not yet full")
    for number in range(MAX_KEYS - 1):
        limiter.take(once, str(number))
    clock.now += 1001
    limiter.take(once, "one more")
    assert set(limiter._full_again_at) == {("once", "not yet full"), ("once", "one more")}


def test_streams_are_counted_by_holder_and_closed_once(clock: Clock) -> None:
    limits = LocalLimits(clock)
    opened = [limits.enter("anna", 2) for _ in range(3)]
    assert opened[2] is None
    assert limits.enter("bert", 2)
    for _ in range(2):
        limits.leave(opened[0] or "")
    assert [limits.enter("anna", 2) is None for _ in range(2)] == [False, True]
