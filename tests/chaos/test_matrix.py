"""The fault matrix names only existing tests, and contains every test of a row."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.matrix import ROWS, Row

ROOT: Final = Path(__file__).parents[2]
WANTED: Final = {
    *range(1, 8),
    *range(9, 17),
    *range(18, 27),
    *range(28, 35),
    *range(36, 42),
    *range(45, 49),
    53,
    54,
    55,
}


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def exists(node: str) -> bool:
    path, _, name = node.partition("::")
    return name in functions(path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"row {row.number}")
def test_every_test_of_a_row_exists(row: Row) -> None:
    assert row.tests
    assert [node for node in row.tests if not exists(node)] == []


def test_no_row_is_missing_and_every_test_of_a_row_is_in_it() -> None:
    assert [row.number for row in ROWS] == sorted(WANTED)
    named = {
        (int(number), f"tests/chaos/{path.name}::{name}")
        for path in (ROOT / "tests" / "chaos").glob("test_*.py")
        for name in functions(f"tests/chaos/{path.name}")
        if name.startswith("test_row_")
        for number in re.findall(r"(?:row|and)_(\d\d)_", name)
    }
    assert named == {(row.number, node) for row in ROWS for node in row.tests if "::test_row_" in node}
