"""Imports between packages lead only from upper layers to lower ones, and there are not too many."""

from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from typing import Final

import grimp
import pytest

PACKAGES: Final = ("api", "service", "events", "workers")
MAX_LAYERS: Final = 10
MAX_IMPORTS: Final = 120


def package_of(module: str) -> str:
    """The package of a module: `events` and `workers` count as one each; in `api` and `service` each subpackage or module counts."""
    first, *rest = module.split(".")
    return ".".join([first, *rest[:1]]) if first in {"api", "service"} else first


@pytest.fixture(scope="module")
def imports() -> Mapping[str, frozenset[str]]:
    """The packages that each package imports."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = graph.modules - {"api", "service"}
    return {
        name: frozenset(
            package_of(imported)
            for module in modules
            if package_of(module) == name
            for imported in graph.find_modules_directly_imported_by(module) & modules
        )
        - {name}
        for name in {package_of(module) for module in modules}
    }


def test_there_are_no_circular_imports(imports: Mapping[str, frozenset[str]]) -> None:
    assert set(TopologicalSorter(imports).static_order()) == set(imports)


def test_there_are_few_layers_and_few_imports_between_packages(imports: Mapping[str, frozenset[str]]) -> None:
    @cache
    def layer(name: str) -> int:
        return 1 + max(map(layer, imports[name]), default=0)

    assert max(map(layer, imports)) <= MAX_LAYERS
    assert sum(map(len, imports.values())) <= MAX_IMPORTS
