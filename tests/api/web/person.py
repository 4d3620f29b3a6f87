"""People at browsers of their own, who see and click what the web client shows."""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any, Final

import httpx
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page, expect

from tests.api.web.tabs import HEALTH, Tabs
from tests.waiting import until

HARMLESS: Final = re.compile(r"Failed to load resource|net::ERR_INTERNET_DISCONNECTED")
"""What Chromium itself writes to the console about a refused or failed request; the client shows it to the person."""
TIMEOUT_MS: Final = 20_000
PRIME: Final = 7919
_SITUATION: Final = """() => ({
  over: document.querySelector("#ending") !== null,
  sentences: document.querySelectorAll(".sentence[aria-disabled=false]").length,
  confirm: document.querySelector(".confirm") !== null,
  items: document.querySelectorAll(".confirm fieldset .chip").length,
  version: Number([...document.querySelectorAll(".log .ply")].at(-1)?.textContent ?? 0),
})"""


class Person:
    """A person with a browser profile of its own."""

    def __init__(self, context: BrowserContext, url: str, name: str, faults: list[str]) -> None:
        self.context = context
        self.url = url
        self.name = name
        self._faults = faults
        self._choices = itertools.count(1)
        self.page = self._watched(context.pages[0])

    def open_tab(self) -> Page:
        """One more tab of the same profile."""
        return self._watched(self.context.new_page())

    def _watched(self, page: Page) -> Page:
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        return page

    def leave(self) -> None:
        """Do not report any more what happens in the tabs."""
        for page in self.context.pages:
            page.unroute_all(behavior="ignoreErrors")  # else a handler's error at the end fails the next test
            page.remove_listener("console", self._on_console)
            page.remove_listener("pageerror", self._on_error)

    def _on_error(self, error: Error) -> None:
        self._faults.append(f"{self.name}: {error}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not HARMLESS.search(message.text):
            self._faults.append(f"{self.name}: {message.text}")

    def visit(self, place: str = "") -> None:
        self.page.goto(f"{self.url}/#/{place}")
        self.page.wait_for_selector("h1")

    def sign_up(self) -> str:
        """Make an account; returns its recovery code."""
        self.page.get_by_role("button", name="Sign up or in").click()
        return self.give_name()

    def return_with(self, secret: str) -> None:
        """Sign in with a recovery code or a token."""
        self.page.get_by_role("button", name="Sign up or in").click()
        self.page.get_by_role("button", name="I have an account already").click()
        self.page.get_by_role("textbox", name="Recovery code or token").fill(secret)
        self.page.get_by_role("button", name="Continue").click()

    def give_name(self) -> str:
        """Answer the question for a name; returns the recovery code."""
        self.page.get_by_role("textbox", name="Name").fill(self.name)
        self.page.get_by_role("button", name="Continue").click()
        code = self.page.get_by_role("textbox", name="Your recovery code").input_value()
        self.page.get_by_role("button", name="I have kept it").click()
        expect(self.page.locator(".account .name")).to_have_text(self.name)
        return code

    @property
    def token(self) -> str:
        found: str = self.page.evaluate("JSON.parse(localStorage.getItem('moonstone.session')).token")
        return found

    @property
    def match(self) -> str:
        """The id of the match that the person looks at."""
        return self.page.url.partition("#/match/")[2].partition("?")[0]

    def create(self, game: str, seats: int, *, bots: int = 0, options: Callable[[Page], None] | None = None) -> str:
        """Create a match and take its first free seat; returns its id."""
        self.visit("new")
        self.field("Game").select_option(label=game)
        self.field("Seats").select_option(str(seats))
        for number in range(bots):
            self.field(f"Other player {number + 1}").select_option(label="Bot random")
        if options is not None:
            options(self.page)
        self.page.get_by_role("button", name="Create and join").click()
        self.page.wait_for_url("**/#/match/*")
        return self.match

    def field(self, name: str) -> Locator:
        """A list of choices on the page."""
        return self.page.get_by_role("combobox", name=name, exact=True)

    def join(self, match: str, code: str = "") -> None:
        self.visit(f"match/{match}{code}")
        self.page.get_by_role("button", name="Take a seat").click()

    def look(self) -> dict[str, Any]:
        """What the person could do now, whether the match is over, and the newest version in the list of what happened."""
        found: dict[str, Any] = self.page.evaluate(_SITUATION)
        return found

    def act(self, seen: dict[str, Any] | None = None) -> bool:
        """Do something that the list of actions offers, if it offers anything; returns whether it did."""
        seen = seen or self.look()
        if seen["confirm"]:
            self._confirm(seen["items"])
            return True
        if not seen["sentences"]:
            return False
        sentence = self.page.locator(".sentence[aria-disabled=false]").nth(self._choose(seen["sentences"]))
        try:
            sentence.click(timeout=1000)
        except Exception:  # noqa: BLE001  # the list changed while the person aimed
            return False
        return True

    def _choose(self, count: int) -> int:
        """One of `count` things, another one each time."""
        return next(self._choices) * PRIME % count

    def _confirm(self, items: int) -> None:
        button = self.page.locator(".confirm .primary")
        try:
            if items and button.get_attribute("aria-disabled", timeout=1000) == "true":
                self.page.locator(".confirm fieldset .chip").nth(self._choose(items)).click(timeout=1000)
            button.click(timeout=1000)
        except Exception:  # noqa: BLE001  # as above
            return


class People:
    """Several people at one service. `faults` are the errors that their browsers reported."""

    def __init__(self, tabs: Tabs, url: str) -> None:
        self._tabs = tabs
        self.url = url
        self.faults: list[str] = []
        self._borrowed: list[Person] = []
        self._others: list[Person] = []
        # Each client reads the certificates of all authorities, unless it does not verify any.
        self.http = httpx.Client(base_url=url, timeout=30, verify=False)

    def person(self, name: str, **profile: Any) -> Person:
        """A person at a profile that was used before, or at a new one if it needs more than a size and a colour scheme."""
        if profile.keys() <= {"viewport", "color_scheme"}:
            self._borrowed.append(Person(self._tabs.borrow(**profile), self.url, name, self.faults))
            return self._borrowed[-1]
        return self.newcomer(name, **profile)

    def newcomer(self, name: str, **profile: Any) -> Person:
        """A person at a new profile, which the test may change as it likes."""
        self._others.append(Person(self._tabs.new(**profile), self.url, name, self.faults))
        return self._others[-1]

    def known(self, name: str, **profile: Any) -> Person:
        """A person whose browser has the token of an account: the sign-up on a page takes as long as most tests."""
        person = self.person(name, **profile)
        self.sign_in(person)
        return person

    def sign_in(self, person: Person) -> None:
        """Give the person's browser the token of a new account before the client runs in it."""
        made = self.post("/v1/players", {"name": person.name})
        player = made["player"]
        session = json.dumps({"token": made["token"], "player": player, "made_at": player["created_at"]})
        if not person.page.url.startswith(self.url):
            person.page.goto(f"{self.url}/{HEALTH}")
        person.page.evaluate("session => localStorage.setItem('moonstone.session', session)", session)

    def against_a_bot(self, name: str, game: str = "ape_town", **profile: Any) -> Person:
        """A known person at the turn, in a private match that was not made on the page: the lobby takes half of the time."""
        person = self.known(name, **profile)
        match = self.new_match(person.token, game=game, bots=["greedy"], private=True)
        person.page.goto(f"{self.url}/#/match/{match}")
        expect(person.page.locator(".sentence[aria-disabled=false]").first).to_be_visible()
        return person

    def new_match(self, *tokens: str, **settings: Any) -> str:
        """A match that the first of these players makes and all of them join, by default of Ape Town; returns its id."""
        bots = settings.get("bots", [])
        match: str = self.post(
            "/v1/matches", {"game": "ape_town", "seats": len(tokens) + len(bots), **settings}, tokens[0]
        )["id"]
        for token in tokens:
            self.post(f"/v1/matches/{match}/seats", {}, token)
        return match

    def leave(self, match: str, *tokens: str) -> None:
        """All people leave a match that runs; the rest is played for them, and it is over when this returns."""
        for token in tokens:
            self.post(f"/v1/matches/{match}/leave", {}, token)
        until(lambda: self.get(f"/v1/matches/{match}")["status"] == "finished", 60, "the match ends")

    def token(self, name: str) -> str:
        """The token of a new account that no browser has."""
        found: str = self.post("/v1/players", {"name": name})["token"]
        return found

    def is_valid(self, token: str) -> bool:
        answer = self.http.get("/v1/me", headers={"Authorization": f"Bearer {token}"})
        return answer.status_code == httpx.codes.OK

    def post(self, path: str, body: object, token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.http.post(path, json=body, headers=headers).raise_for_status().json()

    def signed_up(self, name: str) -> Person:
        """A person who signed up on the page."""
        person = self.person(name)
        person.visit()
        person.sign_up()
        return person

    def get(self, path: str, token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.http.get(path, headers=headers).raise_for_status().json()

    def close(self) -> None:
        for person in self._borrowed:
            person.leave()
            self._tabs.give_back(person.context, self.url)
        for person in self._others:
            person.leave()
            person.context.close()
        self.http.close()
