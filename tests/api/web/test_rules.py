"""The rules of every game are read on the page, as elements and not as Markdown."""

import re

from playwright.sync_api import expect

from service.games.registry import GAMES
from tests.api.web.person import People


def test_the_rules_of_every_game_are_complete_and_none_of_their_markdown_is_left(people: People) -> None:
    person = people.person("Ada", viewport={"width": 360, "height": 740})
    shown = person.page.locator(".rules")
    for game in sorted(GAMES):
        person.visit(f"rules/{game}")
        expect(person.page.get_by_role("heading", level=1)).to_have_text(GAMES[game].info.title)
        expect(shown.locator("table tbody tr").first).to_be_visible()
        text = shown.inner_text()
        assert not re.search(r"\*\*|`|\\\||^(#|- |\|)", text, re.MULTILINE), game
        written = people.get(f"/v1/games/{game}")["rules"]
        clauses = re.findall(r"^- \*\*([A-Z]{3}-\d+)\*\*", written, re.MULTILINE)
        assert len(clauses) > 10
        first = shown.locator("li > strong:first-child").all_inner_texts()
        assert [one for one in first if one in set(clauses)] == clauses
        assert person.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_the_lobby_leads_to_the_rules_in_both_languages(people: People) -> None:
    person = people.person("Ada", locale="de-DE")
    person.visit()
    person.page.get_by_role("link", name="Regeln: Ape Town").click()
    expect(person.page.get_by_role("heading", level=1, name="Ape Town")).to_be_visible()
    expect(person.page.locator(".rules [lang=de]")).to_contain_text("nur auf Englisch")
