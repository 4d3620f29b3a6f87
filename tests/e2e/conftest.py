"""One running service for the tests that only use it."""

from collections.abc import Iterator

import pytest

from tests.serving import Serving, serving

UNHURRIED = {
    "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
}
"""The tests ask faster than a person may."""


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("served"), **UNHURRIED) as running:
        yield running
