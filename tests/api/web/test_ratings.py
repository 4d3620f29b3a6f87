"""Ratings in the web client: at names, in the lobby, at the end of a match, on leaderboards and on the page of a player."""

import re
import time
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import expect

from tests.api.web.person import People
from tests.serving import Serving

GAME: Final = "ape_town"
TITLE: Final = "Ape Town"
LISTED: Final = 12
"""Players of the matches: all but one have ten different opponents after them."""
TIMEOUT_S: Final = 60
OVERFLOW: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Program:
    """A player without a browser."""

    def __init__(self, url: str, name: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=TIMEOUT_S)
        made = self.post("/v1/players", {"name": name})
        self._http.headers["Authorization"] = f"Bearer {made['token']}"
        self.token: str = made["token"]
        self.id: str = made["player"]["id"]
        self.name = name

    def post(self, path: str, body: object) -> Any:
        answer = self._http.post(path, json=body).raise_for_status()
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()


def rated_match(players: list[Program]) -> str:
    """A match that is scored because all but the first player leave it, the last one first."""
    match: str = players[0].post("/v1/matches", {"game": GAME, "seats": len(players), "rated": True})["id"]
    for player in players:
        player.post(f"/v1/matches/{match}/seats", {})
    for player in reversed(players):
        player.post(f"/v1/matches/{match}/leave", {})
    return match


@pytest.fixture(scope="module")
def players(served: Serving) -> list[Program]:
    """Players of one leaderboard: each met ten others, the first one won every time."""
    made = [Program(served.url, f"Player {number}") for number in range(LISTED)]
    matches = 0
    for _ in range(4):
        for first in range(1, LISTED, 3):
            others = [made[1 + (first + step) % (LISTED - 1)] for step in range(3)]
            rated_match([made[0], *others])
            matches += 1
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        found = made[0].get(f"/v1/players/{made[0].id}")["ratings"]
        if found and found[0]["matches"] == matches:
            return made
        assert time.monotonic() < deadline, found


def test_a_leaderboard_lists_players_by_rating_and_leads_to_their_pages(people: People, players: list[Program]) -> None:
    found = people.get(f"/v1/games/{GAME}/leaderboard")["players"]
    assert found[0]["player"] == players[0].id
    ada = people.person("Ada")
    page = ada.page
    ada.visit()
    page.locator(".game", has_text=TITLE).get_by_role("link", name="Leaderboard").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Leaderboard of {TITLE}")
    rows = page.locator(".leaders tbody tr")
    expect(rows).to_have_count(len(found))
    expect(rows.first).to_contain_text("Player 0")
    expect(rows.first).to_contain_text(str(found[0]["rating"]))
    page.get_by_role("link", name="Bots").click()
    expect(page.get_by_text("Nobody has a place here yet.")).to_be_visible()
    page.get_by_role("link", name="People").click()
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Player 0")


def test_a_leaderboard_is_read_page_by_page(people: People, players: list[Program]) -> None:
    found = people.get(f"/v1/games/{GAME}/leaderboard")["players"]
    ada = people.person("Ada")
    ada.page.route("**/leaderboard?*", lambda route: route.continue_(url=route.request.url.replace("limit=50", "limit=1")))
    ada.visit(f"leaderboard/{GAME}")
    for count in range(1, len(found)):
        expect(ada.page.locator(".leaders tbody tr")).to_have_count(count)
        ada.page.get_by_role("button", name="More").click()
    expect(ada.page.locator(".leaders tbody th")).to_have_text([one["name"] for one in found])
    assert players[0].name == found[0]["name"]


@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_of_a_player_shows_ratings_results_and_matches(
    people: People, players: list[Program], width: int
) -> None:
    player = players[0]
    (rating,) = people.get(f"/v1/players/{player.id}")["ratings"]
    ada = people.person("Ada", viewport={"width": width, "height": 800})
    ada.visit(f"player/{player.id}")
    page = ada.page
    card = page.locator("section", has=page.locator("#ratings")).locator(".card")
    expect(card).to_contain_text(str(rating["rating"]))
    expect(card).to_contain_text(f"± {round(40 * rating['sigma'] / 1_000_000)}")
    expect(card).to_contain_text(f"{rating['won']} won, 0 shared, 0 lost")
    curve = f"The rating over {rating['matches']} matches: from 1000 to {rating['rating']}"
    expect(card.get_by_role("img")).to_have_attribute("aria-label", re.compile(re.escape(curve)))
    expect(page.locator("#rated-matches ~ .matches li")).to_have_count(rating["matches"])
    expect(page.locator("#rated-matches ~ .matches li").last).to_contain_text("1000 →")
    expect(page.locator("#public-matches ~ .matches li").first).to_contain_text(f"Player 0 ({rating['rating']})")
    assert page.evaluate(OVERFLOW) <= 0


def test_a_player_who_is_not_there_is_reported(people: People) -> None:
    ada = people.person("Ada")
    ada.visit("player/pl_nobody")
    expect(ada.page.locator(".problem")).to_contain_text("player")


def test_a_rated_match_is_made_found_and_its_end_shows_what_it_changed(people: People, players: list[Program]) -> None:
    ada, ben = people.person("Ada"), people.person("Ben")
    for person in (ada, ben):
        person.visit()
        person.sign_up()
    match = ada.create(TITLE, 2, options=lambda page: page.get_by_label("Rated:").check())
    row = ben.page.locator(f'#open-matches ~ .matches a[href="#/match/{match}"]')
    ben.visit()
    expect(row).to_contain_text("rated")
    ben.field("Rated").select_option(label="Not rated")
    expect(row).to_have_count(0)
    ben.field("Rated").select_option(label="Rated")
    row.click()
    ben.page.get_by_role("button", name="Take a seat").click()
    expect(ben.page.locator("#seats")).to_be_visible()
    for person in (ada, ben):
        person.page.get_by_role("button", name="Leave the match").click()
        person.page.get_by_role("button", name="Leave now").click()
    for person in (ada, ben):
        changes = person.page.locator(".rating-change")
        expect(changes).to_have_count(2, timeout=TIMEOUT_S * 1000)
        expect(changes.first).to_contain_text("Rating 1000 →")
        expect(changes.locator(".better")).to_have_count(1)
        expect(changes.locator(".worse")).to_have_count(1)
    assert players


def test_seats_show_the_ratings_of_their_players(people: People, players: list[Program]) -> None:
    player = players[0]
    (rating,) = people.get(f"/v1/players/{player.id}")["ratings"]
    match = player.post("/v1/matches", {"game": GAME, "seats": 2})["id"]
    player.post(f"/v1/matches/{match}/seats", {})
    ada = people.person("Ada")
    ada.visit()
    expect(ada.page.locator(f'a[href="#/match/{match}"]')).to_contain_text(f"Player 0 ({rating['rating']})")
    ada.visit(f"match/{match}")
    seat = ada.page.locator(".seat", has_text="Player 0")
    expect(seat.locator(".rating")).to_contain_text(str(rating["rating"]))
    seat.get_by_role("link", name="Player 0").click()
    expect(ada.page.get_by_role("heading", level=1)).to_have_text("Player 0")


def test_only_a_match_that_may_be_rated_offers_it(people: People) -> None:
    ada = people.person("Ada")
    ada.visit("new")
    ada.field("Game").select_option(label=TITLE)
    page = ada.page
    rated = page.get_by_label("Rated:")
    expect(rated).to_be_enabled()
    page.get_by_label("Private").check()
    expect(rated).to_be_disabled()
    page.get_by_label("Private").uncheck()
    ada.field("Clock").select_option(label="No limit")
    expect(rated).to_be_disabled()
    ada.field("Clock").select_option(label="1 day for each decision")
    ada.field("Other player 1").select_option(label="Bot random")
    expect(rated).to_be_disabled()
    ada.field("Other player 1").select_option(label="A person")
    expect(rated).to_be_enabled()
    ada.field("Game").select_option(label="4 Monkeys")
    expect(rated).to_be_enabled()
    page.get_by_label("Family version").check()
    expect(rated).to_be_enabled()  # a variant of the game
    page.get_by_label("Banana skins").check()
    expect(rated).to_be_disabled()
