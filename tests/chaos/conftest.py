"""Matches on a log that the test may break."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from service.adapters.valkey import Valkey
from tests.chaos.played import Played, playing
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
