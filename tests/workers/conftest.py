"""A log, a queue and worker processes for each test. The processes are not shared, because workers play every match they find."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.world import Servers, World, closing_servers, world_on


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with closing_servers(tmp_path_factory.mktemp("servers")) as servers:
        yield servers


@pytest.fixture
def world(servers: Servers, tmp_path: Path) -> Iterator[World]:
    with world_on(servers, tmp_path) as world:
        yield world
