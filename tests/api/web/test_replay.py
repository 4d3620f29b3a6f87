"""The replay on the service: every version as each viewer may see it, and what the audit checked."""

import re
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias
from xml.etree import ElementTree as ET

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.games.registry import GAMES
from tests.api.web.person import People
from tests.length import LONG
from tests.openapi import tools
from tests.serving import Served

SVG: Final = "{http://www.w3.org/2000/svg}"
TIMEOUT_S: Final = 60
MatchOfBots: TypeAlias = Callable[[str], dict[str, Any]]


@pytest.fixture
def api(served: Served) -> Any:
    with httpx.Client(base_url=f"{served.url}/v1", timeout=TIMEOUT_S) as client:
        yield client


@pytest.fixture
def match_of_bots(served: Served, api: httpx.Client) -> MatchOfBots:
    """Finds a match of a game that bots have played to its end: the same one for all tests."""

    def found(game: str) -> dict[str, Any]:
        if (served.url, game) not in _played:
            _played[served.url, game] = _play(api, game)
        return _played[served.url, game]

    return found


_played: Final[dict[tuple[str, str], dict[str, Any]]] = {}
"""The matches that bots have played, by service and game."""


def _play(api: httpx.Client, game: str) -> dict[str, Any]:
    token = api.post("/players", json={"name": "Host"}).json()["token"]
    bots = ["greedy"] * min(seats for seats in GAMES[game].info.seats if seats > 1)
    body: dict[str, Any] = {"game": game, "seats": len(bots), "bots": bots}
    if GAMES[game].info.keeps_time:
        body |= {"clock": {"bot_pace_ms": 20}, "options": {"round_seconds": 30, "countdown_seconds": 0}}
    match = api.post("/matches", json=body, headers={"Authorization": f"Bearer {token}"}).json()
    events = {"Accept": "text/event-stream"}
    with api.stream("GET", f"/matches/{match['id']}/events", headers=events) as stream:
        for _ in stream.iter_lines():
            pass  # the stream ends with the match
    found: dict[str, Any] = api.get(f"/matches/{match['id']}").json()
    assert found["server_seed"] is not None
    return found


def timeline(api: httpx.Client, match: str, viewer: int | None) -> list[dict[str, Any]]:
    chosen = {} if viewer is None else {"viewer": viewer}
    found: list[dict[str, Any]] = api.get(f"/matches/{match}/timeline", params={"limit": 500, **chosen}).json()[
        "moments"
    ]
    return found


def description(picture: str) -> str:
    return ET.fromstring(picture).findtext(f"{SVG}desc") or ""


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES if LONG else ["monsters_on_the_moon"])
def test_every_version_is_shown_as_the_service_shows_it_to_a_viewer(
    people: People, api: httpx.Client, match_of_bots: MatchOfBots, game: str
) -> None:
    match = match_of_bots(game)
    person = people.person("Ada")
    page = person.page
    person.visit(f"replay/{match['id']}?version=1&seat=1")
    expect(page.locator(".audit li.passed")).to_have_count(5)
    for moment in timeline(api, match["id"], 1)[: None if LONG else 8]:
        expect(page.locator(".replay-text")).to_have_text(moment["text"])
        params = {"version": moment["version"], "viewer": 1, "language": "en"}
        picture = api.get(f"/matches/{match['id']}/board.svg", params=params).text
        expect(page.locator(".picture desc")).to_have_text(description(picture))
        page.keyboard.press("ArrowRight")
    page.get_by_label("Seen by").select_option("now")
    expect(page.locator("#view-0")).to_be_attached()
    page.wait_for_function("() => location.hash.endsWith('view=now')")
    version = page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('version')")
    page.reload()
    expect(page.locator("#view-1")).to_be_attached()
    page.get_by_label("Seen by").select_option("spectator")
    expect(page.locator(".picture desc")).to_have_text(
        description(api.get(f"/matches/{match['id']}/board.svg", params={"version": version, "language": "en"}).text)
    )


def test_a_running_match_is_replayed_as_this_person_may_see_it(people: People, api: httpx.Client) -> None:
    token = api.post("/players", json={"name": "Host"}).json()["token"]
    own = {"Authorization": f"Bearer {token}"}
    match = api.post("/matches", json={"game": "ape_town", "seats": 2, "bots": ["random"]}, headers=own).json()["id"]
    api.post(f"/matches/{match}/seats", json={}, headers=own)
    deadline = time.monotonic() + TIMEOUT_S
    while not api.get(f"/matches/{match}/legal-actions", headers=own).json()["actions"]:
        assert time.monotonic() < deadline
    person = people.person("Ada")
    page = person.page
    page.route(re.compile(r"/v1/matches/\w+$"), lambda route: route.abort(), times=1)  # it is read once more
    person.visit(f"replay/{match}?seat=1&view=now")
    expect(page.locator(".picture desc")).to_be_attached()
    assert page.get_by_label("Seen by").locator("option").all_text_contents() == ["A spectator"]
    expect(page.locator(".audit li.passed")).to_have_count(1)
    expect(page.locator(".audit li.not_yet")).to_have_count(4)


def test_a_person_who_drags_the_scrubber_requests_few_pictures(
    people: People, api: httpx.Client, match_of_bots: MatchOfBots
) -> None:
    match = match_of_bots("monsters_on_the_moon")
    person = people.person("Ada")
    person.visit(f"replay/{match['id']}?version=1")
    page = person.page
    page.wait_for_selector(".picture svg")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.get_by_role("slider").evaluate(
        """async (slider) => {
          while (Number(slider.value) < Number(slider.max)) {
            slider.value = Number(slider.value) + 1;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
        }"""
    )
    picture = api.get(f"/matches/{match['id']}/board.svg", params={"language": "en"}).text
    expect(page.locator(".picture desc")).to_have_text(description(picture))
    page.wait_for_function("(version) => location.hash.includes(`version=${version}&`)", arg=match["version"])
    pictures = [url for url in requested if "/board.svg?" in url]
    assert 1 <= len(pictures) < match["version"] / 2


def test_a_match_that_is_not_there_or_damaged_is_reported(people: People) -> None:
    page = (person := people.person("Ada")).page
    person.visit("replay/" + "a" * 26)
    expect(page.get_by_role("heading", level=1)).to_have_text("No match here")
    expect(page.locator(".problem")).to_contain_text("No match has this id")
    detail = "The stored event of version 5 is damaged."
    fault = {"status": 503, "code": "match-corrupt", "title": "", "detail": detail}
    page.route(
        re.compile(r"/v1/matches/\w+$"),
        lambda route: route.fulfill(status=503, json=fault, headers={"Retry-After": "3600"}),
    )
    for place, heading in (("match/", "This match"), ("replay/", "Replay")):
        person.visit(place + "b" * 26)
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(page.locator(".problem")).to_have_text(detail)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"] if LONG else ["dark"])
def test_axe_finds_nothing_in_a_replay(people: People, match_of_bots: MatchOfBots, scheme: str) -> None:
    match = match_of_bots("monsters_on_the_moon")
    person = people.person("Ada", color_scheme=scheme, viewport={"width": 360, "height": 800})
    person.visit(f"replay/{match['id']}?version=20")
    page = person.page
    page.wait_for_selector(".picture svg")
    page.wait_for_selector(".audit")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def violations(page: Page) -> list[Any]:
    page.evaluate((tools.installed() / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    wanted = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("(runOnly) => axe.run(document, { runOnly })", wanted)
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]
