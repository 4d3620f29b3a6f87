"""Ratings in the web client: at names, in the lobby, at the end of a match, on leaderboards and on the page of a player."""

import re
from collections.abc import Iterator
from threading import Thread
from typing import Final

import pytest
from playwright.sync_api import expect
from werkzeug.serving import make_server

from service.match.rating import MILLION, OPPONENTS, PLACED_SIGMA
from tests.api.checked import Client
from tests.api.resources.test_ratings import GAME, RIVALS, Rated
from tests.api.web.person import People
from tests.api.web.tabs import Tabs
from tests.api.web.test_replay import violations
from tests.length import LONG

TITLE: Final = "Ape Town"
RATED_MS: Final = 60_000
"""How long a busy machine may need to rate a match."""
LOOKS: Final = [(360, "dark"), (1400, "light"), (360, "light"), (1400, "dark")]
"""Widths of the window, and colour schemes."""
PLAYER: Final = "JSON.parse(localStorage['moonstone.session']).player.id"
OVERFLOW: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def played() -> Rated:
    """Anna won against each rival, and after that the first rival against the others: two players of a leaderboard."""
    made = Rated(Client())
    for number in range(1, RIVALS):
        made.play(f"Rival {number}", "Rival 0")
    return made


@pytest.fixture
def readers(tabs: Tabs, played: Rated) -> Iterator[People]:
    """People at a service in memory, which has no streams of players, with the ratings of `played`."""
    server = make_server("127.0.0.1", 0, played.client.app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    people = People(tabs, f"http://127.0.0.1:{server.server_port}")
    yield people
    people.close()
    server.shutdown()
    thread.join()
    assert people.faults == []


def test_a_leaderboard_lists_players_by_rating_and_leads_to_their_pages(readers: People) -> None:
    found = readers.get(f"/v1/games/{GAME}/leaderboard")["players"]
    assert [one["name"] for one in found] == ["Anna", "Rival 0"]
    page = readers.person("Ada", color_scheme="dark").page
    page.goto(readers.url)
    page.locator(".game", has_text=TITLE).get_by_role("link", name="Leaderboard").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Leaderboard of {TITLE}")
    rows = page.locator(".leaders tbody tr")
    expect(rows.locator("th")).to_have_text(["Anna", "Rival 0"])
    expect(rows.first).to_contain_text(str(found[0]["rating"]))
    expect(rows.first).to_contain_text(f"{RIVALS} – 0 – 0")
    assert violations(page) == []
    page.get_by_role("link", name="Bots").click()
    expect(page.get_by_text("Nobody has a place here yet.")).to_be_visible()
    page.get_by_role("link", name="People").click()
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna")


def test_a_leaderboard_is_read_page_by_page(readers: People) -> None:
    ada = readers.person("Ada")
    small = re.compile("/leaderboard[?]")
    ada.page.route(small, lambda route: route.continue_(url=route.request.url.replace("limit=50", "limit=1")))
    ada.visit(f"leaderboard/{GAME}")
    names = ada.page.locator(".leaders tbody th")
    expect(names).to_have_text(["Anna"])
    ada.page.get_by_role("button", name="More").click()
    expect(names).to_have_text(["Anna", "Rival 0"])
    ada.page.get_by_role("button", name="More").click()
    expect(ada.page.get_by_role("button", name="More")).to_have_count(0)
    expect(ada.page.locator(".more")).to_be_focused()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), LOOKS if LONG else LOOKS[:1])
def test_the_page_of_a_player_shows_ratings_results_and_matches(
    readers: People, played: Rated, width: int, scheme: str
) -> None:
    player = played.ids["Anna"]
    (rating,) = readers.get(f"/v1/players/{player}")["ratings"]
    ada = readers.person("Ada", color_scheme=scheme, viewport={"width": width, "height": 800})
    ada.visit(f"player/{player}")
    page = ada.page
    card = page.locator(".card", has_text=TITLE)
    expect(card.locator(".rating-now")).to_have_text(f"{rating['rating']} ± {round(40 * rating['sigma'] / 1_000_000)}")
    expect(card).to_contain_text(f"{RIVALS} won, 0 shared, 0 lost")
    expect(card.get_by_role("link")).to_have_text("Rank 1 of the leaderboard")
    curve = f"The rating over {RIVALS} matches: from 1000 to {rating['rating']}"
    expect(card.get_by_role("img")).to_have_attribute("aria-label", re.compile(curve))
    assert len((card.locator("polyline").get_attribute("points") or "").split()) == RIVALS + 1
    expect(page.locator("#rated-matches ~ .matches li")).to_have_count(RIVALS)
    expect(page.locator("#rated-matches ~ .matches li").last).to_contain_text("1000 →")
    expect(
        page.locator("#rated-matches ~ .matches li").filter(has_text=re.compile(r"against Rival 1(?!\d)"))
    ).to_have_count(1)
    expect(page.locator("#public-matches ~ .matches li").first).to_contain_text(re.compile(r"Won by .+ \(\d+\)"))
    assert page.evaluate(OVERFLOW) <= 0
    assert violations(page) == []
    ada.visit(f"player/{played.ids['Rival 1']}")
    needed, limit = OPPONENTS, 40 * PLACED_SIGMA // MILLION
    expect(page.locator(".card", has_text=TITLE).get_by_role("link")).to_contain_text(f"2 of {needed} opponents")
    expect(page.locator(".card", has_text=TITLE).get_by_role("link")).to_contain_text(f"(limit ± {limit})")


def test_a_player_who_is_not_there_is_reported(readers: People) -> None:
    ada = readers.person("Ada")
    ada.visit("player/pl_nobody")
    expect(ada.page.locator(".problem")).to_contain_text("player")


def test_a_rated_match_is_made_found_and_shows_what_it_changed(people: People) -> None:
    ada, ben = people.known("Ada"), people.known("Ben")
    match = ada.create(TITLE, 2, options=lambda page: page.get_by_label("Rated:").check())
    row = ben.page.locator(f'#open-matches ~ .matches a[href="#/match/{match}"]')
    ben.visit()
    expect(row).to_contain_text("rated")
    ben.field("Rated").select_option(label="Not rated")
    expect(row).to_have_count(0)
    ben.field("Rated").select_option(label="Rated")
    row.click()
    ben.page.get_by_role("button", name="Take a seat").click()
    for person in (ada, ben):
        expect(person.page.locator("#seats")).to_be_visible()
        person.visit("new")  # else the page draws the moves that are made for those who left
    people.leave(match, ada.token, ben.token)
    for person in (ada, ben):
        person.visit(f"match/{match}")
        changes = person.page.locator(".rating-change")
        expect(changes).to_have_count(2, timeout=RATED_MS)
        expect(changes.first).to_contain_text("Rating 1000 →")
        expect(changes.locator(".better")).to_have_count(1)
        expect(changes.locator(".worse")).to_have_count(1)
    rating = people.get(f"/v1/players/{ada.page.evaluate(PLAYER)}")["ratings"][0]["rating"]
    match = people.new_match(ada.token, seats=2)
    ada.visit(f"match/{match}")
    expect(ada.page.locator(".seat .rating")).to_contain_text(str(rating))
    ben.visit()
    expect(ben.page.locator(f'#open-matches ~ .matches a[href="#/match/{match}"]')).to_contain_text(f"Ada ({rating})")


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
    page.get_by_role("checkbox", name="Family version").check()
    expect(rated).to_be_enabled()  # a variant of the game
    page.get_by_role("checkbox", name="Banana skins").check()
    expect(rated).to_be_disabled()
