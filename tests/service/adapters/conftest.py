"""A player, and limits over two API processes on one server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from secrets import token_hex
from typing import Final, TypeAlias

import pytest
from redis import Redis

from service.adapters import jobs
from service.adapters.shared_limits import SharedLimits
from service.repository.accounts import Player
from service.repository.limits import Allowance, Policy

HOUR: Final = Policy("hour", quota=30, window=3600)
MOVES: Final = Policy("moves", quota=100, window=10)

Make: TypeAlias = Callable[..., tuple[SharedLimits, ...]]


@pytest.fixture
def ann() -> Player:
    return Player(id=f"pl_{token_hex(10)}", name="Ann", created_at=5)


@pytest.fixture
def queue(valkey_queue_url: str) -> Iterator[Redis]:
    with jobs.connect(valkey_queue_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def processes(queue: Redis, valkey_queue_url: str) -> Iterator[Make]:
    """Makes the limits of two API processes, each with a client of its own, on an empty server."""
    assert not queue.dbsize()
    with ExitStack() as stack:

        def make(url: str = valkey_queue_url) -> tuple[SharedLimits, ...]:
            created = tuple(SharedLimits(stack.enter_context(jobs.connect(url)), processes=2) for _ in range(2))
            for one in created:
                stack.callback(one.stop)
            return created

        yield make


def spent(spend: Callable[[], Allowance], attempts: int = 400) -> int:
    return sum(not spend().wait for _ in range(attempts))
