"""Choosing on the board: clicks narrow the sentences until one is left, also with patterns and counts."""

import re
import statistics
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Request, expect

from api.resources.web import REVISION
from tests.api.web.person import People
from tests.length import LONG
from tests.serving import Served

OPEN: Final = ".sentence[aria-disabled=false]"
ECHO_MS: Final = 100
"""From a click to the words of what happened, if nothing else runs on the machine."""
LOADED_ECHO_MS: Final = 1000
FIRST_PICTURE_MS: Final = 1000


def test_a_click_on_the_board_narrows_to_one_sentence_and_a_second_one_confirms(people: People) -> None:
    page = people.against_a_bot("Ada").page
    sentence = page.locator(OPEN).first.inner_text()
    segment = re.findall(r"\d+", sentence)[0]
    page.locator(f"#segment-{segment}").click()
    expect(page.locator(".confirm strong")).to_have_text(sentence)
    page.locator(f"#segment-{segment}").click()
    expect(page.locator(".asked")).to_have_text("Put the tile on a free field.")


def test_a_pattern_is_filled_on_the_board_before_it_is_confirmed_and_one_click_too_many_sends_nothing(
    people: People,
) -> None:
    page = people.against_a_bot("Ada", "four_monkeys").page
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/actions"):
            sent.append(request.url)

    page.on("request", note)
    cards = page.locator(".picture .fits[data-cards]")
    expect(cards).to_have_count(5)
    cards.nth(0).click()
    cards.nth(1).click()
    expect(page.locator(".chips .chip")).to_have_count(2)
    page.locator(".picture .fits[data-combo]").first.click()
    expect(page.locator(".confirm legend")).to_have_text("Choose 1 to 5. Chosen: 2.")
    for chosen in (1, 2, 1, 2):
        page.locator(".picture .fits[data-cards]").first.click()
        expect(page.locator(".confirm .chip[aria-pressed=true]")).to_have_count(chosen)
    page.remove_listener("request", note)
    assert sent == []
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".log")).to_contain_text("cards under it: 2")
    expect(page.locator(".confirm")).to_have_count(0)


def test_a_newcomer_reads_where_to_choose_and_how_long_and_a_sentence_lights_up_what_it_touches(people: People) -> None:
    page = people.against_a_bot("Ada").page
    expect(page.locator(".actions")).to_contain_text("Choose on the table, or here:")
    expect(page.locator(".actions .clock")).to_have_text("6 days 23 h")
    expect(page.locator(".picture .lit")).to_have_count(0)
    page.locator(OPEN).nth(1).focus()
    segment = re.findall(r"\d+", page.locator(OPEN).nth(1).inner_text())[0]
    expect(page.locator(".picture .lit")).to_have_attribute("id", f"segment-{segment}")


def test_of_a_picked_row_and_column_only_their_place_is_lit_and_the_chips_name_them(people: People) -> None:
    page = people.against_a_bot("Ada", "monsters_on_the_moon").page
    page.locator(OPEN).first.click()
    page.locator(".picture [data-y] > .fits[data-x]").first.click()
    expect(page.locator(".chips .chip")).to_have_text([re.compile(r"^[xy] -?\d+×$")] * 2)
    expect(page.locator(".picture .lit")).to_have_count(1)
    expect(page.locator(".picture .lit")).to_have_attribute("data-x", re.compile(r"^-?\d+$"))


def test_the_keyboard_stays_at_the_actions_when_its_sentence_is_gone(people: People) -> None:
    page = people.against_a_bot("Ada").page
    page.locator(OPEN).first.focus()
    for step in ("Put the tile on a free field.", "Take a tile of the display."):
        page.keyboard.press("Enter")
        expect(page.locator(".asked")).to_have_text(step)
        expect(page.locator("#your-move")).to_be_focused()
        page.keyboard.press("Tab")
        while not page.evaluate("document.activeElement.matches('.sentence[aria-disabled=false]')"):
            page.keyboard.press("Tab")


GRAB: Final = {"type": "grab", "stack": 0, "combo": "K1", "cards": {"any_of": ["a", "b", "c"], "min": 1, "max": 2}}
OTHER: Final = {"type": "grab", "stack": 1, "combo": "K2", "cards": {"any_of": ["a", "b", "c"], "min": 1, "max": 2}}
BIDS: Final = [{"type": "pass"}, *({"type": "bid", "coins": {"red": count}} for count in (1, 2, 3))]
PLACES: Final = [{"type": "place", "card": card, "x": x, "y": 0} for card in ("A", "B") for x in (1, 2)]

CASES: Final = {
    "nothing picked fits everything": ([GRAB, OTHER], [], [GRAB, OTHER]),
    "an element narrows": ([GRAB, OTHER], [{"stack": "1", "combo": "K2"}], [OTHER]),
    "attributes that no action has are ignored": ([GRAB, OTHER], [{"area": "0", "stack": "1"}], [OTHER]),
    "items of a pattern keep both": ([GRAB, OTHER], [{"cards": "a"}, {"cards": "b"}], [GRAB, OTHER]),
    "too many items are not picked": ([GRAB], [{"cards": "a"}, {"cards": "b"}, {"cards": "c"}], [GRAB]),
    "an item picked twice is taken back": ([GRAB], [{"cards": "a"}, {"cards": "a"}], [GRAB]),
    "the newest pick wins": ([GRAB, OTHER], [{"stack": "0"}, {"stack": "1"}], [OTHER]),
    "older picks stay if they can": (PLACES, [{"card": "A"}, {"x": "1", "y": "0"}, {"x": "2", "y": "0"}], [PLACES[1]]),
    "a count rises with each pick": (BIDS, [{"coins": "red"}, {"coins": "red"}], BIDS[2:]),
    "an element of no action changes nothing": ([GRAB], [{"stack": "0"}, {"to": "3"}], [GRAB]),
}


def test_picks_narrow_a_legal_list(client_page: Page, served: Served) -> None:
    found: list[Any] = client_page.evaluate(
        """async ([address, cases]) => {
          const { fits, pick } = await import(address);
          return cases.map(([actions, clicks]) => {
            const picks = clicks.reduce((known, data) => pick(actions, known, data), []);
            return actions.filter((action) => fits(action, picks));
          });
        }""",
        [f"{served.url}/web/{REVISION}/choices.js", [case[:2] for case in CASES.values()]],
    )
    assert dict(zip(CASES, found, strict=True)) == {name: left for name, (_, _, left) in CASES.items()}


@pytest.mark.long
def test_an_action_in_real_time_is_echoed_at_once(people: People) -> None:
    page = people.against_a_bot("Ada", "four_monkeys").page
    spent = []
    for _ in range(8 if LONG else 3):
        expect(page.locator(OPEN).first).to_be_visible()
        page.locator(OPEN).first.click()
        page.locator(".confirm .chip").first.click()
        spent.append(
            page.evaluate("""() => new Promise((resolve) => {
              const began = performance.now();
              const echo = new MutationObserver(() => resolve(performance.now() - began));
              echo.observe(document.querySelector(".log ol"), {childList: true});
              document.querySelector(".confirm .primary").click();
            })""")
        )
    assert statistics.median(spent) < (ECHO_MS if LONG else LOADED_ECHO_MS), spent


def test_the_first_picture_is_there_within_a_second(people: People) -> None:
    ben = people.person("Ben")
    match = people.new_match(people.token("Ada"), bots=["random"])
    ben.page.goto(f"{ben.url}/#/match/{match}")
    ben.page.wait_for_selector(".picture svg")
    spent = ben.page.evaluate("performance.now()")
    assert spent < FIRST_PICTURE_MS * (1 if LONG else 10), spent


def test_work_that_was_asked_for_while_it_ran_runs_once_more_also_if_it_failed(
    client_page: Page, served: Served
) -> None:
    found = client_page.evaluate(
        """async (address) => {
          const { coalesced } = await import(address);
          let runs = 0;
          const ask = coalesced(async () => {
            runs += 1;
            await 0;
            if (runs === 1) throw new Error("the first time");
          });
          await Promise.all([ask(), ask(), ask()]);
          return runs;
        }""",
        f"{served.url}/web/{REVISION}/coalesced.js",
    )
    assert found == 2
