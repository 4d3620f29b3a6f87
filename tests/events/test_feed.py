import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from events.feed import Feed, Waiter, Wake
from events.memory_log import MemoryLog
from events.record import MatchId, Version
from tests.events.log_contract import create
from tests.waiting import until


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as pool:
        yield pool


def versions(waiter: Waiter) -> dict[MatchId, Version | None]:
    """The versions in the wake-ups that a waiter has collected."""
    return {match: wake.version for match, wake in waiter.take().items()}


def wait_once(feed: Feed, *matches: MatchId) -> Callable[[], dict[MatchId, Version | None]]:
    """Follow these matches, and return a function that waits once and returns the versions."""
    waiter = feed.waiter()
    waiter.follow(matches)

    def wait() -> dict[MatchId, Version | None]:
        with waiter:
            waiter.wait(10)
            return versions(waiter)

    return wait


def test_a_wake_up_reaches_only_the_waiters_of_its_match(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    mine = [pool.submit(wait_once(feed, "m")) for _ in range(10)]
    several = pool.submit(wait_once(feed, "k", "m", "l"))
    other = pool.submit(wait_once(feed, "n"))
    until(lambda: sum(map(len, feed._waiters.values())) == 14, 30, "all waiters wait")
    feed.wake("m", 4)
    assert [waiter.result() for waiter in (*mine, several)] == [{"m": 4}] * 11
    assert not other.done()
    assert feed._waiters.keys() == {"n"}
    feed.wake("n", 4)
    assert other.result() == {"n": 4}


def test_a_waiter_gets_wake_ups_since_its_start_at_once_and_once() -> None:
    feed = Feed()
    feed.wake("m", 3)
    with feed.waiter() as waiter:
        waiter.follow(["m", "n"])
        assert not waiter.wait(0)
        for match, version in (("m", 4), ("n", 1), ("m", 6), ("m", 5)):
            feed.wake(match, version)
        began = time.monotonic()
        assert waiter.wait(10)
        assert time.monotonic() - began < 5
        assert versions(waiter) == {"m": 6, "n": 1}
        assert not waiter.wait(0)
        assert versions(waiter) == {}


def test_a_wake_up_may_exceed_only_an_earlier_version() -> None:
    wake = Wake(4, 1.0)
    assert (wake.may_exceed(3), wake.may_exceed(4)) == (True, False)
    assert wake.merged_with(Wake(3, 2.0)) == Wake(4, 2.0)
    missed = wake.merged_with(Wake(None, 2.0))
    assert missed.may_exceed(9)
    assert missed.merged_with(Wake(5, 3.0)) == Wake(None, 3.0)


def test_a_waiter_gets_no_wake_ups_of_matches_that_it_no_longer_follows() -> None:
    feed = Feed()
    with feed.waiter() as waiter:
        waiter.follow(["m", "n"])
        feed.wake("m", 1)
        waiter.follow(["n", "o"])
        for match in "mno":
            feed.wake(match, 2)
        assert versions(waiter) == {"n": 2, "o": 2}
    assert not feed._waiters
    feed.wake("n", 3)
    assert versions(waiter) == {}


def test_a_wait_without_a_wake_up_ends_at_its_time_out_or_when_interrupted(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    with feed.waiter() as waiter:
        waiter.follow(["m"])
        assert not waiter.wait(0.01)
        interrupted = pool.submit(waiter.wait, 30)
        while not interrupted.done():  # an interrupt before the wait has begun does not end it
            waiter.interrupt()
        assert not interrupted.result()


def test_a_closed_feed_ends_all_waits_now_and_later(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    with feed.waiter() as waiter:
        waiter.follow(["m"])
        waits = pool.submit(waiter.wait, 30)
        feed.close()
        assert not waits.result(20)
        assert not waiter.wait(30)
    assert feed.closed


@pytest.mark.parametrize("message", [b"", b"x", b"\xff", b"1.5", b"1 2", b"9" * 5000])
def test_invalid_messages_are_ignored(message: bytes) -> None:
    feed = Feed()
    with feed.waiter() as waiter:
        waiter.follow(["m"])
        feed.receive("m", message)
        assert versions(waiter) == {}


def test_the_log_in_memory_wakes_the_feed() -> None:
    feed = Feed()
    with feed.waiter() as waiter:
        waiter.follow(["m"])
        create(MemoryLog(feed.wake), "m", events=2)
        assert versions(waiter) == {"m": 2}


def test_a_confirmed_subscription_wakes_all_earlier_waiters() -> None:
    feed = Feed()
    notified: list[None] = []
    feed.attach(lambda: notified.append(None))
    with feed.waiter() as early, feed.waiter() as other, feed.waiter() as late:
        for waiter in (early, other):
            waiter.follow(["m"])
        assert (len(notified), feed.to_subscribe(), feed.to_subscribe()) == (1, ["m"], [])
        assert not feed.is_subscribed("m")
        began = time.monotonic()
        feed.subscribed("m")
        assert feed.is_subscribed("m")
        late.follow(["m"])
        collected = [waiter.take() for waiter in (early, other)]
        assert all(wakes["m"].version is None and wakes["m"].at >= began for wakes in collected)
        assert versions(late) == {}
        assert feed.to_subscribe() == []
        feed.subscribed("no waiter follows it")
        assert not feed.is_subscribed("no waiter follows it")


def test_resubscribing_requests_all_channels_again() -> None:
    feed = Feed()
    feed.attach(lambda: None)
    with feed.waiter() as waiter:
        waiter.follow(["m"])
        feed.to_subscribe()
        feed.subscribed("m")
        waiter.take()
        feed.resubscribe()
        assert (feed.is_subscribed("m"), feed.to_subscribe()) == (False, ["m"])
        feed.subscribed("m")
        assert versions(waiter) == {"m": None}
