"""Clocks that differ: the difference is found however long the answer takes, and is reported while it lasts."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from redis import Redis, RedisCluster

from events.log import LogUnavailable
from events.redis_log import connect, connect_cluster
from service.adapters.clock import wall_clock
from service.adapters.clock_watch import MAX_OFFSET_MS, ClockWatch, disagreement, offset_ms
from service.adapters.valkey import Valkey
from tests.waiting import until


@pytest.fixture(params=["server", "cluster"])
def client(
    request: pytest.FixtureRequest, valkey_log_url: str, clusters: Callable[[int], str]
) -> Iterator[Redis | RedisCluster]:
    with connect(valkey_log_url) if request.param == "server" else connect_cluster(clusters(3)) as connected:
        yield connected


def reading(*offsets: int) -> Callable[[], int]:
    """A clock that is ahead by the next of these values at each reading."""
    left = iter(offsets)
    return lambda: wall_clock() + next(left)


@pytest.mark.parametrize(
    ("before", "after", "least", "most"),
    [
        (0, 0, 0, 0),
        (30_000, 30_000, 28_000, 30_000),
        (-30_000, -30_000, -30_000, -28_000),
        (-5_000, 5_000, 0, 0),  # the answer took ten seconds; the server's time may be of any moment in them
        (2_000, 12_000, 500, 2_000),
        (-12_000, -2_000, -2_000, -500),
    ],
)
def test_the_offset_excludes_the_time_that_the_answer_took(
    client: Redis | RedisCluster, before: int, after: int, least: int, most: int
) -> None:
    assert least <= offset_ms(client, reading(before, after)) <= most


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (0, None),
        (MAX_OFFSET_MS, None),
        (-MAX_OFFSET_MS, None),
        (30_000, "this machine's clock is 30.0 s ahead of the log server's; clocks must agree (NTP)"),
        (-1_001, "this machine's clock is 1.0 s behind the log server's; clocks must agree (NTP)"),
    ],
)
def test_an_offset_of_more_than_a_second_is_reported(offset: int, message: str | None) -> None:
    assert disagreement(offset) == message


@contextmanager
def watching(client: Redis | RedisCluster, now: Callable[[], int]) -> Iterator[None]:
    watch = ClockWatch(client, 0.001, now)
    yield
    watch.stop()


def test_a_warning_is_repeated_now_and_then_until_the_clocks_agree(
    client: Redis | RedisCluster, caplog: pytest.LogCaptureFixture
) -> None:
    readings, offset = [0], [30_000]

    def now() -> int:
        readings[0] += 1
        return wall_clock() + offset[0]

    def messages(level: int) -> list[str]:
        return [record.getMessage() for record in caplog.records if record.levelno == level]

    with caplog.at_level(logging.INFO, "moonstone.clock"), watching(client, now):
        until(lambda: readings[0] > 4 * 60, 60, "the clocks were compared many times")
        assert 2 <= len(messages(logging.WARNING)) <= readings[0] // 120 + 1
        assert messages(logging.INFO) == []
        offset[0] = 0
        until(lambda: messages(logging.INFO), 60, "the clocks agree")
    assert messages(logging.INFO) == ["this machine's clock agrees with the log server's again"]


def test_an_unavailable_log_is_not_reported_by_the_clock_watch(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    with Valkey.start(tmp_path_factory.mktemp("log"), durable=True) as server, closing(connect(server.url)) as client:
        server.kill()
        with pytest.raises(LogUnavailable):
            offset_ms(client)
        readings = [0]

        def now() -> int:
            readings[0] += 1
            return wall_clock() + 5_000

        with watching(client, now):
            until(lambda: readings[0] > 1, 60, "the clock was read")
            assert caplog.records == []
            server.restart()
            until(lambda: caplog.records, 60, "it compares again")


def test_a_clock_that_was_set_since_the_last_check_is_checked_before_it_is_trusted(
    client: Redis | RedisCluster,
) -> None:
    offset = [0]
    with closing_watch(client, lambda: wall_clock() + offset[0]) as watch:
        found = []
        for offset[0] in (0, 30_000, -30_000, 400, 0):
            found.append(watch.fault())
    sides = [None if fault is None else re.findall("ahead|behind", fault) for fault in found]
    assert sides == [None, ["ahead"], ["behind"], None, None]


@contextmanager
def closing_watch(client: Redis | RedisCluster, now: Callable[[], int]) -> Iterator[ClockWatch]:
    """A watch that checks by itself once an hour."""
    watch = ClockWatch(client, 3600, now)
    yield watch
    watch.stop()
