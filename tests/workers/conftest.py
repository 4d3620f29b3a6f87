"""A log and a queue of its own for each test, since workers play whatever they find; and worker processes on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.adapters.valkey import Valkey
from service.container import build
from service.games.registry import GAMES
from service.settings import read
from tests.service.games.toy.game import TOY
from tests.workers.world import World

ROOT = Path(__file__).parents[2]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with (
        Valkey.start(tmp_path / "log", durable=True) as log,
        Valkey.start(tmp_path / "queue", durable=False) as queue,
    ):
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(tmp_path / "data"),
        }
        service = build(read(environ), games={**GAMES, "toy": TOY}, listen=False)
        made = World(log, queue, service, environ)
        yield made
        made.end()
        service.close()
