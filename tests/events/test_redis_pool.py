"""Reads of many callers in few round trips: each caller gets its own replies, whether or not others fail."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from traceback import walk_tb
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import ResponseError

from events.redis_log import connect
from events.redis_pool import Command, Pool, ReadBatcher
from service.adapters.valkey import Valkey
from tests.waiting import until

CALLERS = 20
TIMEOUT_S = 30


@pytest.fixture
def batcher(server: Valkey) -> Iterator[ReadBatcher]:
    with connect(server.url) as client:
        # Callers queue up while the server is stopped; on a busy machine that must not be a time-out.
        client.connection_pool.connection_kwargs["socket_timeout"] = TIMEOUT_S
        for number in range(CALLERS):
            client.set(f"k{number}", number)
        batcher = ReadBatcher(client)
        yield batcher
        batcher.stop()


@contextmanager
def stopped_process(server: Valkey) -> Iterator[None]:
    """Stop the server's process inside the block; commands that are sent meanwhile wait in its socket."""
    os.kill(server.pid, signal.SIGSTOP)
    pid = server.pid
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # a test may have killed it
            os.kill(pid, signal.SIGCONT)


def waiting_callers(
    pool: ThreadPoolExecutor, batcher: ReadBatcher, each: Sequence[Sequence[Command]]
) -> list[Future[list[Any]]]:
    """Start one caller for each sequence of commands: the first has been sent, the others wait for the next batch."""
    batches = batcher.batches
    futures = [pool.submit(batcher.exchange, each[0])]
    until(lambda: batcher.batches == batches + 1, TIMEOUT_S, "the first is sent")
    futures += [pool.submit(batcher.exchange, commands) for commands in each[1:]]
    until(lambda: batcher.waiting == len(each) - 1, TIMEOUT_S, "all others wait for the next batch")
    return futures


def test_commands_that_arrive_during_a_round_trip_share_the_next(server: Valkey, batcher: ReadBatcher) -> None:
    each: list[list[Command]] = [[("GET", f"k{number}"), ("STRLEN", f"k{number}")] for number in range(CALLERS)]
    with ThreadPoolExecutor(CALLERS) as pool, Redis.from_url(server.url) as client:
        before = client.info("stats")["total_reads_processed"]
        batches = batcher.batches
        with stopped_process(server):
            futures = waiting_callers(pool, batcher, each)
        got = [future.result(TIMEOUT_S) for future in futures]
        assert got == [[str(number).encode(), len(str(number))] for number in range(CALLERS)]
        assert batcher.batches - batches == 2
        # These two batches, and INFO itself.
        assert client.info("stats")["total_reads_processed"] - before <= 4


def test_a_rejected_command_affects_only_its_caller(server: Valkey, batcher: ReadBatcher) -> None:
    each: list[list[Command]] = [[("GET", "k1")], [("LLEN", "k1"), ("GET", "k2")], [("GET", "k3")]]
    with ThreadPoolExecutor(CALLERS) as pool:
        with stopped_process(server):
            futures = waiting_callers(pool, batcher, each)
        first, (refused, beside), last = (future.result(TIMEOUT_S) for future in futures)
    assert (first, beside, last) == ([b"1"], b"2", [b"3"])
    assert isinstance(refused, ResponseError)


def test_a_failed_batch_fails_for_all_waiting_callers_and_no_later_ones(server: Valkey, batcher: ReadBatcher) -> None:
    with ThreadPoolExecutor(CALLERS) as pool:
        with stopped_process(server):
            futures = waiting_callers(pool, batcher, [[("GET", "k1")]] * CALLERS)
            server.kill()
        for future in futures:
            assert isinstance(future.exception(TIMEOUT_S), Lost)
    error = futures[0].exception()
    assert error is not None
    assert len(list(walk_tb(error.__traceback__))) < CALLERS, "the traceback has no frames of the other callers"
    server.restart()
    assert batcher.exchange([("GET", "k1")]) == [b"1"]


def test_a_stopped_batcher_raises_at_once(batcher: ReadBatcher) -> None:
    assert batcher.exchange([("GET", "k1")]) == [b"1"]
    batcher.stop()
    with pytest.raises(Lost):
        batcher.exchange([("GET", "k1")])


def test_stopping_a_batcher_raises_for_callers_of_the_next_batch(server: Valkey, batcher: ReadBatcher) -> None:
    with ThreadPoolExecutor(CALLERS + 1) as pool:
        with stopped_process(server):
            first, *others = waiting_callers(pool, batcher, [[("GET", "k1")]] * CALLERS)
            stopped = pool.submit(batcher.stop)
            until(lambda: batcher.waiting == CALLERS, TIMEOUT_S, "the batcher is stopping")
        assert first.result(TIMEOUT_S) == [b"1"]
        for other in others:
            with pytest.raises(Lost):
                other.result(TIMEOUT_S)
        stopped.result(TIMEOUT_S)


class ExitingPool(Pool):
    """Ends the thread that requests a connection."""

    def get_connection(self, *_: object, **__: object) -> Any:
        raise SystemExit


def test_a_batcher_whose_thread_has_ended_raises_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # pytest would report it in a later test
    batcher = ReadBatcher(Redis.from_pool(ExitingPool()))  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            with pytest.raises(Lost):
                pool.submit(batcher.exchange, [("GET", "k1")]).result(TIMEOUT_S)
    batcher.stop()
