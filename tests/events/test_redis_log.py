from collections.abc import Callable, Iterator, Sequence
from hashlib import sha1

import pytest
from redis.cluster import RedisCluster
from redis.connection import AbstractConnection

from events.feed import Feed
from events.listener import Listener
from events.log import Log, LogUnavailable
from events.redis_log import RedisLog, check_durability, connect, connect_cluster
from events.redis_pool import ReadBatcher
from tests.events.log_contract import KINDS, SEED, LogContract, create
from tests.ports import free_port


@pytest.fixture(scope="module")
def cluster_client(clusters: Callable[[int], str]) -> Iterator[RedisCluster]:
    """A client of a cluster of three servers. To connect takes longer than most tests."""
    with connect_cluster(clusters(3)) as client:
        yield client


class TestRedisLog(LogContract):
    @pytest.fixture
    def log(self, valkey_log_url: str) -> Iterator[Log]:
        with connect(valkey_log_url) as client:
            client.flushall()
            yield RedisLog(client)


class TestRedisLogWithAReadBatcher(LogContract):
    @pytest.fixture
    def log(self, valkey_log_url: str) -> Iterator[Log]:
        with connect(valkey_log_url) as client:
            client.flushall()
            batcher = ReadBatcher(client)
            yield RedisLog(client, batcher)
            batcher.stop()


@pytest.mark.unmeasured
class TestRedisLogOnAServerInClusterMode(LogContract):
    """It rejects a command with keys of several slots, as every cluster does."""

    @pytest.fixture
    def log(self, clusters: Callable[[int], str]) -> Iterator[Log]:
        with connect(clusters(1)) as client:
            client.flushall()
            yield RedisLog(client)


class TestRedisLogOnACluster(LogContract):
    @pytest.fixture
    def log(self, cluster_client: RedisCluster) -> Log:
        cluster_client.flushall()
        return RedisLog(cluster_client)


def test_every_server_of_a_cluster_gets_the_functions_and_publishes_its_appends(clusters: Callable[[int], str]) -> None:
    with connect_cluster(clusters(3)) as client:
        client.flushall()
        client.function_flush()
        log = RedisLog(client)
        log.load()
        assert check_durability(client) == ()
        feed = Feed()
        listener = Listener(client, feed=feed)
        for n in range(12):
            with feed.waiter() as waiter:
                waiter.follow([f"m{n}"])
                assert waiter.wait(10)
                assert waiter.take()[f"m{n}"].version is None  # subscribed from now on
                create(log, f"m{n}")
                assert waiter.wait(10)
                assert waiter.take()[f"m{n}"].version == 1
        listener.stop()
        assert len({client.keyslot(f"{{p{n}}}") * 3 // 16384 for n in range(64)}) == 3


def test_one_server_of_a_cluster_that_lost_the_functions_gets_them_and_nothing_is_claimed_twice(
    clusters: Callable[[int], str],
) -> None:
    with connect_cluster(clusters(3)) as client, connect(clusters(3)) as one:
        client.flushall()
        log = RedisLog(client)
        log.load()
        for n in range(30):
            create(log, f"m{n}", due={"job": 5})
        one.function_flush()
        assert len({due.match for due in log.claim("job", 10, 100, 100)}) == 30
        assert log.claim("job", 10, 100, 100) == ()


def test_a_cluster_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(LogUnavailable, match="unavailable"):
        connect_cluster(f"redis://127.0.0.1:{free_port()}")


def test_keys_and_stored_values_keep_their_format(valkey_log_url: str) -> None:
    with connect(valkey_log_url) as client:
        client.flushall()
        log = RedisLog(client)
        append, head = create(log, "m", due={"job": 5, "clock": 6})
        create(log, "0198f3-é")
        log.save_snapshots("0198f3-é", 0, {1: b"one"})
        assert sorted(client.keys()) == sorted(
            key.encode()
            for key in (
                *("match:{p40}:m:events", "match:{p40}:m:commands", "match:{p40}:m:seed"),
                *("due:{p40}:job", "due:{p40}:clock"),
                *("match:{p14}:0198f3-é:events", "match:{p14}:0198f3-é:commands", "match:{p14}:0198f3-é:seed"),
                "match:{p14}:0198f3-é:snapshot",
            )
        )
        (stored,) = append.events
        assert client.xrange("match:{p40}:m:events") == [
            (b"1-0", {b"e": stored, b"h": head.hash.encode(), b"s": sha1(stored).hexdigest().encode()}),
        ]
        assert client.hgetall("match:{p40}:m:commands") == {b"create": b"1 d"}
        assert client.get("match:{p40}:m:seed") == SEED
        assert client.zrange("match:{p14}:0198f3-é:snapshot", 0, -1, withscores=True) == [(b"one", 1.0)]
        assert client.zrange("due:{p40}:job", 0, -1, withscores=True) == [(b"m", 5.0)]


def test_each_append_is_one_round_trip_and_so_is_each_read(
    valkey_log_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = 0
    send = AbstractConnection.send_packed_command

    def counted(connection: AbstractConnection, packed: Sequence[bytes], check_health: bool = True) -> None:
        nonlocal trips
        trips += bool(packed)
        send(connection, packed, check_health)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)
    with connect(valkey_log_url) as client:
        client.flushall()
        log = RedisLog(client)
        log.load()
        trips = 0
        create(log, "m", events=5, due={"job": 10, "clock": 10})
        assert trips == 1
        log.read("m", command="create")
        assert trips == 2
        log.save_snapshots("m", 0, {5: b"five"})
        log.read("m", first=None, command="create")
        log.read_each({"m": None, "n": 1, "o": None})
        assert trips == 5
        trips = 2
        log.next_due(KINDS)
        log.overdue("clock", 10, 10)
        log.scheduled("clock")
        log.rearm("m", 5, {"job": 20})
        assert trips == 6
        log.claim("job", 10, 1, 10)
        assert trips == 7
        log.claim("job", 20, 1, 10)
        assert trips == 9
