"""Matches on a log that the test may break."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from redis import Redis

from service.adapters.valkey import Valkey
from service.container import Service, build
from service.settings import read
from tests.chaos.played import Played, playing
from tests.workers.conftest import servers as servers
from tests.workers.conftest import world as world


@pytest.fixture
def play_on(tmp_path: Path, valkey_queue_url: str) -> Iterator[Callable[[Valkey], Played]]:
    """A function that starts a match on a log."""
    with ExitStack() as stack:
        yield lambda log: stack.enter_context(playing(log, valkey_queue_url, tmp_path / "data"))


@pytest.fixture
def played(tmp_path: Path, play_on: Callable[[Valkey], Played]) -> Iterator[Played]:
    """A match on its own log."""
    with Valkey.start(tmp_path / "log", durable=True, options={"enable-protected-configs": "yes"}) as log:
        yield play_on(log)


@pytest.fixture(scope="module")
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service on an empty log, in this process."""
    Redis.from_url(valkey_log_url).flushall()
    folder = str(tmp_path_factory.mktemp("data"))
    environ = {"LOG_URL": valkey_log_url, "QUEUE_URL": valkey_queue_url, "DATA_DIR": folder}
    with closing(build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}), listen=False)) as built:
        yield built
