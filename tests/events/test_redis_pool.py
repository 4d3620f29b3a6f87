"""Exchanges of many callers in few round trips: each gets what it asked for, whatever becomes of the others."""

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
from events.redis_pool import Command, Ferry, Pool
from service.adapters.valkey import Valkey
from tests.waiting import until

CALLERS = 20
PATIENCE = 30
"""Seconds."""


@pytest.fixture
def ferry(server: Valkey) -> Iterator[Ferry]:
    with connect(server.url) as client:
        # Callers gather while the server stands still, which on a busy machine is to be no time-out.
        client.connection_pool.connection_kwargs["socket_timeout"] = PATIENCE
        for number in range(CALLERS):
            client.set(f"k{number}", number)
        ferry = Ferry(client)
        yield ferry
        ferry.stop()


@contextmanager
def away(server: Valkey) -> Iterator[None]:
    """The server does not run meanwhile, but what is sent to it waits for it."""
    os.kill(server.pid, signal.SIGSTOP)
    pid = server.pid
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # a test may have killed it
            os.kill(pid, signal.SIGCONT)


def asked(pool: ThreadPoolExecutor, ferry: Ferry, each: Sequence[Sequence[Command]]) -> list[Future[list[Any]]]:
    """Callers that all wait by then: one whose commands are under way, and the others."""
    trips = ferry.trips
    futures = [pool.submit(ferry.exchange, each[0])]
    until(lambda: ferry.trips == trips + 1, PATIENCE, "the first is under way")
    futures += [pool.submit(ferry.exchange, commands) for commands in each[1:]]
    until(lambda: ferry.waiting == len(each) - 1, PATIENCE, "all others wait for the next trip")
    return futures


def test_whoever_comes_while_a_trip_is_under_way_goes_with_the_next(server: Valkey, ferry: Ferry) -> None:
    each: list[list[Command]] = [[("GET", f"k{number}"), ("STRLEN", f"k{number}")] for number in range(CALLERS)]
    with ThreadPoolExecutor(CALLERS) as pool, Redis.from_url(server.url) as client:
        before = client.info("stats")["total_reads_processed"]
        trips = ferry.trips
        with away(server):
            futures = asked(pool, ferry, each)
        got = [future.result(PATIENCE) for future in futures]
        assert got == [[str(number).encode(), len(str(number))] for number in range(CALLERS)]
        assert ferry.trips - trips == 2
        # Those two, and the question itself.
        assert client.info("stats")["total_reads_processed"] - before <= 4


def test_a_command_that_is_refused_is_its_callers_alone(server: Valkey, ferry: Ferry) -> None:
    each: list[list[Command]] = [[("GET", "k1")], [("LLEN", "k1"), ("GET", "k2")], [("GET", "k3")]]
    with ThreadPoolExecutor(CALLERS) as pool:
        with away(server):
            futures = asked(pool, ferry, each)
        first, (refused, beside), last = (future.result(PATIENCE) for future in futures)
    assert (first, beside, last) == ([b"1"], b"2", [b"3"])
    assert isinstance(refused, ResponseError)


def test_a_trip_that_fails_has_failed_for_all_who_wait_and_for_nobody_later(server: Valkey, ferry: Ferry) -> None:
    with ThreadPoolExecutor(CALLERS) as pool:
        with away(server):
            futures = asked(pool, ferry, [[("GET", "k1")]] * CALLERS)
            server.kill()
        for future in futures:
            assert isinstance(future.exception(PATIENCE), Lost)
    error = futures[0].exception()
    assert error is not None
    assert len(list(walk_tb(error.__traceback__))) < CALLERS, "no record tells of every caller's steps"
    server.restart()
    assert ferry.exchange([("GET", "k1")]) == [b"1"]


def test_nobody_waits_for_a_ferry_that_has_stopped(ferry: Ferry) -> None:
    assert ferry.exchange([("GET", "k1")]) == [b"1"]
    ferry.stop()
    with pytest.raises(Lost):
        ferry.exchange([("GET", "k1")])


def test_whoever_waits_for_the_next_trip_when_a_ferry_stops_is_told(server: Valkey, ferry: Ferry) -> None:
    with ThreadPoolExecutor(CALLERS + 1) as pool:
        with away(server):
            first, *others = asked(pool, ferry, [[("GET", "k1")]] * CALLERS)
            stopped = pool.submit(ferry.stop)
            until(lambda: ferry.waiting == CALLERS, PATIENCE, "the ferry is told to stop")
        assert first.result(PATIENCE) == [b"1"]
        for other in others:
            with pytest.raises(Lost):
                other.result(PATIENCE)
        stopped.result(PATIENCE)


class Ending(Pool):
    """Ends the thread that asks it for a connection."""

    def get_connection(self, *_: object, **__: object) -> Any:
        raise SystemExit


def test_nobody_waits_for_a_ferry_whose_thread_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # pytest would tell of it in some later test
    ferry = Ferry(Redis.from_pool(Ending()))  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            with pytest.raises(Lost):
                pool.submit(ferry.exchange, [("GET", "k1")]).result(PATIENCE)
    ferry.stop()
