"""The log on Debian's Redis 7: the same contract, and whole matches over HTTP with workers, in spite of kills and power failures."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Final

import pytest

from events.log import Log
from events.redis_log import RedisLog, check_durability, connect
from service.adapters.valkey import Valkey
from service.container import Service, build
from service.games.registry import GAMES
from service.match.events import MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases.match_lifecycle import create
from tests.events.log_contract import LogContract
from tests.length import LENGTH
from tests.waiting import until
from tests.workers.world import World

BINARY: Final = shutil.which("redis-server") or ""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not BINARY, reason="redis-server is not installed here; `make long` installs it"),
]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Valkey.start(tmp_path_factory.mktemp("redis"), durable=True, binary=Path(BINARY)) as server:
        yield server.url


class TestRedisLogOnRedis(LogContract):
    @pytest.fixture
    def log(self, redis_url: str) -> Iterator[Log]:
        with connect(redis_url) as client:
            client.flushall()
            yield RedisLog(client)


def test_the_server_is_redis_7_or_newer_and_durable(redis_url: str) -> None:
    with connect(redis_url) as client:
        info = client.info("server")
        assert int(info["redis_version"].split(".")[0]) >= 7
        assert "valkey_version" not in info
        assert check_durability(client) == ()


def fast_match(service: Service, game: str) -> Match:
    """A match of bots without thinking time."""
    options = {"countdown_seconds": 0, "round_seconds": 30} if game == "four_monkeys" else {}
    clock = MatchClock(bot_pace_ms=0)
    wanted = NewMatch(game=game, seats=2, bots=("random", "random"), options=options, clock=clock)
    return create(service.ports, "pl_a", wanted, token_hex(4)).match


def is_over(world: World, match: Match) -> bool:
    return world.newest(match).server_seed is not None


def test_whole_matches_are_played_and_pass_every_check(tmp_path: Path) -> None:
    binary = Path(BINARY)
    with (
        Valkey.start(tmp_path / "log", durable=True, binary=binary) as log,
        Valkey.start(tmp_path / "queue", durable=False, binary=binary) as queue,
        ExitStack() as stack,
    ):
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(tmp_path / "data"),
        }
        service = build(read(environ), listen=False)
        stack.callback(service.close)
        world = World(log, queue, service, environ)
        worker = world.worker()
        stack.callback(world.end)
        matches = [fast_match(service, game) for game in sorted(GAMES) * LENGTH]
        log.restart()
        for match in matches:
            # Bots that ran out of cards wait for the bell, in each of up to three rounds.
            until(partial(is_over, world, match), 120 * LENGTH, f"{match.id} ends")
            assert world.verified(match).match.outcome is not None
        worker.terminate()
        assert worker.wait(15) == 0
