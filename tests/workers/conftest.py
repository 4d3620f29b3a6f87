"""A log, a queue and worker processes for each test. They are not shared, because workers play every match they find."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.world import World, new_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as world:
        yield world
