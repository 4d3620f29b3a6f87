"""A server that does not answer in time is reported as unavailable, quickly, and is used again once it answers."""

import time
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError
from redis.retry import Retry

from events.log import Appended, LogUnavailable
from events.redis_log import RedisLog, check_durability, connect
from service.adapters.valkey import Valkey
from tests.events.log_contract import build, chained, create, start
from tests.ports import free_port


def without_retries(url: str, timeout_s: float) -> Redis:
    """A client without retries."""
    return Redis.from_url(url, socket_timeout=timeout_s, protocol=2, retry=Retry(NoBackoff(), 0))


def test_a_server_that_does_not_answer_in_time_is_unavailable(server: Valkey) -> None:
    with connect(server.url) as client, without_retries(server.url, 0.05) as short_timeout:
        client.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        append, _ = build("m", start("m"), "c")
        with pytest.raises(LogUnavailable, match="unavailable"):
            RedisLog(short_timeout).append(append)
        client.execute_command("CLIENT", "UNPAUSE")
        assert RedisLog(client).append(append) == Appended(1, replayed=False)


def test_a_dead_server_is_unavailable_within_two_seconds_and_back_after_its_restart(server: Valkey) -> None:
    with connect(server.url) as client:
        log = RedisLog(client)
        append, head = create(log, "m")
        server.kill()
        before = time.monotonic()
        with pytest.raises(LogUnavailable, match="unavailable"):
            log.read("m")
        with pytest.raises(LogUnavailable, match="unavailable"):
            log.load()
        with pytest.raises(LogUnavailable, match="unavailable"):
            check_durability(client)
        assert time.monotonic() - before < 6
        server.restart()
        assert log.append(append) == Appended(1, replayed=True)
        assert chained("m", log.read("m")) == head


def run_endless_script(client: Redis) -> None:
    with pytest.raises(ResponseError, match="killed"):
        client.eval("while true do end", 0)


def read_repeatedly(log: RedisLog) -> None:
    while True:
        log.read("m")


def test_a_server_busy_with_a_script_is_unavailable(server: Valkey) -> None:
    with connect(server.url) as client, Redis.from_url(server.url, protocol=2) as other:
        log = RedisLog(client)
        create(log, "m")
        client.config_set("busy-reply-threshold", 20)
        loop = Thread(target=run_endless_script, args=(other,))
        loop.start()
        with pytest.raises(LogUnavailable, match="unavailable"):
            read_repeatedly(log)
        client.script_kill()
        loop.join()


def test_a_server_that_still_loads_its_files_is_reported_as_loading(
    server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(server.url) as client:
        create(RedisLog(client), "m")
        client.eval("for n = 1, 30000 do redis.call('SET', n, n) end", 0)
    server.stop()
    # While it loads, it serves clients only after every 1024 keys, here every 200 ms. Loading takes six seconds.
    options = {"key-load-delay": "200"}
    monkeypatch.setattr("service.adapters.valkey._is_ready", lambda *_: True)
    with Valkey.start(server.data_dir, durable=True, options=options) as slow, without_retries(slow.url, 3) as client:
        reason = "unavailable"
        while reason == "unavailable":  # until it listens
            with pytest.raises(LogUnavailable) as raised:
                RedisLog(client).read("m")
            reason = raised.value.reason
        slow.kill()
    assert reason == "loading"


def test_a_cluster_that_does_not_serve_all_slots_is_unavailable(tmp_path: Path) -> None:
    options = {"cluster-enabled": "yes", "port": str(free_port()), "cluster-port": str(free_port())}
    with (
        Valkey.start(tmp_path / "log", durable=True, options=options) as server,
        connect(server.url) as client,
        pytest.raises(LogUnavailable, match="unavailable"),
    ):
        RedisLog(client).read("m")


def test_a_log_whose_pool_has_no_free_connection_is_unavailable(valkey_log_url: str) -> None:
    with connect(valkey_log_url, connections=1) as client:
        pool = client.connection_pool
        pool.timeout = 0.01
        taken = pool.get_connection()
        with pytest.raises(LogUnavailable, match="unavailable"):
            RedisLog(client).read("not-created")
        pool.release(taken)
        assert RedisLog(client).read("not-created").events == ()
