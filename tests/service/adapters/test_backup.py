"""A backup has the same content from one server and from a cluster."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis, RedisCluster

from events.redis_log import RedisLog, connect, connect_cluster, send
from service.adapters import backup
from service.adapters.backup import Begin, Frame, Record, StoredMatch
from service.adapters.store import open_store
from tests.events.log_contract import build, create


@pytest.fixture(params=[0, 1, 3])
def client(
    request: pytest.FixtureRequest, valkey_log_url: str, clusters: Callable[[int], str]
) -> Iterator[Redis | RedisCluster]:
    """A server, or a cluster with this many servers."""
    with connect_cluster(clusters(request.param)) if request.param else connect(valkey_log_url) as client:
        client.flushall()
        yield client
        client.flushall()


def normalized(frames: list[Frame]) -> list[object]:
    """The frames in a fixed order, also the items of hashes and sets."""
    parts = [
        (frame.key, frame.events, sorted(frame.commands), frame.seed, frame.noted)
        if isinstance(frame, StoredMatch)
        else (frame.key, frame.kind, sorted(frame.value))
        for frame in frames
        if isinstance(frame, StoredMatch | Record)
    ]
    return sorted(parts, key=repr)


def test_a_restored_store_gives_the_same_backup(client: Redis | RedisCluster, tmp_path: Path) -> None:
    open_store(client, tmp_path)
    log = RedisLog(client)
    log.load()
    for match in ("m", "n"):
        _, head = create(log, match, events=2)
        log.append(build(match, head, "more", snapshot=b"state")[0])
    send(client, ("HSET", "a hash", "field", "1"), ("SADD", "a set", "x", "y"), ("ZADD", "scored", 5, "x", 7, "y"))
    first = list(backup.read_store(client, 12))
    store = next(frame for frame in first if isinstance(frame, Begin)).store
    assert [len(frame.events) for frame in first if isinstance(frame, StoredMatch)] == [3, 3]
    client.flushall()
    assert sorted(backup.fill_store(client, first)) == ["m", "n"]
    again = list(backup.read_store(client, 13))
    assert again[0] == Begin(backup.FORMAT, store, 13)
    assert (normalized(again), again[-1]) == (normalized(first), first[-1])
