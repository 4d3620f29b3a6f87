"""A log and a queue of its own for each test, since workers play whatever they find; and worker processes on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.world import World, made


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with made(tmp_path) as world:
        yield world
