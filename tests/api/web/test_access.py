"""The web client is for everybody: axe finds nothing, the keyboard alone plays, phones, both languages, light and dark."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.api.web.person import People, Person
from tests.length import LONG
from tests.openapi import tools

AXE: Final = """async (without_picture) => {
  if (without_picture) document.querySelector(".picture svg").remove();  // axe also visits what it is to exclude
  const found = await window.axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]});
  return found.violations.map((one) => [one.id, one.help, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]);
}"""
OVERFLOW: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MOVES: Final = 4 if LONG else 2
SEEN: Final = not LONG
"""Whether to leave out the picture on the pages that show a table once more: it takes most of the time."""


def _violations(page: Page, *, without_picture: bool = False) -> list[Any]:
    if page.evaluate("window.axe === undefined"):
        page.evaluate((tools.installed() / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found: list[Any] = page.evaluate(AXE, without_picture)
    return found


def _at_the_table(person: Person, game: str = "Ape Town") -> None:
    person.visit()
    is_known = person.page.locator(".account").count() == 1
    person.page.locator(".game", has_text=game).get_by_role("button", name=re.compile("bots|Bots")).click()
    if not is_known:
        person.page.get_by_role("textbox", name="Name").fill(person.name)
        person.page.locator("dialog .primary").click()
        expect(person.page.locator("dialog .copy-field")).to_be_visible()
        person.page.locator("dialog .primary").click()
    expect(person.page.locator(".sentence[aria-disabled=false]").first).to_be_visible()
    expect(person.page.locator(".picture svg")).to_be_visible()


LOOKS: Final = [(360, "dark"), (1400, "light"), (360, "light"), (1400, "dark")]
"""Widths of the window, and colour schemes."""
GAMES: Final = ["4 Monkeys", "Monsters on the Moon", "Ape Town", "Monkeys on the Moon"]


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), LOOKS if LONG else LOOKS[:1])
def test_axe_finds_nothing_on_any_page(people: People, scheme: str, width: int) -> None:
    person = people.person("W" * 40, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = person.page
    person.visit()
    expect(page.locator(".game").first).to_be_visible()
    found = {"lobby": _violations(page)}
    page.get_by_role("button", name="Sign up or in").click()
    found["sign-up"] = _violations(page)
    page.get_by_role("button", name="I have an account already").click()
    found["sign-in"] = _violations(page)
    page.get_by_role("button", name="Cancel").click()
    person.give_name()
    person.visit("account")
    expect(page.locator(".token")).to_be_visible()
    page.locator("summary", has_text="A token for a program").click()
    found["account"] = _violations(page)
    assert page.evaluate(OVERFLOW) <= 0
    person.visit("rules/ape_town")
    expect(page.locator(".rules")).to_be_visible()
    found["rules"] = _violations(page)
    person.visit("new")
    expect(page.locator(".form form")).to_be_visible()
    found["create"] = _violations(page)
    page.get_by_role("button", name="Create and join").click()
    expect(page.locator("#waiting")).to_be_visible()
    found["waiting"] = _violations(page)
    _at_the_table(person)
    page.locator("summary", has_text="authors").click()
    found["table"] = _violations(page)
    page.get_by_role("button", name="Leave the match").click()
    page.get_by_role("button", name="Leave now").click()
    expect(page.locator("#ending")).to_be_visible(timeout=60_000)
    found["ending"] = _violations(page, without_picture=SEEN)
    page.get_by_role("link", name="Replay").click()
    expect(page.locator(".replay .picture svg")).to_be_visible()
    if LONG:  # `test_axe_finds_nothing_in_a_replay` has the same look in its short form
        found["replay"] = _violations(page)
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES if LONG else GAMES[:1])
def test_the_keyboard_alone_plays(people: People, game: str) -> None:
    person = people.person("Ada")
    page = person.page
    person.visit()
    page.locator(".game", has_text=game).get_by_role("button", name="Play against bots").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your recovery code")).to_be_focused()
    _tab_to(page, "dialog .primary")
    page.keyboard.press("Enter")
    for _ in range(MOVES):
        before = person.look()["version"]
        expect(page.locator(".sentence[aria-disabled=false]").first).to_be_visible(timeout=20_000)
        _tab_to(page, ".sentence[aria-disabled=false]")
        page.keyboard.press("Enter")
        if page.locator(".confirm").count():
            _tab_to(page, ".confirm .chip")
            page.keyboard.press("Space")
            _tab_to(page, ".confirm .primary")
            page.keyboard.press("Enter")
        page.wait_for_function(
            "before => Number([...document.querySelectorAll('.log .ply')].at(-1)?.textContent) > before", arg=before
        )
    # A button that may not be used any more, or that is replaced by others, does not lose the focus.
    larger = page.get_by_role("button", name="Larger")
    larger.focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    expect(larger).to_have_attribute("aria-disabled", "true")
    expect(larger).to_be_focused()
    page.get_by_role("button", name="Leave the match").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stay")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Leave the match")).to_be_focused()


def _tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element of this kind has the focus; the focus is visible."""
    for _ in range(150):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


@pytest.mark.long
@pytest.mark.parametrize("language", ["de-AT", "en-GB"] if LONG else ["de-AT"])
def test_a_phone_of_360_pixels_scrolls_only_downwards(people: People, language: str) -> None:
    person = people.known("W" * 40, locale=language, viewport={"width": 360, "height": 740}, has_touch=True)
    page = person.page
    person.visit()
    expect(page.locator(".game").first).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    person.visit("new")
    expect(page.locator(".form form")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    _at_the_table(person, "Monsters on the Moon")
    assert page.evaluate(OVERFLOW) <= 0
    # The picture can be read, and shows what can be clicked although nothing hovers over it.
    assert page.evaluate("document.querySelector('.picture svg').clientWidth") > 2 * 300
    assert page.evaluate("getComputedStyle(document.querySelector('.picture .fits')).filter") != "none"
    person.visit(f"replay/{person.match}")
    expect(page.locator(".curve li, .audit li").first).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    person.visit(f"player/{people.get('/v1/me', person.token)['id']}")
    expect(page.locator("h1", has_text="WWW")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0


def test_the_language_is_that_of_the_browser_and_can_be_changed(people: People) -> None:
    page = people.against_a_bot("Ada", locale="de-DE").page
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#your-move")).to_have_text("Dein Zug")
    expect(page.locator(".picture svg")).to_have_attribute("lang", "de")
    page.get_by_role("button", name="English").click()
    expect(page.locator("#your-move")).to_have_text("Your move")
    expect(page.locator(".picture svg")).to_have_attribute("lang", "en")
    expect(page.locator(".asked")).to_have_text("Take a tile of the display.")


def test_what_happened_is_read_out_politely(people: People) -> None:
    person = people.against_a_bot("Ada")
    region = person.page.locator("[aria-live=polite]")
    expect(region).to_have_text("")
    person.act()
    expect(region).to_contain_text("Seat 1 takes the tile")
