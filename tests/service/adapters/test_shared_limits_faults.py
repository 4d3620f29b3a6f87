"""Limits over several API processes with damaged values, with a slow server, and without one."""

import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import TimeoutError as RedisTimeoutError

from service.adapters import limits_store, shared_limits
from service.adapters.limits_store import PROCESSES
from service.adapters.valkey import Valkey
from tests.service.adapters.conftest import HOUR, MOVES, Make, spent
from tests.waiting import until


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"soon",
        b"nan",
        b"inf",
        b"-inf",
        b"1e300",
        b"-1",
        b"\xff\x00",
        b"9" * 400,
        {"a": "hash"},
        ["a", "list"],
        {"set"},
    ],
    ids=repr,
)
def test_bad_values_are_replaced(processes: Make, queue: Redis, value: object) -> None:
    one, other = processes()
    keys = ("limit:hour:ada", "limit:moves:ada", "streams:ada", PROCESSES)
    for key in keys:
        queue.delete(key)
        match value:
            case bytes():
                queue.set(key, value)
            case dict():
                queue.hset(key, mapping=value)
            case list():
                queue.rpush(key, *value)
            case set():
                queue.sadd(key, *value)
    assert [one.take(HOUR, "ada").wait == 0 for _ in range(HOUR.quota + 1)] == [True] * HOUR.quota + [False]
    assert 90 <= spent(lambda: one.spend(MOVES, "ada")) <= 112
    one._report()
    other._report()
    opened = [one.enter("ada", 8) for _ in range(9)]
    assert [stream is None for stream in opened] == [False] * 8 + [True]
    assert other.enter("ada", 8) is None
    assert one._is_usable
    assert other._is_usable
    assert queue.zcard(PROCESSES) == 2


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_jumps_refuses_nobody_for_long(processes: Make, queue: Redis, hours: int) -> None:
    """The server's clock jumped by so many hours since the counts were written."""
    one, _ = processes()
    seconds, _ = queue.time()
    queue.set("limit:hour:ada", (seconds - hours * 3_700) * 1_000_000)
    queue.zadd(PROCESSES, {one._process: (seconds - hours * 3_600) * 1000})
    assert one.take(HOUR, "ada").wait == 0
    one._report()
    assert one.enter("ada", 1)
    assert one.enter("ada", 1) is None


@pytest.mark.parametrize("late_us", [1, 2_000, 1_000_000])
def test_a_clock_that_is_set_back_a_little_gives_nobody_a_new_quota(
    processes: Make, queue: Redis, late_us: int
) -> None:
    """The quota would be full again later than after a whole window. Rounding also causes this, for milliseconds."""
    one, _ = processes()
    seconds, _ = queue.time()
    queue.set("limit:hour:ada", (seconds + 1 + HOUR.window) * 1_000_000 + late_us)
    refused = one.take(HOUR, "ada")
    assert (refused.remaining, refused.reset) == (0, HOUR.window)
    assert 119 <= refused.wait <= 120


def test_streams_of_a_process_that_ended_are_free_again(processes: Make, queue: Redis) -> None:
    assert limits_store.DEAD_AFTER_MS + 1000 * shared_limits.REPORT_INTERVAL_S < 10_000
    one, other = processes()
    one.stop()
    assert all(one.enter("ada", 8) for _ in range(8))
    assert other.enter("ada", 8) is None
    seconds, _ = queue.time()
    queue.zadd(PROCESSES, {one._process: seconds * 1000 - limits_store.DEAD_AFTER_MS - 1000})
    assert other.enter("ada", 8)
    # The process was only slow: its streams count again, and the limit is the same as before.
    one._report()
    assert other.enter("ada", 8) is None


@pytest.mark.parametrize("damage", ["removed", "of another type"])
def test_streams_whose_key_was_damaged_are_counted_again(
    processes: Make, queue: Redis, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(shared_limits, "RENEWED", 3)
    one, other = processes()
    opened = [one.enter("ada", 8) for _ in range(8)]
    queue.delete("streams:ada")
    if damage == "of another type":
        queue.set("streams:ada", "damaged")
    one.leave(opened.pop() or "")
    for _ in range(3):
        one._report()
    assert other.enter("ada", 8)
    assert other.enter("ada", 8) is None


def test_a_stream_that_closes_while_its_registration_fails_is_free_again(
    processes: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = processes()
    stream = one.enter("ada", 1)
    register = one._store.register

    def registers_and_fails(streams: Sequence[tuple[str, str]]) -> None:
        one.leave(stream or "")
        register(streams)
        raise RedisTimeoutError

    monkeypatch.setattr(one._store, "register", registers_and_fails)
    one._report()
    assert other.enter("ada", 1) is None
    monkeypatch.undo()
    one._report()
    assert other.enter("ada", 1)


def test_a_server_that_lost_its_data_lets_nobody_exceed_the_limit_of_streams(processes: Make, queue: Redis) -> None:
    two = processes()
    assert all(one.enter("ada", 8) for one in two * 4)
    for _ in range(5):
        queue.flushall()
        assert [one.enter("ada", 8) for one in two] == [None, None]
    for one in two:
        one._report()
    assert [one.enter("ada", 8) for one in two] == [None, None]
    assert all(one.enter("ben", 8) for one in two * 4)
    assert [one.enter("ben", 8) for one in two] == [None, None]


def test_what_was_allowed_before_an_outage_counts_during_it(processes: Make, tmp_path: Path) -> None:
    with Valkey.start(tmp_path, durable=False) as server:
        two = processes(server.url)
        began = time.monotonic()
        order = list(islice(cycle(two), 200))
        moves = sum(not one.spend(MOVES, "ada").wait for one in order)
        assert sum(not one.take(HOUR, "ada").wait for one in order) == HOUR.quota
        server.kill()
        assert all(one.take(HOUR, "ada").wait for one in order)
        assert all(one.take(HOUR, "ben").wait == 0 for one in order[: HOUR.quota])
        moves += sum(not one.spend(MOVES, "ada").wait for one in order)
        restored = (time.monotonic() - began) * MOVES.quota / MOVES.window
    assert 0.9 * MOVES.quota <= moves <= 1.1 * MOVES.quota + restored


def test_a_slow_server_lets_nobody_exceed_the_quota(processes: Make, tmp_path: Path) -> None:
    """Requests that get no answer in time count against the share of their process, and so do the others."""
    with Valkey.start(tmp_path, durable=False) as server, Redis.from_url(server.url) as client:
        two = processes(server.url)
        began = time.monotonic()
        with ThreadPoolExecutor(16) as pool:
            found = []
            for _ in range(3):
                client.execute_command("CLIENT", "PAUSE", 300, "ALL")  # longer than a request waits for a lease
                found += list(pool.map(lambda one: one.spend(MOVES, "ada"), islice(cycle(two), 200)))
        restored = (time.monotonic() - began) * MOVES.quota / MOVES.window
        assert all(one._is_usable for one in two)
    assert sum(not one.wait for one in found) <= 1.1 * MOVES.quota + restored


def test_without_the_server_each_process_has_its_share_and_afterwards_streams_are_counted_again(
    processes: Make, tmp_path: Path
) -> None:
    with Valkey.start(tmp_path, durable=False) as server:
        one, other = processes(server.url)
        before = [one.enter("ada", 8) for _ in range(3)]
        server.kill()
        for limits in (one, other):
            assert spent(lambda limits=limits: limits.take(HOUR, "ada")) == HOUR.quota // 2  # type: ignore[misc]
            assert MOVES.quota // 2 <= spent(lambda limits=limits: limits.spend(MOVES, "ada")) < 56  # type: ignore[misc]
        during_outage = [one.enter("ada", 8), *(other.enter("ada", 8) for _ in range(5))]
        assert [stream is None for stream in during_outage] == [False] * 5 + [True]
        one.leave(before[0] or "")
        server.restart()
        until(lambda: one._is_usable and other._is_usable, 30, "the server is used again")
        assert one.enter("ada", 8)
        assert other.enter("ada", 8) is None
        for stream in (*before, *during_outage):
            if stream is not None:
                (one if stream.startswith(one._process) else other).leave(stream)
        assert [one.enter("ada", 8) is None for _ in range(8)] == [False] * 7 + [True]


def test_a_hanging_server_delays_only_one_request_and_for_less_than_a_second(processes: Make, tmp_path: Path) -> None:
    with Valkey.start(tmp_path, durable=False) as server:
        one, _ = processes(server.url)
        os.kill(server.pid, signal.SIGSTOP)
        took = []
        for _ in range(60):
            began = time.monotonic()
            one.spend(MOVES, "ada")
            took.append(time.monotonic() - began)
        os.kill(server.pid, signal.SIGCONT)
    assert max(took) < 1
    assert sum(took) < 2
