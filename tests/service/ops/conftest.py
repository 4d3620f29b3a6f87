"""Logs for the tests of the operator's commands, each on a server of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from events.redis_log import connect_cluster
from service.adapters.valkey import Valkey
from tests.service.ops.stores import Store, open_store


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened_stack:
        yield opened_stack


@pytest.fixture
def empty(tmp_path: Path, valkey_queue_url: str, stack: ExitStack) -> Callable[[str], dict[str, str]]:
    """A function that starts an empty log and returns the environment that names it."""

    def start(name: str) -> dict[str, str]:
        log = stack.enter_context(Valkey.start(tmp_path / name, durable=True))
        return {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": valkey_queue_url,
            "MOONSTONE_DATA_DIR": str(tmp_path / f"{name}-data"),
        }

    return start


@pytest.fixture
def restore_targets(
    empty: Callable[[str], dict[str, str]], clusters: Callable[[int], str], tmp_path: Path
) -> tuple[dict[str, str], dict[str, str]]:
    """The environments of two empty logs: a server, and a cluster."""
    with connect_cluster(clusters(3)) as client:
        client.flushall()
    on_server = empty("other")
    on_cluster = {
        **on_server,
        "MOONSTONE_LOG_URL": clusters(3).replace("redis://", "cluster://"),
        "MOONSTONE_DATA_DIR": str(tmp_path / "cluster-data"),
    }
    return on_server, on_cluster


@pytest.fixture
def store(empty: Callable[[str], dict[str, str]], stack: ExitStack) -> Store:
    return open_store(empty("log"), stack)
