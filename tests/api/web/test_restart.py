"""The web client when the service is restarted while a match is open."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx
from playwright.sync_api import Page, expect
from redis import Redis

from tests.api.web.person import People
from tests.api.web.tabs import Tabs
from tests.e2e.client import Player
from tests.ports import free_port
from tests.serving import ROOT, UNHURRIED
from tests.waiting import until

OPEN: Final = ".sentence[aria-disabled=false]"


def _version(page: Page) -> int:
    return int(page.locator(".log .ply").last.inner_text())


@contextmanager
def _api(environ: Mapping[str, str]) -> Iterator[str]:
    """The API alone, without workers; yields its address once it serves."""
    url = f"http://127.0.0.1:{environ['MOONSTONE_PORT']}"

    def is_ready() -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{url}/readyz").is_success
        return False

    with subprocess.Popen([sys.executable, "-m", "api"], env=os.environ | environ, cwd=ROOT) as process:
        try:
            until(is_ready, 60, "the API serves")
            yield url
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_a_stale_tab_goes_on_after_a_restart_of_the_service(
    tabs: Tabs, valkey_log_url: str, valkey_queue_url: str, tmp_path: Path
) -> None:
    environ = {
        **UNHURRIED,
        "MOONSTONE_LOG_URL": valkey_log_url,
        "MOONSTONE_QUEUE_URL": valkey_queue_url,
        "MOONSTONE_DATA_DIR": str(tmp_path),
        "MOONSTONE_PORT": str(free_port()),
        "MOONSTONE_API_WORKERS": "1",
    }
    for url in (valkey_log_url, valkey_queue_url):
        with Redis.from_url(url) as client:
            client.flushall()
    with _api(environ) as url:
        people = People(tabs, url)
        ada = people.known("Ada")
        match = people.new_match(ada.token, seats=2)
        ada.visit(f"match/{match}")
        ben = Player(url, "Ben")
        ben.send("POST", f"/v1/matches/{match}/seats", {})
        while (action := ben.choose(match)) is not None:  # until it is Ada's turn
            ben.send("POST", f"/v1/matches/{match}/actions", {"action": action})
        ben.close()
        expect(ada.page.locator(OPEN).first).to_be_visible()
        before = _version(ada.page)
    expect(ada.page.locator(".connection")).to_have_text("No connection. Trying again …", timeout=30_000)
    with _api(environ):
        expect(ada.page.locator(".connection")).to_have_text("", timeout=30_000)
        ada.page.locator(OPEN).first.click()
        expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
        assert _version(ada.page) > before
        assert people.get(f"/v1/matches/{match}", ada.token)["version"] == _version(ada.page)
        people.close()
    assert people.faults == []
