"""The ports on real servers, built as in every process."""

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from secrets import token_hex

import pytest
from redis import RedisCluster
from redis.cluster import ClusterNode

from events import redis_log
from events.redis_keys import key
from events.redis_log import connect_cluster
from service.adapters.beat import Beat
from service.adapters.valkey import Valkey
from service.automation.bot_turns import advance
from service.container import Service, Unusable, build
from service.match.new_match import NewMatch
from service.repository.ports import digest_of
from service.settings import BadSetting, Settings, read
from service.usecases import accounts
from service.usecases.match_lifecycle import create
from service.usecases.match_lists import public_page
from tests.chaos.stores import LogWithWrongClock
from tests.waiting import until


@pytest.fixture
def settings(tmp_path: Path, valkey_queue_url: str) -> Callable[..., Settings]:
    def built(url: str, **more: str) -> Settings:
        environ = {"LOG_URL": url, "QUEUE_URL": valkey_queue_url, "DATA_DIR": str(tmp_path / "data"), **more}
        return read({f"MOONSTONE_{name}": value for name, value in environ.items()})

    return built


@pytest.fixture(params=["server", "cluster"])
def service(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    settings: Callable[..., Settings],
    clusters: Callable[[int], str],
) -> Iterator[Service]:
    """On one server, and on a cluster of three."""
    if request.param == "server":
        with Valkey.start(tmp_path / "log", durable=True) as log:
            built = build(settings(log.url))
            yield built
            built.close()
    else:
        with connect_cluster(clusters(3)) as client:
            client.flushall()
        built = build(settings(clusters(3).replace("redis://", "cluster://")))
        yield built
        built.close()


def test_every_part_works_on_one_server_and_on_a_cluster(service: Service) -> None:
    ports = service.ports
    assert service.readiness() == ()
    player, token = accounts.sign_up(ports, "Ann")
    assert accounts.authenticate(ports, token).player == player
    wanted = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random"))
    match = create(ports, player.id, wanted, token_hex(4)).match
    with service.feed.waiter() as waiter:
        waiter.follow([match.id])
        assert waiter.wait(30)
        assert waiter.take()[match.id].version is None
        while advance(ports, match.id):
            pass
        assert waiter.wait(30)
    newest, _ = ports.history.newest(match.id)
    assert ports.history.expected(match.id) == newest
    views, _ = public_page(ports, "finished", None, 5)
    assert [view.id for view in views] == [match.id]
    beat = Beat(service.log_client)
    assert [beat.beat().found, beat.beat().found] == [False, False]
    beat.note(1_000)
    assert ports.lost(ports.now() - 60_000, ports.now(), 250) >= 1_000
    accounts.revoke(ports, token)
    until(lambda: ports.accounts.by_token(digest_of(token)) is None, 20, "the token is revoked")


def test_a_hanging_server_of_a_cluster_delays_only_its_own_requests(
    settings: Callable[..., Settings], clusters: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(redis_log._SETTINGS, "socket_timeout", 30)  # so that a busy machine causes no time-out
    service = build(settings(clusters(3).replace("redis://", "cluster://")))
    client = service.log_client
    assert isinstance(client, RedisCluster)

    def server(match: str) -> ClusterNode:
        found: ClusterNode = client.get_node_from_key(key(match, "events"))  # type: ignore[no-untyped-call]
        return found

    match = "one"
    other = next(name for name in map(str, range(100)) if server(name) != server(match))
    pid = client.info("server", target_nodes=server(match))["process_id"]
    with ThreadPoolExecutor(1) as pool:
        os.kill(pid, signal.SIGSTOP)
        try:
            delayed = pool.submit(service.ports.log.read, match, first=2)
            assert wait([delayed], 0.2).not_done
            assert service.ports.log.read(other, first=2).events == ()
            assert not delayed.done()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert delayed.result(30).events == ()
    service.close()


def test_a_log_that_is_not_durable_is_refused_unless_it_is_allowed(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with Valkey.start(tmp_path / "log", durable=False) as log:
        with pytest.raises(Unusable, match="appendonly is no, not yes"):
            build(settings(log.url))
        service = build(settings(log.url, ALLOW_VOLATILE="1"))
        assert service.readiness() == ()
        service.close()


def test_readiness_reports_faults_of_the_log_since_the_start(settings: Callable[..., Settings], tmp_path: Path) -> None:
    with Valkey.start(tmp_path / "log", durable=True) as log:
        service = build(settings(log.url))
        service.log_client.config_set("appendfsync", "everysec")
        assert service.readiness() == ("appendfsync is everysec, not always",)
        service.log_client.config_set("appendfsync", "always")
        service.log_client.flushall()
        assert service.readiness() == ("the log's server holds another store, or none",)
        log.kill()
        assert service.readiness() == ("the log is not available: unavailable",)
        shutil.rmtree(log.data_dir / "appendonlydir")
        log.restart()
        assert service.readiness() == ("the log is not available: unavailable",)
        with pytest.raises(Unusable, match="the log's server is empty"):
            build(settings(log.url))
        service.close()


@pytest.mark.parametrize(("seconds", "side"), [(30, "behind"), (-30, "ahead of")])
def test_readiness_reports_clocks_that_differ(
    settings: Callable[..., Settings], tmp_path: Path, seconds: int, side: str
) -> None:
    displaced = LogWithWrongClock(tmp_path / "displaced")
    with displaced.server as log:
        service = build(settings(log.url))
        assert service.readiness() == ()
        displaced.set_offset(seconds)
        (fault,) = until(service.readiness, 30, "the log's clock has moved")
        assert re.fullmatch(rf"this machine's clock is (29|30)\.\d s {side} the log server's; .*", fault)
        displaced.set_offset(0)
        until(lambda: service.readiness() == (), 30, "the clocks agree again")
        service.close()


def test_a_server_must_be_named_and_answer(settings: Callable[..., Settings]) -> None:
    with pytest.raises(BadSetting, match="MOONSTONE_LOG_URL"):
        build(settings(""))
    with pytest.raises(Unusable, match=r"the log at 127\.0\.0\.1:1 is not available: unavailable"):
        build(settings("redis://me:secret@127.0.0.1:1/0"))
