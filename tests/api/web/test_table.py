"""At a table in the web client: its clocks, a seat that is taken back, and what it shows to authors of clients."""

import json
import re
import shutil
import subprocess

import httpx
import pytest
from playwright.sync_api import expect

from service.match import events
from tests.api.web.person import People
from tests.length import LONG


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_of_a_click_repeats_it_and_shows_no_token(people: People) -> None:
    ada = people.against_a_bot("Ada")
    ada.act()
    expect(ada.page.locator(".asked")).to_have_text("Put the tile on a free field.")
    ada.page.locator("summary", has_text="For authors of clients").click()
    assert ada.token not in ada.page.content()
    entry = ada.page.locator(".exchange", has_text=re.compile(r"POST /v1/matches/\w+/actions")).first
    entry.locator("summary").click()
    command = entry.locator(".curl").inner_text()
    sent = subprocess.run(
        ["bash", "-c", command.replace("curl ", "curl -s ", 1)],
        env={"TOKEN": ada.token, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    receipt = json.loads(sent.stdout)
    assert receipt["event"]["data"]["action"]["type"] == "take_tile"
    shown = json.loads(entry.locator("pre").last.inner_text())
    assert (receipt["version"], receipt["head"]) == (shown["version"], shown["head"])


def test_a_seat_that_a_bot_took_over_is_taken_back(people: People) -> None:
    ada, ben = people.known("Ada"), people.token("Ben")
    clock = {"turn_seconds": events.SHORTEST_CLOCK, "on_timeout": "bot"}
    with httpx.Client(
        base_url=people.url, headers={"Authorization": f"Bearer {ben}"}, timeout=30, verify=False
    ) as client:
        match = client.post("/v1/matches", json={"game": "ape_town", "seats": 2, "clock": clock}).json()["id"]
        client.post(f"/v1/matches/{match}/seats", json={})
        ada.join(match)
        back = ada.page.get_by_role("button", name="Take the seat back")
        for _ in range(200):
            legal = client.get(f"/v1/matches/{match}/legal-actions").json()["actions"]
            if back.count() and legal:
                break  # Ben thinks, so the bot in Ada's seat has nothing to decide
            if legal:
                client.post(f"/v1/matches/{match}/actions", json={"action": legal[0]})
            ada.page.wait_for_timeout(250)
        back.click()
        expect(ada.page.locator(".seats .seat", has_text="Ada").locator(".tag", has_text="you")).to_be_visible()
        expect(back).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize(
    "wrong", ["2031-01-01T00:00:00Z", "2021-01-01T00:00:00Z"] if LONG else ["2031-01-01T00:00:00Z"]
)
def test_clocks_go_by_the_time_of_the_server(people: People, wrong: str) -> None:
    ada = people.newcomer("Ada")
    ada.page.clock.install(time=wrong)
    people.sign_in(ada)
    match = people.new_match(ada.token, bots=["greedy"], clock={"turn_seconds": 60})
    ada.visit(f"match/{match}")
    clock = ada.page.locator(".actions .clock")
    expect(clock).to_have_text(re.compile(r"^(1:00|0:[3-5]\d)$"))
    ada.page.clock.set_system_time("2020-01-01T00:00:00Z")  # the clock is set while the page is open
    next_shown = "shown => [document.querySelector('.actions .clock').textContent].find((text) => text !== shown)"
    found = ada.page.wait_for_function(next_shown, arg=clock.inner_text()).json_value()
    assert re.fullmatch(r"0:[3-5]\d", found)
