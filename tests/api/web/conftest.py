"""One Chromium for the tests that use the web client as people do."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.api.web.person import TIMEOUT_MS, People
from tests.api.web.tabs import Tabs
from tests.serving import Served

NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that can be used, the fastest first: without windows, tests take half of the processor time."""


expect.set_options(timeout=TIMEOUT_MS)


_loops: Final[list[asyncio.AbstractEventLoop]] = []
"""The event loop of Playwright, once it runs."""


@pytest.fixture(autouse=True)
def playwright_loop() -> Iterator[None]:
    """Playwright's loop counts as running in this thread for the whole session; other tests run loops of their own."""
    if _loops:
        asyncio._set_running_loop(_loops[0])
    yield
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = _chromium(playwright)
        if path is None:
            pytest.skip("Chromium is not installed")
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        _loops.append(asyncio.get_running_loop())
        yield launched
        asyncio._set_running_loop(_loops.pop())
        launched.close()


def _chromium(playwright: Playwright) -> str | None:
    """The browser of this machine, or else the one that Playwright has downloaded."""
    own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, NAMES)), own if Path(own).is_file() else None)


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def client_page(tabs: Tabs, served: Served) -> Page:
    """The page of the client, for tests of its modules and its policy: the same page for all of them."""
    return tabs.client_page(served.url)


@pytest.fixture
def people(tabs: Tabs, served: Served) -> Iterator[People]:
    made = People(tabs, served.url)
    yield made
    made.close()
    assert made.faults == []
