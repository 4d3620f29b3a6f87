"""The Decider without one of its rules, which notes the rules that refuse a command."""

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from service.match import decide, rulings, seating

MODULES: Final = (rulings, seating, decide)


class _Without(ast.NodeTransformer):
    """Removes the `raise` at a line. Each other `raise` first adds its module and line to `refusing`."""

    def __init__(self, module: ModuleType, line: int) -> None:
        self._module = module
        self._line = line

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        if node.lineno == self._line:
            return [ast.copy_location(ast.Pass(), node)]
        noted = ast.parse(f"refusing.add(({self._module.__name__!r}, {node.lineno}))").body[0]
        return [ast.fix_missing_locations(ast.copy_location(noted, node)), node]


@cache
def compiled(module: ModuleType, line: int) -> CodeType:
    """A module without the `raise` at a line."""
    tree = _Without(module, line).visit(ast.parse(Path(str(module.__file__)).read_text("utf-8")))
    return compile(tree, str(module.__file__), "exec")


def rebuilt(module: ModuleType, line: int, refusing: set[tuple[str, int]]) -> ModuleType:
    copy = ModuleType(module.__name__)
    copy.__dict__["refusing"] = refusing
    exec(compiled(module, line), copy.__dict__)
    return copy


def broken(module: ModuleType, line: int, refusing: set[tuple[str, int]]) -> Callable[..., object]:
    """`decide` without one rule. It adds each `raise` that it reaches to `refusing`."""
    copies = {each: rebuilt(each, line if each is module else 0, refusing) for each in MODULES}
    by_name = {each.__name__: copy for each, copy in copies.items()}
    for copy in copies.values():
        for name, value in list(vars(copy).items()):
            source = by_name.get(getattr(value, "__module__", ""))
            if source is not None:
                setattr(copy, name, getattr(source, name))
    found: Callable[..., object] = copies[decide].decide
    return found
