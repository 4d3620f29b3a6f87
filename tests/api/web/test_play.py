"""Whole matches in browsers: from the sign-up of people to the scored end, with a bot.

In the short form the second person plays with a program of its own. In the long form everybody has a browser, and three people
play the games in real time.
"""

import json
import re
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.games.registry import GAMES
from tests.api.web.person import People, Person
from tests.length import LONG

LONGEST_S: Final = 420
OPEN: Final = ".sentence[aria-disabled=false]"
ROUNDS: Final = 6
"""How often each person of the match in real time acts."""
SHOWS: Final = "version => Number([...document.querySelectorAll('.log .ply')].at(-1)?.textContent) >= version"
ECHO_MS: Final = 1000
"""From a click to its echo, when eight browsers that draw each picture share the machine with the service."""
ECHO: Final = """async () => {
  const next = () => new Promise((resolve) => setTimeout(resolve, 20));
  const sentence = document.querySelector(".sentence[aria-disabled=false]");
  if (sentence === null) return null;
  sentence.click();
  await next();
  document.querySelector(".confirm .chip")?.click();
  await next();
  const confirm = document.querySelector(".confirm .primary[aria-disabled=false]");
  if (confirm === null) return null;
  const began = performance.now();
  const echo = new Promise((resolve) => {
    new MutationObserver(() => resolve(performance.now() - began)).observe(document.querySelector(".log ol"), {childList: true});
    setTimeout(() => resolve(null), 5000);
  });
  confirm.click();
  return await echo;
}"""


def _fast_rounds(page: Page) -> None:
    """The shortest rounds that the game's options allow; games without such options have no such fields."""
    for label, least in (("round", "30"), ("countdown", "0")):
        field = page.get_by_role("spinbutton", name=re.compile(label))
        if field.count():
            field.first.fill(least)
            field.first.blur()


def _title(game: str) -> str:
    return GAMES[game].info.title


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES if LONG else ["monsters_on_the_moon"])
def test_people_and_a_bot_play_a_match_to_its_scored_end_and_a_watcher_sees_nothing_hidden(
    people: People, game: str
) -> None:
    count = 3 if LONG and GAMES[game].info.simultaneous else 2
    players = [people.signed_up(name) for name in ("Ada", "Ben", "Cleo")[: count if LONG else 1]]
    watcher = people.person("Wanda")
    match = players[0].create(_title(game), count + 1, bots=1, options=_fast_rounds)
    for player in players[1:]:
        player.join(match)
    programs = [] if LONG else [people.token("Ben")]
    for token in programs:
        people.post(f"/v1/matches/{match}/seats", {}, token)
    watcher.visit(f"match/{match}")
    seen = _play(people, match, players, programs, watcher)

    found = people.get(f"/v1/matches/{match}")
    assert found["status"] == "finished"
    for player in (*players, watcher):
        expect(player.page.locator("#ending")).to_be_visible()
        for score in found["outcome"]["scores"]:
            expect(player.page.locator(".result .score", has_text=re.compile(f"^{score} ")).first).to_be_visible()
    assert len(seen) > 5
    _assert_nothing_hidden(people, match, seen)


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="only in the long form")
def test_eight_browsers_play_one_match_in_real_time(people: People) -> None:
    """Everybody sees every event once, in order, and nobody waits long for the echo of an action."""
    count = 8
    players = [people.person(f"Person {number}") for number in range(count)]
    for player in players:
        player.visit()
        player.sign_up()
    match = players[0].create(_title("four_monkeys"), count, options=_fast_rounds)
    for player in players[1:]:
        player.join(match)
    for player in players:
        expect(player.page.locator(OPEN).first).to_be_visible(timeout=60_000)
    spent = [echoed for _ in range(ROUNDS) for player in players if (echoed := _echo_ms(player.page)) is not None]
    assert len(spent) >= count
    assert statistics.median(spent) < ECHO_MS, sorted(spent)
    newest = max(player.look()["version"] for player in players)
    for player in players:
        player.page.wait_for_function(SHOWS, arg=newest)
        versions = [int(text) for text in player.page.locator(".log .ply").all_inner_texts()]
        assert versions == list(range(versions[0], versions[-1] + 1))


def _echo_ms(page: Page) -> float | None:
    """Milliseconds from a click on an action to its line in what happened; None if there is nothing to do now."""
    spent: float | None = page.evaluate(ECHO)
    return spent


def _play(people: People, match: str, players: list[Person], programs: list[str], watcher: Person) -> dict[int, str]:
    """Play until everybody sees the end, in browsers and with the tokens of programs.

    Returns what the watcher's page contained, by the newest version that it may show.
    """
    seen: dict[int, str] = {}

    def newest() -> int:
        version: int = people.get(f"/v1/matches/{match}")["version"]
        return version

    deadline = time.monotonic() + LONGEST_S
    while True:
        looks = [player.look() for player in players]
        if all(look["over"] for look in looks) and watcher.look()["over"]:
            return seen
        assert time.monotonic() < deadline, looks
        for player, look in zip(players, looks, strict=True):
            player.act(look)
        for token in programs:
            _act(people, match, token)
        if newest() not in seen:
            content = watcher.page.locator("main").inner_html()
            seen.setdefault(newest(), content)


def _act(people: People, match: str, token: str) -> None:
    """Take the first legal action, if there is one."""
    for action in people.get(f"/v1/matches/{match}/legal-actions", token)["actions"][:1]:
        people.post(f"/v1/matches/{match}/actions", {"action": action}, token)


def _assert_nothing_hidden(people: People, match: str, seen: dict[int, str]) -> None:
    """Nothing that only some seat knew at a version is in what a watcher had on the page at that version."""
    lines = httpx.get(f"{people.url}/v1/matches/{match}/export", timeout=30).raise_for_status().text.splitlines()
    assert len(lines) > len(seen)
    public = _public_events(people, match)
    compared = 0
    for version, content in seen.items():
        now = people.get(f"/v1/matches/{match}?version={version}&view=now")
        if now.get("observation") is None:
            continue
        shown = json.dumps(now["observation"]) + "".join(event for number, event in public if number <= version)
        hidden = {value for value in _strings(now["observations"]) if f'"{value}"' not in shown}
        compared += len(hidden)
        for value in hidden:
            for form in {value, value.replace(":", "-")}:
                found = re.search(rf"(?<![A-Za-z0-9]){re.escape(form)}(?![\w-])", content)
                assert not found, (version, value, content[found.start() - 200 : found.end() + 20])
    games_with_hidden_ids = {"monkeys_on_the_moon", "four_monkeys", "monsters_on_the_moon"}
    assert compared > 0 or now["game"] not in games_with_hidden_ids


def _public_events(people: People, match: str) -> list[tuple[int, str]]:
    """The events of a match as spectators got them while it ran: what was redacted then is not open before its version."""
    found: list[tuple[int, str]] = []
    path = f"/v1/matches/{match}/events?limit=500"
    while path:
        page = people.get(path)
        found += [(event["version"], json.dumps(event["data"])) for event in page["events"]]
        path = page["next"]
    return found


def _strings(value: Any) -> Iterator[str]:
    """The ids in a JSON value: its strings with a digit, which no word of a rule has."""
    match value:
        case str() if re.search(r"\d", value):
            yield value
        case list():
            for item in value:
                yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)
