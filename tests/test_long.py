"""Every module whose tests have a long form marks one of them as long, so that `make long` runs it."""

import ast
from pathlib import Path
from typing import Final

import pytest

from tests import length

TESTS: Final = Path(__file__).parent
USING_LENGTH: Final = [
    path for path in TESTS.rglob("test_*.py") if f"from {length.__name__} import" in path.read_text("utf-8")
]


@pytest.mark.parametrize("path", USING_LENGTH, ids=lambda path: path.stem)
def test_a_module_that_uses_the_length_has_a_test_that_is_marked(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    assert "pytest.mark.long" in {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
