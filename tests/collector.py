"""A plugin of pytest that makes the collection of the tests cheap: without garbage collection, and without coverage's tracer.

The collector would visit thousands of tests and all that they import again and again, and free almost nothing. The tracer
would make the collection take twice as long.
"""

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages

import pytest

import events
import service

gc.disable()


@contextmanager
def untraced() -> Iterator[None]:
    """Run the block without tracer.

    The marker `no_cover` of pytest-cov is not enough: in a worker of xdist it stops only one of two tracers.
    """
    tracers = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracers[0])
        threading.settrace(tracers[1])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Import what coverage measures under its tracer. At the end, exempt all that was made from later garbage collections."""
    for package in (events, service):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    try:
        with untraced():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()
