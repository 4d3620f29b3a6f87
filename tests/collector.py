"""A plugin of pytest that makes the tests cheaper.

- Garbage is not collected while tests are collected: it would visit thousands of tests and all that they import again and
  again, and free almost nothing.
- Coverage's tracer is off, except for imports and for tests that count. It makes the rules three times as slow.
- Test processes report only what may be printed: the calls of tests, what failed or was skipped, and what a teardown wrote.
"""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Final, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from xdist import is_xdist_controller

import events
import service

gc.disable()


class Tracers(NamedTuple):
    """The tracers of this thread and of new threads."""

    own: Any = None
    new: Any = None


COVERAGE: Final = pytest.StashKey[Tracers]()
"""Where the session keeps the tracers of coverage."""


@contextmanager
def traced(tracers: Tracers) -> Iterator[Tracers]:
    """Run the block with these tracers, and yield those of before.

    The marker `no_cover` of pytest-cov is not enough: in a worker of xdist it stops only one of two tracers.
    """
    before = Tracers(sys.gettrace(), threading.gettrace())
    sys.settrace(tracers.own)
    threading.settrace(tracers.new)
    try:
        yield before
    finally:
        sys.settrace(before.own)
        threading.settrace(before.new)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """In one test process, import what coverage measures under its tracer. At the end, exempt all that was made from later
    garbage collections.
    """
    is_first = not is_xdist_controller(session) and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    if is_first and sys.gettrace():
        for package in (events, service):
            for module in walk_packages(package.__path__, f"{package.__name__}."):
                import_module(module.name)
    try:
        with traced(Tracers()):
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    with traced(Tracers()) as session.stash[COVERAGE]:
        return (yield)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a test process, send one message for a test that passes, where pytest and xdist would send five."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or (report.when == "teardown" and report.sections):
            item.ihook.pytest_runtest_logreport(report=report)
    return True
