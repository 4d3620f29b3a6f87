"""Heads that are saved outside the log: which ones, and how they show that a log lost events."""

import logging
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from redis import Redis, RedisCluster

from events.record import Head
from events.redis_keys import key
from events.redis_log import RedisLog, connect, connect_cluster
from service.adapters import heads
from service.adapters.head_keeper import HeadKeeper
from service.adapters.heads import BadHeads, Heads, Missing, lost_mark, missing
from service.adapters.valkey import Valkey
from tests.events.log_contract import build, create
from tests.waiting import until

LOST = "the log held it and no longer does"
REPLACED = "the log now holds another event at this version"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    with Valkey.start(tmp_path / "log", durable=True) as running:
        yield running


@pytest.fixture
def client(server: Valkey) -> Iterator[Redis]:
    with connect(server.url) as connected:
        yield connected


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / heads.FILE


@contextmanager
def keeping(client: Redis | RedisCluster, file: Path, seconds: float = 3600) -> Iterator[HeadKeeper]:
    keeper = HeadKeeper(client, Heads(file), seconds)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.stop()


def keep_once(server: Valkey, file: Path) -> None:
    with keeping(connect(server.url), file):
        pass


def saved_heads(file: Path) -> dict[str, Head]:
    with closing(Heads(file)) as opened:
        return dict(opened.newest())


def grow(log: RedisLog, match: str, head: Head, command: str) -> Head:
    append, head = build(match, head, command)
    log.append(append)
    return head


def test_heads_are_kept_at_the_start_each_interval_and_at_the_end(server: Valkey, client: Redis, file: Path) -> None:
    log = RedisLog(client)
    _, first = create(log, "before", events=3)
    with keeping(connect(server.url), file, 0.01):
        until(lambda: saved_heads(file) == {"before": first}, 30, "the head of before is kept")
        _, second = create(log, "during")
        until(lambda: saved_heads(file) == {"before": first, "during": second}, 30, "the head of a new match is kept")
        second = grow(log, "during", second, "c")
        until(lambda: saved_heads(file)["during"] == second, 30, "a newer head is kept")
    with keeping(connect(server.url), file) as keeper:
        until(lambda: not keeper._needs_scan, 30, "it has scanned the log")
        first = grow(log, "before", first, "c")
        keeper.request_stop()
        second = grow(log, "during", second, "d")  # by a process that has not ended yet
    assert saved_heads(file) == {"before": first, "during": second}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_heads_of_appends_whose_messages_were_missed_are_saved_too(server: Valkey, client: Redis, file: Path) -> None:
    with keeping(connect(server.url), file, 0.01):
        until(lambda: file.exists() and saved_heads(file) == {}, 30, "it is subscribed")
        create(RedisLog(client), "one")
        until(lambda: len(saved_heads(file)) == 1, 30, "the head is kept")
        server.kill()
        server.restart()
        with connect(server.url) as other:
            create(RedisLog(other), "two")
        until(lambda: len(saved_heads(file)) == 2, 30, "the other head is kept")


def test_a_match_that_did_not_change_is_not_written_again(server: Valkey, client: Redis, file: Path) -> None:
    log = RedisLog(client)
    create(log, "old")
    keep_once(server, file)
    create(log, "new")
    keep_once(server, file)
    keep_once(server, file)
    with closing(Heads(file)) as opened:
        assert [match for match, _ in opened.newest(1)] == ["new"]
        assert [match for match, _ in opened.newest()] == ["new", "old"]


def delete_an_event(client: Redis) -> None:
    client.xdel(key("m", "events"), "3-0")


def replaced(client: Redis) -> None:
    """Replace the events by others with the same versions, as in a log that was rewritten."""
    client.delete(key("m", "events"), key("m", "commands"))
    create(RedisLog(client), "m", events=4)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (delete_an_event, LOST),
        (lambda client: client.delete(key("m", "events")), LOST),
        (lambda client: client.flushall(), LOST),
        (replaced, REPLACED),
    ],
)
def test_heads_that_the_log_lost_are_reported_and_stay_saved(
    server: Valkey,
    client: Redis,
    file: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Redis], None],
    fault: str,
) -> None:
    _, head = create(RedisLog(client), "m", events=3)
    keep_once(server, file)
    assert list(missing(client, saved_heads(file).items())) == []
    damage(client)
    with caplog.at_level(logging.CRITICAL):
        keep_once(server, file)
    assert [record.getMessage() for record in caplog.records] == [
        "match m lost events that the log held: run `moonstone check`"
    ]
    assert saved_heads(file) == {"m": head}
    assert list(missing(client, saved_heads(file).items())) == [Missing("m", 3, fault)]


def test_a_log_that_lost_its_end_is_found_even_if_no_match_lost_events(
    server: Valkey, client: Redis, file: Path
) -> None:
    create(RedisLog(client), "m")
    keep_once(server, file)
    (appended,) = (server.data_dir / "appendonlydir").glob("*.incr.aof")
    before = appended.stat().st_size
    client.set("player", "signed up")
    keep_once(server, file)
    with closing(Heads(file)) as opened:
        assert not lost_mark(client, opened)
        server.kill()
        with appended.open("r+b") as stored:
            stored.truncate(before)
        server.restart()
        assert list(missing(client, opened.newest())) == []
        assert lost_mark(client, opened)


def test_heads_of_another_store_are_not_compared_and_left_as_they_are(file: Path) -> None:
    with closing(Heads(file)) as opened:
        opened.reset("one")
        opened.keep({"m": Head(1, "5a" * 32)}, 1)
        assert heads.found(file, "one") is None  # no mark is recorded yet
        opened.record_mark(1, 1000)
    assert heads.found(file, "other") is None
    own = heads.found(file, "one")
    assert own is not None
    with closing(own):
        assert (own.store, own.mark, own.at, dict(own.newest())) == ("one", 1, 1000, {"m": Head(1, "5a" * 32)})
        own.reset("other")
        assert (own.store, own.mark, own.at, dict(own.newest())) == ("other", 0, 0, {})
    heads.delete(file)
    assert heads.found(file, "other") is None


def newer(file: Path) -> None:
    with closing(Heads(file)) as opened:
        opened._db.execute("PRAGMA user_version = 2")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (Path.mkdir, "cannot be used .*Is a directory.*; remove it to go on without"),
        (lambda file: file.write_bytes(b"no database, but long enough" * 99), "not a database.*; remove it"),
        (newer, "was written by a newer release of moonstone"),
    ],
)
def test_an_unusable_file_is_reported_with_advice(file: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(file)
    with pytest.raises(BadHeads, match=f"^{file}.*{message}"):
        Heads(file)


def test_heads_are_kept_and_compared_on_a_cluster_too(clusters: Callable[[int], str], file: Path) -> None:
    with connect_cluster(clusters(3)) as client:
        client.flushall()
        log = RedisLog(client)
        log.load()
        created = {match: create(log, match)[1] for match in map(str, range(20))}
        with keeping(connect_cluster(clusters(3)), file, 0.01):
            until(lambda: saved_heads(file) == created, 30, "all heads are kept")
            created["3"] = grow(log, "3", created["3"], "c")
            until(lambda: saved_heads(file) == created, 30, "a newer head is kept")
        client.delete(key("7", "events"))
        with closing(Heads(file)) as opened:
            assert list(missing(client, opened.newest())) == [Missing("7", 1, LOST)]
            assert not lost_mark(client, opened)
