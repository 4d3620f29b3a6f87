import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from events.feed import Feed
from events.listener import Listener, _next_message
from events.record import Version
from events.redis_log import WAKE_CHANNEL, RedisLog, connect
from service.adapters.valkey import Valkey
from tests.events.log_contract import build, create
from tests.waiting import until


class Recorder:
    """A subscriber that records its messages, and counts how often it is notified of missed messages."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.misses = 0

    def receive(self, message: bytes) -> None:
        self.received.append(message)

    def messages_missed(self) -> None:
        self.misses += 1


def test_each_channel_has_its_subscriber_and_an_append_is_published_once(valkey_log_url: str) -> None:
    wakes, other = Recorder(), Recorder()
    with connect(valkey_log_url) as client:
        client.flushall()
        listener = Listener(client, {f"{WAKE_CHANNEL}m": wakes, "other": other})
        until(lambda: wakes.misses == other.misses == 1, 30, "both channels are subscribed to")
        log = RedisLog(client)
        append, head = create(log, "m", events=3)
        log.append(append)
        log.append(build("m", head, "create", digest="x")[0])
        log.append(build("m", append.expected, "late")[0])
        log.append(build("m", head, "c")[0])
        client.publish("other", "end")
        until(lambda: other.received == [b"end"], 30, "the last message is received")
        assert wakes.received == [b"3", b"4"]
        listener.stop()
        assert not listener._thread.is_alive()


def test_a_process_subscribes_only_to_matches_with_waiters(
    valkey_log_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed()
    with connect(valkey_log_url) as client:
        client.flushall()

        def subscriptions() -> list[int]:
            counts: list[tuple[bytes, int]] = client.pubsub_numsub(*(f"{WAKE_CHANNEL}{match}" for match in "mn"))
            return [count for _, count in counts]

        listener = Listener(client, feed=feed)
        with feed.waiter() as waiter:
            waiter.follow(["m"])
            assert waiter.wait(10)
            assert {match: wake.version for match, wake in waiter.take().items()} == {"m": None}
            assert subscriptions() == [1, 0]
            create(RedisLog(client), "n")
            create(RedisLog(client), "m")
            assert waiter.wait(10)
            assert {match: wake.version for match, wake in waiter.take().items()} == {"m": 1}
        for module in ("events.feed.UNSUBSCRIBE_AFTER_S", "events.listener.UNSUBSCRIBE_AFTER_S"):
            monkeypatch.setattr(module, 0.0)
        until(lambda: subscriptions() == [0, 0], 30, "no channel has a subscriber")
        assert not feed.is_subscribed("m")
        assert not feed._subscribed
        listener.stop()


class Failing(Recorder):
    def receive(self, message: bytes) -> None:
        super().receive(message)
        if message == b"bad":
            raise ZeroDivisionError

    def messages_missed(self) -> None:
        super().messages_missed()
        if self.misses == 2:
            raise KeyError


def test_the_answer_to_a_health_check_is_no_message(valkey_log_url: str) -> None:
    with connect(valkey_log_url).pubsub() as subscription:  # type: ignore[no-untyped-call]  # as in the listener
        subscription.subscribe("wake:some")
        until(lambda: subscription.get_message(timeout=1.0) is not None, 5, "the channel is subscribed to")
        connection: Any = subscription.connection
        connection.send_command("PING", subscription.HEALTH_CHECK_MESSAGE)
        subscription.health_check_response_counter = 1
        until(
            lambda: _next_message(subscription) is None and subscription.health_check_response_counter == 0,
            5,
            "the answer is counted",
        )


def test_after_a_subscriber_fails_the_listener_subscribes_again_and_reports_missed_messages(
    valkey_log_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("events.listener._RETRY_DELAY_S", 0.01)
    failing = Failing()
    with connect(valkey_log_url) as client:
        listener = Listener(client, {"news": failing})
        until(lambda: failing.misses == 1, 30, "the channel is subscribed to")
        client.publish("news", "bad")
        until(lambda: failing.misses == 3, 30, "the channel is subscribed to again")
        client.publish("news", "good")
        until(lambda: failing.received == [b"bad", b"good"], 30, "the message is received")
        listener.stop()
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError, KeyError]


def without_retries(url: str) -> Redis:
    """A client without retries."""
    return Redis.from_url(url, protocol=2, retry=Retry(NoBackoff(), 0))


@pytest.mark.parametrize("client_of", [connect, without_retries])
def test_after_a_restart_of_the_server_the_listener_subscribes_again_and_wakes_waiters(
    tmp_path: Path, client_of: Callable[[str], Redis]
) -> None:
    feed = Feed()
    with feed.waiter() as waiter, Valkey.start(tmp_path / "log", durable=True) as server:
        waiter.follow(["m"])

        def version() -> Version | None:
            """The version in the next wake-up."""
            assert waiter.wait(30)
            return waiter.take()["m"].version

        with client_of(server.url) as client:
            listener = Listener(client, feed=feed)
            assert version() is None
            _, head = create(RedisLog(client), "m")
            assert version() == 1
            server.kill()
            server.restart()
            assert version() is None
            assert feed.is_subscribed("m")
            RedisLog(client).append(build("m", head, "c")[0])
            assert version() == 2
            listener.stop()


GEVENT = """
from gevent import monkey
monkey.patch_all()
import sys
import gevent
from events.feed import Feed
from events.listener import Listener
from events.redis_log import RedisLog, connect
from tests.events.log_contract import create

client = connect(sys.argv[1])
feed = Feed()
listener = Listener(client, feed=feed)
waiters = [feed.waiter() for n in range(200)]
for n, waiter in enumerate(waiters):
    waiter.follow([f"g{n % 5}"])
with gevent.Timeout(20):
    while not all(feed.is_subscribed(f"g{n}") for n in range(5)):
        gevent.sleep(0.01)
for waiter in waiters:
    waiter.take()
waits = [gevent.spawn(waiter.wait, 20) for waiter in waiters]
for n in range(5):
    create(RedisLog(client), f"g{n}")
gevent.joinall(waits, timeout=20)
assert all(wait.value for wait in waits)
assert {wake.version for waiter in waiters for wake in waiter.take().values()} == {1}
assert not waiters[0].wait(0.01)
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
