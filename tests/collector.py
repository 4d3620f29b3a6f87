"""A plugin of pytest: no garbage collection until the tests are collected.

The collector would visit thousands of tests and all that they import again and again, and free almost nothing.
"""

import gc
from collections.abc import Iterator

import pytest

gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Then exempt them from garbage collection, also in the processes that tests fork."""
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
