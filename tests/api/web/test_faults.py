"""The web client when something fails: no network, a second tab, a revoked token, a hostile name."""

import json
import re
import time
from typing import Final

import httpx
import pytest
from playwright.sync_api import Error, Page, Route, expect

from api.resources.web import REVISION
from tests.api.web.person import People
from tests.serving import Served

OPEN: Final = ".sentence[aria-disabled=false]"
ENDS: Final = 4
LEAST_PAUSES_S: Final = 0.6
"""The second and the third pause are at least 0.25 and 0.5 seconds."""


def _version(page: Page) -> int:
    return int(page.locator(".log .ply").last.inner_text())


def test_without_a_network_the_page_says_so_and_goes_on_where_it_was(people: People) -> None:
    ada, ben = people.known("Ada"), people.token("Ben")
    match = people.new_match(ada.token, seats=2)
    ada.visit(f"match/{match}")
    people.post(f"/v1/matches/{match}/seats", {}, ben)
    expect(ada.page.locator("#seats")).to_be_visible()
    ada.context.set_offline(offline=True)
    expect(ada.page.locator(".connection")).to_have_text("No connection. Trying again …", timeout=30_000)
    before = _version(ada.page)
    _play_or_let_the_other_play(people, ben, match)
    ada.context.set_offline(offline=False)
    expect(ada.page.locator(".connection")).to_have_text("", timeout=20_000)
    newest = people.get(f"/v1/matches/{match}")["version"]
    expect(ada.page.locator(".log .ply").last).to_have_text(str(newest))
    versions = [int(text) for text in ada.page.locator(".log .ply").all_inner_texts()]
    assert versions == list(range(versions[0], newest + 1)), "every version once, in order"
    assert newest > before


def _play_or_let_the_other_play(people: People, token: str, match: str) -> None:
    """Something happens in the match: the person's move, or, if it is not the person's turn, a request to abort it."""
    actions = people.get(f"/v1/matches/{match}/legal-actions", token)["actions"]
    path, body = ("actions", {"action": actions[0]}) if actions else ("abort", {})
    people.post(f"/v1/matches/{match}/{path}", body, token)


def test_an_action_sent_without_a_network_is_applied_once_when_it_is_back(people: People) -> None:
    ada = people.against_a_bot("Ada")
    match = ada.match
    before = people.get(f"/v1/matches/{match}", ada.token)["version"]
    ada.context.set_offline(offline=True)
    ada.page.locator(OPEN).first.click()
    expect(ada.page.locator(".sentence.sent")).to_have_count(1)
    ada.context.set_offline(offline=False)
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.", timeout=20_000)
    assert people.get(f"/v1/matches/{match}", ada.token)["version"] == before + 1


def test_two_tabs_of_one_person_show_the_same(people: People) -> None:
    ada = people.against_a_bot("Ada")
    match = ada.match
    other = ada.open_tab()
    a_read = re.compile(f"/v1/matches/{match}$")
    other.route(a_read, lambda route: route.fulfill(status=503, json={"message": "no upstream"}), times=1)
    other.goto(f"{ada.url}/#/match/{match}")
    expect(other.locator(OPEN).first).to_be_visible()
    ada.page.route(re.compile("/actions$"), _cut, times=1)
    with ada.page.expect_response(
        lambda answer: answer.request.method == "POST" and answer.request.post_data is not None
    ):
        ada.page.locator(OPEN).first.click()
    expect(ada.page.locator(".sentence.sent")).to_have_count(0)
    expect(ada.page.get_by_role("alert").filter(has_text=re.compile(r"\w"))).to_have_count(0)
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
    expect(other.locator(".asked")).to_have_text("Put the tile on a free field.", timeout=20_000)
    expect(other.locator(".log .ply").last).to_have_text(str(_version(ada.page)))


def _cut(route: Route) -> None:
    """The service carries the request out, but a part of its answer is lost."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.body()[:20])


def test_an_action_that_came_too_late_is_explained_and_the_page_is_read_again(people: People) -> None:
    ada = people.against_a_bot("Ada")
    match = ada.match
    seen = people.get(f"/v1/matches/{match}/legal-actions", ada.token)

    def after_another(route: Route) -> None:
        """Another program of Ada's acts while her click is on its way."""
        _act(people, match, ada.token, seen["actions"][0])
        route.continue_()

    ada.page.route(re.compile("/actions$"), after_another)
    ada.page.locator(OPEN).last.click()
    expect(ada.page.get_by_role("alert").filter(has_text=re.compile(r"\w"))).to_have_count(1)
    ada.page.unroute_all()
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
    ada.page.locator(OPEN).first.click()
    expect(ada.page.get_by_role("alert").filter(has_text=re.compile(r"\w"))).to_have_count(0)


def _act(people: People, match: str, token: str, action: object) -> None:
    people.post(f"/v1/matches/{match}/actions", {"action": action}, token)


def test_a_revoked_token_signs_every_tab_out(people: People) -> None:
    ada = people.against_a_bot("Ada")
    other = ada.open_tab()
    other.goto(ada.url)
    expect(other.locator(".account .name")).to_have_text("Ada")
    people.http.delete("/v1/me/tokens/current", headers={"Authorization": f"Bearer {ada.token}"}).raise_for_status()
    expect(ada.page.get_by_text("does not accept the token of this browser")).to_be_visible(timeout=20_000)
    for page in (ada.page, other):
        expect(page.get_by_role("button", name="Sign up or in")).to_be_visible(timeout=20_000)
    assert ada.page.evaluate("localStorage.getItem('moonstone.session')") == '"refused"'
    # The match was private: what it showed is gone with the token.
    expect(ada.page.get_by_role("heading", name="No match here")).to_be_visible()
    assert ada.page.locator(".picture").count() == 0


def test_signing_out_revokes_the_token_of_this_browser(people: People) -> None:
    ada = people.signed_up("Ada")
    token = ada.token
    busy = {"status": 503, "code": "store-unavailable", "title": "", "detail": "The log of matches does not respond."}
    ada.page.route(re.compile("/tokens/current$"), lambda route: route.fulfill(status=503, json=busy), times=1)
    with ada.page.expect_response(lambda answer: answer.status == httpx.codes.NO_CONTENT):
        ada.page.get_by_role("button", name="Sign out").click()
        expect(ada.page.get_by_role("button", name="Sign up or in")).to_be_visible()
    assert not people.is_valid(token)


def test_a_hostile_name_is_only_text(people: People) -> None:
    name = "</b>{{7}}<img src=x onerror=alert(1)>"
    person = people.known(name)
    person.page.on("dialog", lambda dialog: people.faults.append(dialog.message))
    person.visit(f"match/{people.new_match(person.token, bots=['greedy'])}")
    expect(person.page.locator(".seats .name").last).to_have_text(name)
    assert person.page.locator("main img, main script").count() == 0


def test_a_private_match_is_joined_by_its_link(people: People) -> None:
    ada, ben, cleo = people.known("Ada"), people.person("Ben"), people.person("Cleo")
    match = ada.create("Ape Town", 2, options=lambda page: page.get_by_label("Private").check())
    link = ada.page.get_by_label("This match is private").input_value()
    assert "?code=" in link
    cleo.visit(f"match/{match}")
    expect(cleo.page.get_by_role("heading", name="No match here")).to_be_visible()
    cleo.join("a" * 26, "?code=abcdefghij")
    cleo.give_name()
    expect(cleo.page.get_by_role("heading", name="No match here")).to_be_visible()
    ben.page.goto(link)
    ben.page.get_by_role("button", name="Take a seat").click()
    ben.give_name()
    for player in (ada, ben):
        expect(player.page.locator(".picture svg")).to_be_visible()
        expect(player.page.locator("#seats")).to_be_visible()
        expect(player.page.locator("#waiting")).to_have_count(0)


def test_the_page_cannot_make_markup_or_code_of_a_string(client_page: Page, served: Served) -> None:
    client_page.evaluate("(address) => import(address)", f"{served.url}/web/{REVISION}/picture.js")
    for attempt in (
        "document.body.innerHTML = '<b>'",
        "document.createElement('script').text = '1'",
        "new DOMParser().parseFromString('<b>', 'text/html')",
        "trustedTypes.createPolicy('other', {})",
        "trustedTypes.createPolicy('picture', {})",
    ):
        with pytest.raises(Error, match=r"TypeError|Trusted"):
            client_page.evaluate(attempt)


def test_a_stream_that_ends_again_and_again_is_continued_with_growing_pauses(people: People) -> None:
    match = people.post("/v1/matches", {"game": "ape_town", "seats": 2}, people.token("Ada"))
    place = {"version": match["version"], "head": match["head"]}
    hello = {"type": "hello", "now": match["created_at"], "heartbeat_ms": 5000, **place}
    end = {"type": "end", "reason": "restart", **place}
    at: list[float] = []

    def restart(route: Route) -> None:
        at.append(time.monotonic())
        route.fulfill(content_type="application/x-ndjson", body=json.dumps(hello) + "\n" + json.dumps(end) + "\n")

    wanda = people.person("Wanda")
    wanda.page.route(re.compile("/events"), restart)
    wanda.visit(f"match/{match['id']}")
    while len(at) < ENDS:
        with wanda.page.expect_request(re.compile("/events")):
            pass
    assert at[3] - at[1] > LEAST_PAUSES_S


def test_no_text_of_an_address_leads_a_request_elsewhere_or_becomes_a_heading(people: People) -> None:
    wanda = people.person("Wanda")
    asked: list[str] = []
    wanda.page.on("request", lambda request: asked.append(request.url.removeprefix(people.url)))
    wanda.page.route("**/leaderboard.js", lambda route: route.abort(), times=1)  # it is loaded once more
    lobby = "Board games, one honest referee"
    for place, heading in (
        ("match/..%2Fme", lobby),
        ("leaderboard/buy-now", "Leaderboard"),
        ("player/..", lobby),
        ("match/", lobby),
        ("replay", lobby),
        ("leaderboard/Buy%20now", lobby),
        ("new?game=..%2Fme", "New match"),
    ):
        wanda.visit(place)
        expect(wanda.page.locator("h1")).to_have_text(heading)
    expect(wanda.field("Seats")).to_be_visible()
    known = r"/v1/(bots\?limit=200|games(/\w+|/buy-now/leaderboard\?limit=50)?|matches\?.*)"
    assert [path for path in asked if path.startswith("/v1/") and not re.fullmatch(known, path)] == []


def test_a_hidden_tab_draws_nothing_and_closes_its_stream_and_goes_on_when_it_is_looked_at(people: People) -> None:
    ada = people.newcomer("Ada")
    people.sign_in(ada)
    ada.page.clock.install()
    match = people.new_match(ada.token, bots=["greedy"])
    ada.visit(f"match/{match}")
    expect(ada.page.locator(OPEN).first).to_be_visible()
    before = people.get(f"/v1/matches/{match}", ada.token)["version"]
    _look_away(ada.page, hidden=True)
    drawn: list[str] = []
    ada.page.on("request", lambda request: drawn.append(request.url) if "/board.svg" in request.url else None)
    _act(people, match, ada.token, people.get(f"/v1/matches/{match}/legal-actions", ada.token)["actions"][0])
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
    assert drawn == []  # nobody looks
    ada.page.clock.fast_forward(25_000)
    _act(people, match, ada.token, people.get(f"/v1/matches/{match}/legal-actions", ada.token)["actions"][0])
    with ada.page.expect_response("**/board.svg*"):
        _look_away(ada.page, hidden=False)
    ada.page.wait_for_function(
        "before => Number([...document.querySelectorAll('.log .ply')].at(-1)?.textContent) >= before + 2", arg=before
    )


def _look_away(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_a_store_that_lost_what_was_seen_is_reported_and_the_match_is_read_anew(people: People) -> None:
    ada = people.against_a_bot("Ada")
    match = ada.match
    lost = re.compile(f"/{match}/events.*&head=")
    wrong = "0" * 16
    ada.page.route(
        lost, lambda route: route.continue_(url=re.sub("head=[0-9a-f]+", f"head={wrong}", route.request.url))
    )
    ada.context.set_offline(offline=True)
    ada.context.set_offline(offline=False)
    expect(ada.page.get_by_text("as you know it")).to_be_visible()
    ada.page.unroute(lost)
    ada.page.locator(OPEN).first.click()
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
