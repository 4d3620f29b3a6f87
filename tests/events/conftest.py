"""Servers for the tests of the log."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from events.redis_log import connect
from service.adapters.valkey import Valkey


@pytest.fixture
def client(valkey_log_url: str) -> Iterator[Redis]:
    with connect(valkey_log_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    """A server that a test may break."""
    with Valkey.start(tmp_path / "log", durable=True) as server:
        yield server
