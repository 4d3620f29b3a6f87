"""Limits over several API processes on one server: exact where promised."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Final

import pytest
from redis import Redis

from service.adapters import leases, limits_store
from service.adapters.limits_store import PROCESSES, LimitsStore, Wanted
from service.repository.limits import Policy
from tests.service.adapters.conftest import HOUR, MOVES, Make, spent

RACES: Final = 100


def test_a_quota_is_exact_with_concurrent_requests_to_several_processes(processes: Make) -> None:
    two = processes()
    with ThreadPoolExecutor(8) as pool:
        for race in range(RACES):
            allowances = pool.map(lambda one, key=f"key {race}": one.take(HOUR, key), islice(cycle(two), 40))
            found = list(allowances)
            assert sum(not one.wait for one in found) == HOUR.quota
            assert sorted(one.remaining for one in found if not one.wait) == list(range(HOUR.quota))
            assert all(0 < one.wait <= 120 for one in found if one.wait)


def test_the_limit_of_streams_is_exact_with_concurrent_requests_to_several_processes(
    processes: Make, queue: Redis
) -> None:
    two = processes()
    with ThreadPoolExecutor(8) as pool:
        for race in range(RACES):
            holder = f"holder {race}"
            order = list(islice(cycle(two), 20))
            opened = list(pool.map(lambda one, holder=holder: one.enter(holder, 8), order))
            assert sum(stream is not None for stream in opened) == 8
            for one, stream in zip(order, opened, strict=True):
                if stream is not None:
                    one.leave(stream)
                    one.leave(stream)
    assert not queue.keys("streams:*")


@pytest.mark.parametrize("turns", ["alternately", "one after the other", "only one"])
def test_a_burst_is_limited_to_within_a_tenth_of_the_quota(processes: Make, turns: str) -> None:
    one, other = processes()
    order = {
        "alternately": [one, other] * 150,
        "one after the other": [one] * 60 + [other] * 240,
        "only one": [one] * 300,
    }[turns]
    began = time.monotonic()
    allowed = sum(not limits.spend(MOVES, turns).wait for limits in order)
    restored = (time.monotonic() - began) * MOVES.quota / MOVES.window
    assert 0.9 * MOVES.quota <= allowed <= 1.1 * MOVES.quota + restored


def test_concurrent_bursts_are_limited_to_within_a_tenth_of_the_quota(processes: Make) -> None:
    two = processes()
    with ThreadPoolExecutor(16) as pool:
        for key in map(str, range(10)):
            began = time.monotonic()
            found = list(pool.map(lambda one, key=key: one.spend(MOVES, key), islice(cycle(two), 200)))
            restored = (time.monotonic() - began) * MOVES.quota / MOVES.window
            allowed = sum(not one.wait for one in found)
            assert 0.9 * MOVES.quota <= allowed <= 1.1 * MOVES.quota + restored


def test_a_steady_client_gets_its_rate_within_a_tenth(processes: Make) -> None:
    """Measured for two seconds after the quota was used up, with many more requests than each process would allow."""
    fast = Policy("fast", quota=1000, window=10)
    two = cycle(processes())
    while not next(two).spend(fast, "ada").wait:
        pass
    for one in islice(two, 2):
        spent(lambda one=one: one.spend(fast, "ada"), 50)  # type: ignore[misc]
    began, allowed = time.monotonic(), 0
    while (passed := time.monotonic() - began) < 2:
        allowed += not next(two).spend(fast, "ada").wait
        time.sleep(0.001)  # still several times the rate
    assert 0.9 <= allowed / (passed * 100) <= 1.1


def test_a_slow_client_and_many_addresses_leave_nothing_in_the_store(processes: Make, queue: Redis) -> None:
    one, _ = processes()
    for number in range(leases.MAX_ACCOUNTS + 100):
        assert not one.spend(MOVES, str(number)).wait
    assert not queue.keys("limit:*")
    assert len(one._leases._accounts) <= leases.MAX_ACCOUNTS


def test_keys_expire_once_their_quota_is_full(processes: Make, queue: Redis) -> None:
    one, _ = processes()
    one.take(Policy("short", 10, 20), "ada")
    assert 0 < queue.pttl("limit:short:ada") <= 2_002
    stream = one.enter("ada", 8)
    assert stream
    assert 0 < queue.pttl("streams:ada") <= limits_store.STREAM_TTL_MS
    assert 0 < queue.pttl(PROCESSES) <= limits_store.FORGOTTEN_AFTER_MS


def test_the_store_grants_the_remaining_quota_of_several_keys_at_once(queue: Redis) -> None:
    store = LimitsStore(queue, "ab")
    wanted: Mapping[str, int] = {"ada": 20, "ben": 40}
    found = store.take([Wanted(HOUR, key, 30, count) for key, count in wanted.items()])
    assert [(one.count, one.left) for one in found] == [(20, 10), (30, 0)]
    (more,) = store.take([Wanted(HOUR, "ada", 30, 20)])
    assert (more.count, more.left, more.wait_s) == (10, 0, 0)
    (none,) = store.take([Wanted(HOUR, "ada", 30)])
    assert none.count == 0
    assert 110 < none.wait_s <= 120
