"""The house: packages are its rooms, and imports lead from upper floors to lower ones."""

from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from typing import Final

import grimp
import pytest

PACKAGES: Final = ("api", "service", "events", "workers")
MOST_FLOORS: Final = 10
MOST_ARROWS: Final = 120


def room(module: str) -> str:
    """`events` and `workers` are one room each; in `api` and `service`, a package is one, and a module that stands alone."""
    first, *rest = module.split(".")
    return ".".join([first, *rest[:1]]) if first in {"api", "service"} else first


@pytest.fixture(scope="module")
def arrows() -> Mapping[str, frozenset[str]]:
    """Which rooms each room imports."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = graph.modules - {"api", "service"}
    return {
        name: frozenset(
            room(imported)
            for module in modules
            if room(module) == name
            for imported in graph.find_modules_directly_imported_by(module) & modules
        )
        - {name}
        for name in {room(module) for module in modules}
    }


def test_no_imports_lead_in_a_circle(arrows: Mapping[str, frozenset[str]]) -> None:
    assert set(TopologicalSorter(arrows).static_order()) == set(arrows)


def test_the_house_has_few_floors_and_few_arrows(arrows: Mapping[str, frozenset[str]]) -> None:
    @cache
    def floor(name: str) -> int:
        return 1 + max(map(floor, arrows[name]), default=0)

    assert max(map(floor, arrows)) <= MOST_FLOORS
    assert sum(map(len, arrows.values())) <= MOST_ARROWS
