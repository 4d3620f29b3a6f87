"""Faults around the log: lost replies, lost Functions, a server that rejects writes or dies, writes by other programs."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from events.chain import BrokenChain
from events.due import Due
from events.log import Append, Appended, Conflict, LogUnavailable, Reused, Seen, Tail
from events.record import Head
from events.redis_log import RedisLog, check_durability, connect
from service.adapters.valkey import Valkey
from tests.events.log_contract import KINDS, SEED, build, chained, create, start
from tests.events.proxy import Proxy
from tests.waiting import until


def test_a_command_with_a_lost_reply_is_sent_again_and_its_event_is_stored_once(
    client: Redis, valkey_log_url: str
) -> None:
    with Proxy(urlsplit(valkey_log_url).path) as proxy, connect(proxy.url) as proxied:
        log = RedisLog(proxied)
        append, head = create(log, "m")
        proxy.to_lose = 2
        append, head = build("m", head, "c", events=2)
        assert log.append(append) == Appended(3, replayed=True)
        assert proxy.lost == 2
    assert chained("m", RedisLog(client).read("m")) == head


def test_a_snapshot_key_of_a_wrong_type_stops_no_append_and_no_read(client: Redis) -> None:
    log = RedisLog(client)
    _, head = create(log, "m", due={"job": 5})
    client.set("match:{p40}:m:snapshot", "a string instead of a sorted set")
    append, _ = build("m", head, "c", due={"job": 7}, snapshot=b"mine")
    assert log.append(append) == Appended(2, replayed=False)
    assert log.next_due(KINDS) == 7
    log.save_snapshots("m", 0, {2: b"mine"})
    tail = log.read("m", first=None)
    assert (tail.snapshot, chained("m", tail).version) == (None, 2)


def test_the_functions_come_back_when_the_server_lost_them(client: Redis) -> None:
    log = RedisLog(client)
    log.load()
    _, head = create(log, "m", due={"job": 5})
    client.function_flush()
    assert log.append(build("m", head, "c", due={"job": 7})[0]) == Appended(2, replayed=False)
    client.function_flush()
    assert log.claim("job", 10, 10, 10) == (Due("m", "job", 7),)
    client.function_flush()
    assert log.rearm("m", 2, {"job": None})
    client.function_flush()
    assert chained("m", log.read("m", first=None)).version == 2


def test_appends_succeed_while_the_functions_are_flushed_all_the_time(client: Redis) -> None:
    log = RedisLog(client)
    done = Event()

    def flush() -> None:
        while not done.is_set():
            client.function_flush()

    flusher = Thread(target=flush)
    flusher.start()
    head = start("m")
    try:
        for n in range(50):
            append, head = build("m", head, f"c{n}")
            assert append_with_retries(log, append) == Appended(n + 1, replayed=False)
    finally:
        done.set()
        flusher.join()
    assert chained("m", log.read("m")) == head


def append_with_retries(log: RedisLog, append: Append) -> Appended | Conflict | Reused:
    deadline = time.monotonic() + 30
    while True:
        try:
            return log.append(append)
        except LogUnavailable:
            if time.monotonic() > deadline:
                raise


def block_snapshots(client: Redis) -> None:
    (Path(client.config_get("dir")["dir"] or "") / "blocked").mkdir()
    client.config_set("dbfilename", "blocked")
    client.config_set("save", "3600 1")
    client.bgsave()
    while client.info("persistence")["rdb_last_bgsave_status"] == "ok":
        time.sleep(0.01)


def unblock_snapshots(client: Redis) -> None:
    client.config_set("save", "")


REFUSALS: list[tuple[str, Callable[[Redis], object], Callable[[Redis], object]]] = [
    ("full", lambda c: c.config_set("maxmemory", 1), lambda c: c.config_set("maxmemory", 0)),
    ("disk", block_snapshots, unblock_snapshots),
    (
        "replicas",
        lambda c: c.config_set("min-replicas-to-write", 1),
        lambda c: c.config_set("min-replicas-to-write", 0),
    ),
    ("read-only", lambda c: c.replicaof("127.0.0.1", 1), lambda c: c.replicaof("NO", "ONE")),
]


@pytest.mark.parametrize(("reason", "fail", "repair"), REFUSALS, ids=[reason for reason, _, _ in REFUSALS])
def test_a_server_that_rejects_writes_is_reported_with_its_reason_and_stores_nothing(
    tmp_path: Path, reason: str, fail: Callable[[Redis], object], repair: Callable[[Redis], object]
) -> None:
    options = {"enable-protected-configs": "yes"}
    with Valkey.start(tmp_path / "log", durable=True, options=options) as server, connect(server.url) as client:
        log = RedisLog(client)
        first, head = create(log, "m", due={"job": 5})
        append, end = build("m", head, "c", events=3, due={"job": 6, "clock": 7})
        fail(client)
        for refused in (
            lambda: log.append(append),
            lambda: log.claim("job", 10, 10, 10),
            lambda: log.rearm("m", 1, {}),
        ):
            with pytest.raises(LogUnavailable, match=reason) as raised:
                refused()
            assert raised.value.reason == reason
        assert log.read("m", command="c") == Tail(first.events)
        assert log.next_due(KINDS) == 5
        repair(client)
        assert log.append(append) == Appended(4, replayed=False)
        assert chained("m", log.read("m")) == end


def test_an_append_is_stored_whole_or_not_at_all_when_memory_runs_out(server: Valkey) -> None:
    with connect(server.url) as client:
        log = RedisLog(client)
        create(log, "warm")
        stored_matches = 0
        for n in range(40):
            append, end = build(f"m{n}", start(f"m{n}"), "create", events=8, size=2000)
            client.config_set("maxmemory", client.info("memory")["used_memory"] + 2048 * (n % 20))
            with suppress(LogUnavailable):
                log.append(append)
            client.config_set("maxmemory", 0)
            tail = log.read(f"m{n}", command="create")
            if tail.events:
                assert (chained(f"m{n}", tail), tail.seen, log.seed(f"m{n}")) == (end, Seen(8, "d"), SEED)
                stored_matches += 1
            else:
                assert (tail.seen, log.seed(f"m{n}")) == (None, None)
        assert 0 < stored_matches < 40


def test_a_key_of_a_wrong_type_is_not_reported_as_unavailable(client: Redis) -> None:
    client.set("match:{p40}:m:events", "no stream")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        RedisLog(client).read("m")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [({"x": "1"}, "no event"), ({"e": "{}", "h": "0"}, "no event"), ({"e": "3", "h": "0"}, "no event")],
)
def test_an_entry_by_another_program_breaks_the_chain_at_its_version_and_stops_appends(
    client: Redis, fields: Mapping[str, str], fault: str
) -> None:
    log = RedisLog(client)
    _, head = create(log, "m", events=2)
    create(log, "n")
    client.xadd("match:{p40}:m:events", dict(fields.items()), id="2-1")
    with pytest.raises(BrokenChain, match=fault) as broken:
        chained("m", log.read("m"))
    assert broken.value.version == 3
    answer = log.append(build("m", head, "c")[0])
    assert answer == Conflict(Head(2, fields.get("h", "")))
    assert chained("n", log.read("n")).version == 1


def test_a_match_that_lost_its_events_is_not_created_again(client: Redis) -> None:
    log = RedisLog(client)
    append, head = create(log, "m")
    client.delete("match:{p40}:m:events")
    assert log.append(build("m", start("m"), "another")[0]) == Conflict(None)
    assert log.append(build("m", head, "later")[0]) == Conflict(None)
    assert log.append(append) == Appended(1, replayed=True)
    assert log.read("m").events == ()


def test_durability_is_checked_by_the_servers_settings(
    valkey_log_url: str, valkey_queue_url: str, server: Valkey
) -> None:
    with connect(valkey_log_url) as log, connect(valkey_queue_url) as queue, connect(server.url) as client:
        assert check_durability(log) == ()
        assert check_durability(queue) == ("appendonly is no, not yes", "appendfsync is everysec, not always")
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert check_durability(client) == ("maxmemory-policy is allkeys-lru, not noeviction",)


def test_no_acknowledged_append_is_lost_or_stored_twice_when_the_server_is_killed_repeatedly(server: Valkey) -> None:
    matches = [f"m{n}" for n in range(3)]
    acknowledged: dict[str, list[tuple[bytes, ...]]] = {match: [] for match in matches}
    stop = Event()

    def write(match: str) -> None:
        head = start(match)
        with connect(server.url) as client:
            log = RedisLog(client)
            n = 0
            while not stop.is_set():
                append, end = build(match, head, f"c{n}", events=1 + n % 3)
                answer = None
                while answer is None:
                    try:
                        answer = log.append(append)
                    except LogUnavailable:
                        stop.wait(0.02)
                assert isinstance(answer, Appended)
                assert answer.version == end.version
                acknowledged[match].append(append.events)
                head = end
                n += 1

    def wait_for_appends() -> None:
        """Wait until each writer has written some more: on a busy machine the server's start takes time."""
        before = {match: len(acknowledged[match]) for match in matches}
        until(
            lambda: all(len(acknowledged[match]) >= before[match] + 20 for match in matches), 60, "every writer goes on"
        )

    writers = [Thread(target=write, args=(match,)) for match in matches]
    for writer in writers:
        writer.start()
    try:
        for _ in range(5):
            wait_for_appends()
            server.kill()
            server.restart()
        wait_for_appends()
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    server.kill()
    server.restart()
    with connect(server.url) as client:
        for match, appends in acknowledged.items():
            assert len(appends) >= 120
            tail = RedisLog(client).read(match)
            assert tail.events == tuple(stored for events in appends for stored in events)
            chained(match, tail)
