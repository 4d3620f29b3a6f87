"""Browser profiles that tests use one after the other."""

from contextlib import suppress
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, Error, Page

HEALTH: Final = "healthz"
"""A page of the service that runs no script: from it, the client's storage can be changed while the client does not run."""
COMMON: Final[dict[str, Any]] = {"locale": "en-GB", "reduced_motion": "reduce"}
"""Without animations, which Chromium paints without a graphics card: a third of the time of a whole match."""
_WIDE: Final = {"width": 1200, "height": 900}


class Tabs:
    """Profiles with one tab each. In a tab that was used before, the client loads in less than half of the processor time:
    its files are in the cache, and the process of the tab has started.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[BrowserContext] = []
        self._client_page: Page | None = None

    def new(self, **profile: Any) -> BrowserContext:
        """A profile of its own, for what cannot be undone: another language, a permission, a clock. The test closes it."""
        context = self._browser.new_context(**{"viewport": _WIDE, **COMMON, **profile})
        context.new_page()
        return context

    def borrow(self, viewport: dict[str, int] | None = None, color_scheme: Any = "light") -> BrowserContext:
        """A profile with an empty storage and one tab."""
        context = self._free.pop() if self._free else self.new()
        (page,) = context.pages
        page.set_viewport_size(viewport or _WIDE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=color_scheme)
        return context

    def give_back(self, context: BrowserContext, url: str | None = None) -> None:
        """End what a page does in a borrowed profile, and empty the profile's storage at the service with this address."""
        first, *others = context.pages
        for page in others:
            page.close()
        with suppress(Error):
            context.set_offline(offline=False)
            first.goto(f"{url}/{HEALTH}" if url else "about:blank")
            if url:
                first.evaluate("localStorage.clear()")
            self._free.append(context)
            return
        context.close()

    def client_page(self, url: str) -> Page:
        """The page of the client, always the same one."""
        if self._client_page is None:
            self._client_page = self._browser.new_context(viewport={"width": 800, "height": 600}).new_page()
            # Until the client itself requests nothing any more.
            self._client_page.goto(f"{url}/", wait_until="networkidle")
        return self._client_page
