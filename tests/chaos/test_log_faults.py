"""Requests while the log is down, full, slow, hanging or damaged: each gets an error, and nothing is lost or applied twice."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Final

import pytest
from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from events.record import canonical, digest
from events.redis_log import RedisLog, connect
from service.adapters.valkey import Valkey
from service.games.registry import GAMES
from service.repository.match_history import History
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.chaos.played import Played
from tests.chaos.stores import PowerCut
from tests.events.test_redis_faults import REFUSALS
from tests.length import LENGTH
from tests.waiting import in_time, until


def ready(played: Played) -> bool:
    return played.client.get("/readyz").status_code == 200


def not_ready(played: Played) -> object:
    status, code, document = problem(played.client.get("/readyz"))
    assert (status, code) == (503, "not-ready")
    return document["faults"]


@contextmanager
def hanging(log: Valkey) -> Iterator[None]:
    """Stop the log's process inside the block."""
    os.kill(log.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(log.pid, signal.SIGCONT)


def test_row_03_a_log_that_is_loading_its_file_is_reported_as_loading(
    tmp_path: Path, play_on: Callable[[Valkey], Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    # While it loads, it serves clients only after every 1024 keys, here every 200 ms.
    with Valkey.start(tmp_path / "log", durable=True, options={"key-load-delay": "200"}) as log:
        played = play_on(log)
        played.act("k1")
        with Redis.from_url(log.url) as client:
            client.eval("for number = 1, 150000 do redis.call('SET', number, number) end", 0)
        turn = played.turn()
        monkeypatch.setattr("service.adapters.valkey._is_ready", lambda *_: True)
        log.restart()
        until(lambda: played.refused(turn, "k2") == "store-loading", 25, "the log loads")
        assert not_ready(played) == ["the log is not available: loading"]
        assert played.client.get("/healthz").status_code == 200
        with Redis.from_url(log.url, retry=Retry(ExponentialBackoff(cap=0.1), 50)) as client:
            client.config_set("key-load-delay", 0)
        until(lambda: ready(played), 60, "the log is loaded")
        played.accepted(turn, "k2")
        played.checked_events()


def test_row_04_a_log_that_comes_back_empty_is_not_served(played: Played) -> None:
    played.act("k1")
    turn = played.turn()
    played.log.kill()
    shutil.rmtree(played.log.data_dir / "appendonlydir")
    played.log.restart()
    for _ in range(3):
        assert played.refused(turn, "k2") == "store-unavailable"
        assert problem(played.client.post("/v1/players", {"name": "Eve"}))[:2] == (503, "store-unavailable")
    assert not ready(played)
    assert played.client.get("/healthz").status_code == 200
    with Redis.from_url(played.log.url) as client:
        assert client.dbsize() == 0


@pytest.mark.parametrize(("reason", "fail", "repair"), REFUSALS, ids=[reason for reason, _, _ in REFUSALS])
def test_row_12_and_18_a_log_that_accepts_no_writes_says_why_and_reads_continue(
    played: Played, reason: str, fail: Callable[[Redis], object], repair: Callable[[Redis], object]
) -> None:
    played.act("k1")
    turn, before = played.turn(), played.client.ask(played.path)
    with Redis.from_url(played.log.url, protocol=2) as client:
        fail(client)
        for _ in range(2):
            assert played.refused(turn, "k2") == f"store-{reason}"
        assert played.client.ask(played.path) == before
        played.checked_events()
        repair(client)
    played.accepted(turn, "k2")
    played.checked_events()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("row 13 needs the right to mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_row_13_a_full_disk_is_reported_and_nothing_acknowledged_is_lost(
    small_disk: Path, play_on: Callable[[Valkey], Played]
) -> None:
    with Valkey.start(small_disk / "log", durable=True) as log:
        played = play_on(log)
        played.act("k1")
        free = shutil.disk_usage(small_disk).free
        filler = small_disk / "filler"
        filler.write_bytes(bytes(free // 4096 * 4096 - 8192))
        refused = None
        for number in range(2, 60):
            turn, key = played.turn(), f"k{number}"
            answer = played.send(turn, key)
            if answer.status_code == 503:
                assert problem(answer).code in {"store-unavailable", "store-disk"}
                refused = turn, key
                break
            played.acknowledged.append(answer.get_json()["version"])
        assert refused is not None, "the disk was never full"
        assert log.wait(30), "a log that cannot write stops"
        filler.unlink()
        log.restart()
        until(lambda: ready(played), 30, "the log is back")
        played.accepted(*refused)
        played.checked_events()


def test_row_14_a_slow_disk_is_reported_in_time_and_a_repeat_is_not_applied_twice(
    tmp_path: Path, play_on: Callable[[Valkey], Played]
) -> None:
    store = PowerCut(tmp_path / "slow", {})
    with store.server:
        played = play_on(store.server)
        keys = count()

        def seconds() -> float:
            turn, key = played.turn(), f"k{next(keys)}"
            store.slow_down(60_000)
            began = time.monotonic()
            assert played.refused(turn, key) == "store-unavailable"
            took = time.monotonic() - began
            store.slow_down(0)
            answer = played.accepted(turn, key)
            assert answer.headers["Idempotent-Replay"] == "true"  # the first try was written in spite of the error
            return took

        played.act("first")
        in_time(seconds, 5, "an error after three")
        played.checked_events()


def test_row_15_a_hanging_log_is_reported_in_time_and_a_repeat_is_not_applied_twice(played: Played) -> None:
    keys = count()

    def seconds() -> float:
        turn, key = played.turn(), f"k{next(keys)}"
        with hanging(played.log), ThreadPoolExecutor(1) as pool:
            began = time.monotonic()
            refusal = pool.submit(played.refused, turn, key)
            assert played.client.get("/healthz").status_code == 200
            assert refusal.result() == "store-unavailable"
            took = time.monotonic() - began
        played.accepted(turn, key)
        return took

    played.act("first")
    in_time(seconds, 5, "an error after three")
    played.checked_events()


def test_row_19_flushed_functions_are_loaded_again_without_an_error(played: Played) -> None:
    with Redis.from_url(played.log.url) as client:
        for number in range(3):
            client.function_flush()
            played.act(f"k{number}")
    played.checked_events()


RACES: Final = 5 * LENGTH


@pytest.mark.long
def test_row_22_one_of_many_writers_at_one_version_succeeds_and_the_others_get_an_error(played: Played) -> None:
    with ThreadPoolExecutor(8) as pool:
        for race in range(RACES):
            view = played.client.ask(played.path)
            if not view["decisions"]:
                break
            token, body = played.turn()
            tag = f'"{view["version"]}-{view["head"][:16]}"'

            def write(number: int, race: int = race, token: str = token, body: object = body, tag: str = tag) -> int:
                answer = played.client.post(
                    f"{played.path}/actions", body, token, idempotency_key=f"{race}-{number}", if_match=tag
                )
                if answer.status_code == 201:
                    played.acknowledged.append(answer.get_json()["version"])
                    return 201
                assert problem(answer).code == "stale-version"
                return answer.status_code

            assert sorted(pool.map(write, range(8))) == [201, *[412] * 7]
    played.checked_events()


CHANGED_FIELDS: Final = {"action": b'"type":"action"', "salt": b'"salt":"'}


@pytest.mark.parametrize("field", CHANGED_FIELDS)
def test_row_38_a_byte_changed_in_the_logs_file_stops_its_match_and_no_other(played: Played, field: str) -> None:
    played.act("k1")
    played.act("k2")
    turn = played.turn()
    newest = played.service.ports.log.read(played.match, first=played.acknowledged[-1]).events[0]
    played.log.kill()
    (file,) = (played.log.data_dir / "appendonlydir").glob("*.incr.aof")
    content = bytearray(file.read_bytes())
    position = content.index(newest) + newest.index(CHANGED_FIELDS[field]) + len(CHANGED_FIELDS[field]) - 2
    content[position] ^= 1
    file.write_bytes(content)
    played.log.restart()
    assert played.refused(turn, "k3") == "match-corrupt"
    assert problem(played.client.get(played.path)).code == "match-corrupt"
    assert played.service.ports.log.read(played.match).events[-1] != newest
    assert len(played.service.ports.log.read(played.match).events) == played.acknowledged[-1]
    token, body = played.turn(played.other)
    answer = played.client.post(f"/v1/matches/{played.other}/actions", body, token)
    assert answer.status_code == 201


def test_row_39_an_event_of_a_later_release_stops_its_match_and_is_not_skipped(played: Played) -> None:
    played.act("k1")
    turn = played.turn()
    stored = played.service.ports.log.read(played.match).events[-1]
    key = next(key for key in played.stored_keys() if key.endswith(":events"))
    version = played.acknowledged[-1] + 1
    later = stored.replace(b'"type":"action"', b'"type":"teleport"').replace(
        b'"version":%d' % (version - 1), b'"version":%d' % version
    )
    previous = canonical({"prev": played.client.ask(played.path)["head"]})[1:-1]
    later = later[: later.index(b'"prev":')] + previous + later[later.index(b'"prev":') + len(previous) :]
    played.redis.xadd(key, {"e": later, "h": digest(later)}, id=f"{version}-0")
    for _ in range(2):
        assert played.refused(turn, "k2") == "engine-too-old"
    assert problem(played.client.get(played.path)).code == "engine-too-old"
    token, body = played.turn(played.other)
    assert played.client.post(f"/v1/matches/{played.other}/actions", body, token).status_code == 201


def test_row_41_a_short_match_stores_only_events_commands_and_seed_and_a_foreign_snapshot_is_ignored(
    played: Played,
) -> None:
    played.act("k1")
    keys = played.stored_keys()
    assert [key.rpartition(":")[2] for key in keys] == ["commands", "events", "seed"]
    before = played.client.ask(played.path)
    tag = keys[0].split(":")[1]
    for name in ("snapshot", "snap", "state"):
        played.redis.set(f"match:{tag}:{played.match}:{name}", b'{"version":99,"state":{}}')
    assert played.client.ask(played.path) == before
    played.act("k2")
    played.checked_events()


def test_row_47_requests_without_a_free_connection_fail_in_time_and_the_next_ones_are_served(
    played: Played,
) -> None:
    two_connections = connect(played.log.url, connections=2)
    log = RedisLog(two_connections)
    ports = replace(played.service.ports, log=log, history=History(log, GAMES, played.service.ports.secret))
    client = Client(replace(played.service, ports=ports), unchecked=True)

    def ask(_: int) -> tuple[int, float]:
        began = time.monotonic()
        return client.get(played.path).status_code, time.monotonic() - began

    def seconds() -> float:
        """Seconds that the requests without a free connection waited."""
        with ThreadPoolExecutor(20) as threads, hanging(played.log):
            answers = sorted(threads.map(ask, range(20)), key=itemgetter(1))
        assert {status for status, _ in answers} == {503}
        assert {ask(0)[0] for _ in range(5)} == {200}
        return answers[-3][1]  # the last two had a connection, and waited for the log itself

    in_time(seconds, 2, "an error after one and a half")
    two_connections.close()
