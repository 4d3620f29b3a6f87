"""The rate limiter: bursts up to the quota, then one request per interval, for each key separately."""

import time

import pytest

from api.http import rate_limit
from service.errors import Refused

TEN = rate_limit.Policy("ten", quota=10, window=5)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_of_the_quota_passes_and_no_more(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    assert [limiter.take(TEN, "anna").remaining for _ in range(10)] == list(range(9, -1, -1))
    refused = limiter.take(TEN, "anna")
    assert (refused.wait, refused.remaining) == (1, 0)
    assert dict(refused.headers()) == {"RateLimit-Policy": '"ten";q=10;w=5', "RateLimit": '"ten";r=0;t=5'}


def test_a_refused_request_costs_nothing(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    for _ in range(100):
        limiter.take(TEN, "anna")
    clock.now += 0.5
    assert limiter.take(TEN, "anna").wait == 0
    assert limiter.take(TEN, "anna").wait == 1


def test_after_the_window_the_whole_quota_is_back(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    for _ in range(10):
        limiter.take(TEN, "anna")
    clock.now += 5
    assert limiter.take(TEN, "anna").remaining == 9


def test_keys_and_policies_are_counted_separately(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    for _ in range(11):
        limiter.take(TEN, "anna")
    assert limiter.take(TEN, "bert").wait == 0
    assert limiter.take(rate_limit.Policy("other", 1, 1), "anna").wait == 0


def test_the_number_of_keys_is_bounded_and_the_newest_are_kept(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    for number in range(rate_limit.MAX_KEYS + 10):
        limiter.take(rate_limit.Policy("once", 1, 1000), str(number))
    assert len(limiter._full_again_at) <= rate_limit.MAX_KEYS
    assert limiter.take(rate_limit.Policy("once", 1, 1000), str(rate_limit.MAX_KEYS + 9)).wait > 0


def test_keys_with_a_full_quota_are_forgotten_first(clock: Clock) -> None:
    limiter = rate_limit.Limiter(clock)
    once = rate_limit.Policy("once", 1, 1000)
    limiter.take(rate_limit.Policy("once", 1, 5000), "used up")
    for number in range(rate_limit.MAX_KEYS - 1):
        limiter.take(once, str(number))
    clock.now += 1001
    limiter.take(once, "one more")
    assert set(limiter._full_again_at) == {("once", "used up"), ("once", "one more")}


def test_only_a_refusal_pauses_before_the_answer(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    limiter = rate_limit.Limiter(clock)
    for _ in range(10):
        limiter.take(TEN, "anna").check()
    assert pauses == []
    with pytest.raises(Refused, match="rate-limited"):
        limiter.take(TEN, "anna").check()
    assert pauses == [rate_limit.REFUSAL_PAUSE_S]
