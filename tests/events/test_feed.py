import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from events.feed import Feed, Listener
from events.memory_log import MemoryLog
from events.redis_log import WAKE_CHANNEL, RedisLog, connect
from service.adapters.valkey import Valkey
from tests.events.log_contract import build, create


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as pool:
        yield pool


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def waiting(feed: Feed) -> int:
    return sum(map(len, feed._waiters.values()))


def test_a_wake_up_reaches_those_who_wait_for_that_match_and_nobody_else(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    mine = [pool.submit(feed.wait, {"m": 3}, 10) for _ in range(10)]
    several = pool.submit(feed.wait, {"k": 1, "m": 3, "l": 9}, 10)
    other = pool.submit(feed.wait, {"n": 3}, 10)
    until(lambda: waiting(feed) == 14)
    feed.wake("m", 4)
    assert all(waiter.result() for waiter in mine)
    assert several.result()
    assert not other.done()
    assert waiting(feed) == 1
    feed.wake("n", 4)
    assert other.result()


def test_news_between_the_last_read_and_the_wait_is_not_missed() -> None:
    feed = Feed()
    feed.wake("m", 4)
    assert feed.wait({"m": 3}, 10)
    assert not feed.wait({"m": 4}, 0)


def test_a_wait_without_news_ends_at_its_time() -> None:
    feed = Feed()
    assert not feed.wait({"m": 3}, 0.01)
    assert not feed.wait({}, 0.01)
    assert not feed._waiters


def test_only_so_many_matches_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.feed._REMEMBERED", 2)
    feed = Feed()
    for match in ("a", "b", "a", "c"):
        feed.wake(match, 1)
    assert [bool(feed.wait({match: 0}, 0)) for match in ("a", "b", "c")] == [True, False, True]


def test_after_a_lapse_everyone_looks_once_and_nothing_old_is_believed(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    feed.wake("m", 9)
    waiter = pool.submit(feed.wait, {"m": 9}, 10)
    until(lambda: waiting(feed) == 1)
    feed.lapse()
    assert waiter.result()
    assert not feed.wait({"m": 5}, 0)


def test_a_closed_feed_ends_all_waits_now_and_later(pool: ThreadPoolExecutor) -> None:
    feed = Feed()
    assert not feed.closed
    waiter = pool.submit(feed.wait, {"m": 9}, 10)
    until(lambda: waiting(feed) == 1)
    feed.close()
    assert not waiter.result()
    feed.wake("m", 10)
    assert not feed.wait({"m": 9}, 10)
    assert feed.closed


@pytest.mark.parametrize("message", [b"", b"x", b"\xff", b"1.5", b"1 2"])
def test_messages_of_another_hand_are_ignored(message: bytes) -> None:
    feed = Feed()
    feed.hear("m", message)
    assert not feed.wait({"m": 0}, 0)


def test_the_log_in_memory_wakes_the_feed() -> None:
    feed = Feed()
    create(MemoryLog(feed.wake), "m", events=2)
    assert feed.wait({"m": 1}, 0)


class Hearing:
    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.lapses = 0

    def hear(self, message: bytes) -> None:
        self.heard.append(message)

    def lapse(self) -> None:
        self.lapses += 1


def test_each_channel_has_its_hearer_and_an_append_is_told_once(valkey_log_url: str) -> None:
    wakes, other = Hearing(), Hearing()
    with connect(valkey_log_url) as client:
        client.flushall()
        listener = Listener(client, {f"{WAKE_CHANNEL}m": wakes, "other": other})
        until(lambda: wakes.lapses == other.lapses == 1)
        log = RedisLog(client)
        append, head = create(log, "m", events=3)
        log.append(append)
        log.append(build("m", head, "create", digest="x")[0])
        log.append(build("m", append.expected, "late")[0])
        log.append(build("m", head, "c")[0])
        client.publish("other", "end")
        until(lambda: other.heard == [b"end"])
        assert wakes.heard == [b"3", b"4"]
        listener.stop()
        assert not listener._thread.is_alive()


def test_a_process_hears_of_the_matches_that_somebody_waits_for_and_of_no_others(
    valkey_log_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed()
    with connect(valkey_log_url) as client:
        client.flushall()

        def heard_by() -> list[int]:
            counts: list[tuple[bytes, int]] = client.pubsub_numsub(*(f"{WAKE_CHANNEL}{match}" for match in "mn"))
            return [count for _, count in counts]

        listener = Listener(client, feed=feed)
        with feed.waiter() as waiter:
            assert waiter.wait({"m": 0}, 10)
            until(lambda: feed.hears("m"))
            assert heard_by() == [1, 0]
            create(RedisLog(client), "n")
            create(RedisLog(client), "m")
            until(lambda: feed.newest("m") == 1)
            assert waiter.wait({"m": 0}, 10)
            assert [feed.newest(match) for match in "mn"] == [1, 0]
            assert not waiter.wait({"m": 1}, 0.01)
        monkeypatch.setattr("events.feed._KEPT", 0.0)
        until(lambda: heard_by() == [0, 0])
        assert not feed.hears("m")
        assert not feed._heard
        assert feed.wait({"m": 1}, 10)
        listener.stop()


def test_what_may_have_been_missed_before_a_match_was_heard_is_looked_for_by_all_who_came_earlier() -> None:
    feed = Feed()
    feed.attach(lambda: None)
    with feed.waiter() as early, feed.waiter() as other:
        assert not early.wait({"m": 3}, 0)
        assert feed.asked() == ["m"]
        began = time.monotonic()
        feed.hearing("m")
        assert (other.wait({"m": 3}, 10) or 0) >= began
        assert not other.wait({"m": 3}, 0)
        with feed.waiter() as late:
            assert not late.wait({"m": 3}, 0)
        assert feed.asked() == []
        feed.hearing("nobody waits for it")
        assert not feed.hears("nobody waits for it")


class Failing(Hearing):
    def hear(self, message: bytes) -> None:
        super().hear(message)
        if message == b"bad":
            raise ZeroDivisionError

    def lapse(self) -> None:
        super().lapse()
        if self.lapses == 2:
            raise KeyError


def test_the_listener_outlives_a_hearer_that_fails_and_has_everyone_look(
    valkey_log_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("events.feed._PAUSE", 0.01)
    failing = Failing()
    with connect(valkey_log_url) as client:
        listener = Listener(client, {"news": failing})
        until(lambda: failing.lapses == 1)
        client.publish("news", "bad")
        until(lambda: failing.lapses == 3)
        client.publish("news", "good")
        until(lambda: failing.heard == [b"bad", b"good"])
        listener.stop()
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError, KeyError]


def hasty(url: str) -> Redis:
    """A client that leaves all patience to its user."""
    return Redis.from_url(url, protocol=2, retry=Retry(NoBackoff(), 0))


@pytest.mark.parametrize("client_of", [connect, hasty])
def test_the_listener_finds_a_restarted_server_and_has_everyone_look(
    tmp_path: Path, pool: ThreadPoolExecutor, client_of: Callable[[str], Redis]
) -> None:
    feed = Feed()

    def waiter(version: int) -> Future[float | None]:
        waiter = pool.submit(feed.wait, {"m": version}, 30)
        until(lambda: waiting(feed) == 1)
        return waiter

    with Valkey.start(tmp_path / "log", durable=True) as server, client_of(server.url) as client:
        subscribed = waiter(0)
        listener = Listener(client, feed=feed)
        assert subscribed.result()
        until(lambda: feed.hears("m"))
        created = waiter(0)
        _, head = create(RedisLog(client), "m")
        assert created.result()
        lapsed = waiter(1)
        server.kill()
        server.restart()
        assert lapsed.result()
        until(lambda: feed.hears("m"))
        appended = waiter(1)
        RedisLog(client).append(build("m", head, "c")[0])
        assert appended.result()
        listener.stop()


GEVENT = """
from gevent import monkey
monkey.patch_all()
import sys
import gevent
from events.feed import Feed, Listener
from events.redis_log import RedisLog, connect
from tests.events.log_contract import create

client = connect(sys.argv[1])
feed = Feed()
listener = Listener(client, feed=feed)
assert all(feed.wait({f"g{n}": 0}, 20) for n in range(5))
waiters = [gevent.spawn(feed.wait, {f"g{n % 5}": 0}, 20) for n in range(200)]
gevent.sleep(0.1)
for n in range(5):
    create(RedisLog(client), f"g{n}")
gevent.joinall(waiters, timeout=20)
assert all(waiter.value for waiter in waiters)
assert feed.wait({"nobody": 1}, 20)
assert not feed.wait({"nobody": 1}, 0.01)
listener.stop()
client.close()
print("woken", len(waiters))
"""


def test_two_hundred_greenlets_wait_in_one_process(valkey_log_url: str) -> None:
    with connect(valkey_log_url) as client:
        client.flushall()
    run = subprocess.run(
        [sys.executable, "-c", GEVENT, valkey_log_url], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.stdout, run.stderr) == ("woken 200\n", "")
