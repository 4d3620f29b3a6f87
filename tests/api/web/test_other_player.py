"""Two players use one browser after each other: nothing of the first one stays, and nothing is done for the second one."""

import json
import re
from typing import Final

from playwright.sync_api import Route, expect

from tests.api.web.person import People, Person

LEGAL: Final = re.compile(r'"legal_actions": \[\s*\{')
"""What only the player at the turn gets with a frame."""
OPEN: Final = ".sentence[aria-disabled=false]"


def _at_a_public_match(people: People) -> Person:
    ada = people.known("Ada")
    ada.join(people.post("/v1/matches", {"game": "ape_town", "seats": 2, "bots": ["random"]}, ada.token)["id"])
    expect(ada.page.locator(OPEN).first).to_be_visible()
    return ada


def test_what_a_player_saw_is_gone_after_the_sign_out(people: People) -> None:
    ada = _at_a_public_match(people)
    page = ada.page
    page.locator("summary", has_text="For authors of clients").click()
    expect(page.locator(".exchange", has_text=re.compile(r"POST .*/seats"))).to_have_count(1)
    assert LEGAL.search(_shown(ada))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign up or in")).to_be_visible()
    page.locator("summary", has_text="For authors of clients").click()
    expect(page.locator(".exchange", has_text="hello")).to_have_count(1)
    expect(page.locator(".exchange", has_text="POST")).to_have_count(0)
    assert not LEGAL.search(_shown(ada))

    ada.sign_up()
    match = people.new_match(ada.token, bots=["random"])
    ada.visit(f"replay/{match}")
    views = page.get_by_label("Seen by").locator("option")
    expect(views).to_have_text([re.compile("Ada")])
    picture = page.locator(".picture svg").inner_html()
    page.get_by_role("button", name="Sign out").click()
    expect(views).to_have_text(["A spectator"])
    expect(page.locator(".picture svg")).to_be_visible()
    assert page.locator(".picture svg").inner_html() != picture


def _shown(person: Person) -> str:
    """All that the panel shows, with each entry open."""
    person.page.evaluate("document.querySelectorAll('.exchange').forEach((entry) => { entry.open = true; })")
    expect(person.page.locator(".exchange[open]:not(:has(pre))")).to_have_count(0)
    return "".join(person.page.locator(".exchange pre").all_inner_texts())


def test_a_command_is_not_sent_again_for_another_player(people: People) -> None:
    ada = _at_a_public_match(people)
    made = people.post("/v1/players", {"name": "Ben"})
    ben = json.dumps({"token": made["token"], "player": made["player"]})
    sent: list[str | None] = []

    def refuse(route: Route) -> None:
        """Ada's token ended, and Ben signed in with another tab, of which this one has no news yet."""
        sent.append(route.request.header_value("Authorization"))
        ada.page.evaluate("session => localStorage.setItem('moonstone.session', session)", ben)
        problem = {"status": 401, "code": "token-invalid", "title": "", "detail": "The token is not valid."}
        route.fulfill(status=401, json=problem)

    before = f"Bearer {ada.token}"
    match = ada.match
    ada.page.route(re.compile("/leave$"), refuse)
    ada.page.get_by_role("button", name="Leave the match").click()
    ada.page.get_by_role("button", name="Leave now").click()
    expect(ada.page.locator(".account .name")).to_have_text("Ben")
    assert sent == [before]
    assert not any(seat["resigned"] for seat in people.get(f"/v1/matches/{match}")["seats"])
