"""Fixtures of all tests: real Valkey servers, one of each kind per test process, started when a test first needs them."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from redis import Redis

from service.adapters.valkey import Valkey
from tests.collector import COVERAGE, traced
from tests.ports import free_port, tcp_url
from tests.serving import UNHURRIED, Served, shared

SLOTS = 16384
"""The number of hash slots of every cluster."""
MEASURED = {
    Path(__file__).parent / path
    for path in (
        "events",
        "service/audit/test_audit.py",
        *(
            f"service/automation/test_{name}.py"
            for name in ("bot_calls", "bot_faults", "bot_turns", "deadlines", "erasure", "real_time")
        ),
        "service/games",
        *(f"service/match/test_{name}.py" for name in ("decide", "fold_refusals", "transitions")),
        "service/repository",
        *(f"service/subscriptions/test_{name}.py" for name in ("player_news", "spectator_stream", "streams")),
        *(
            f"service/usecases/test_{name}.py"
            for name in ("match_index", "match_lifecycle", "play", "play_refusals", "submit_times")
        ),
        "service/views",
    )
}
"""The folders and files whose tests are traced: they must cover the rules, the log, and the reading and writing of matches.

Other tests repeat the same lines, and the tracer makes them up to three times as slow.
"""

WAITING: Final = tuple(Path(__file__).parent / folder for folder in ("e2e", "openapi", "chaos", "workers"))
"""The folders with tests that mostly wait: for processes, disks and deadlines."""

# A shell that starts the tests in the background makes them, and every process that they start, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow example on a busy machine is not a failure.
settings.register_profile("moonstone", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("moonstone")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let test processes begin with a folder of tests that mostly wait, so that others use the processors meanwhile.

    xdist gives each process an equal part of the tests, in their order.
    """
    part = -(-len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    folders: dict[Path | None, list[pytest.Item]] = {folder: [] for folder in (*WAITING, None)}
    for item in items:
        folders[next((folder for folder in item.path.parents if folder in folders), None)].append(item)
    others = iter(folders.pop(None))
    items[:] = [
        *chain.from_iterable((*waiting, *islice(others, max(part - len(waiting), 0))) for waiting in folders.values()),
        *others,
    ]


def is_measured(item: pytest.Item) -> bool:
    """Whether a test counts for coverage. Those with a long form and those with random examples do not: they repeat what other
    tests do many times, and no line may depend on chance.
    """
    is_inside = not MEASURED.isdisjoint((item.path, *item.path.parents))
    is_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return is_inside and not is_random and not any(map(item.get_closest_marker, ("long", "unmeasured")))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run a test that counts for coverage with its tracers."""
    with traced(item.session.stash[COVERAGE]) if is_measured(item) else nullcontext():
        return (yield)


@pytest.fixture(scope="session")
def valkey_log_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that is set up as a log. It may have matches of other tests: use unique ids, or empty it first."""
    with Valkey.start(tmp_path_factory.mktemp("log"), durable=True) as server:
        yield server.url


@pytest.fixture(scope="session")
def valkey_queue_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that is set up as a queue: it stores nothing on disk."""
    with Valkey.start(tmp_path_factory.mktemp("queue"), durable=False) as server:
        yield server.url


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], str]]:
    """A function that starts a cluster of this many servers, and returns the URL of one."""
    with ExitStack() as stack:

        def node() -> Valkey:
            options = {"cluster-enabled": "yes", "port": str(free_port()), "cluster-port": str(free_port())}
            return stack.enter_context(Valkey.start(tmp_path_factory.mktemp("node"), durable=True, options=options))

        @cache
        def cluster(size: int) -> str:
            nodes = [node() for _ in range(size)]
            clients = [stack.enter_context(Redis.from_url(node.url, protocol=2)) for node in nodes]
            first, bus = (clients[0].config_get(name)[name] for name in ("port", "cluster-port"))
            for number, client in enumerate(clients):
                client.cluster("ADDSLOTSRANGE", SLOTS * number // size, SLOTS * (number + 1) // size - 1)
                client.cluster("SET-CONFIG-EPOCH", number + 1)
                client.cluster("MEET", "127.0.0.1", first, bus)
            while not all(is_whole(client, size) for client in clients):
                time.sleep(0.02)
            return tcp_url(nodes[0])

        yield cluster


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The running service of all tests that do not damage it, in all test processes: an idle one takes processor time too."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with shared(folder / "served", **UNHURRIED) as running:
        yield running


def is_whole(client: Redis, size: int) -> bool:
    info = client.cluster("INFO")
    return bool(info["cluster_state"] == "ok" and info["cluster_size"] == str(size))
