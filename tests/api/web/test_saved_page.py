"""The page that `moonstone view` writes, opened from a file: it shows every version as it was, and runs nothing of a match."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias
from xml.etree import ElementTree as ET

import msgspec
import pytest
from playwright.sync_api import ConsoleMessage, Dialog, Error, Page, Request, expect

from api.resources.web import REVISION
from service.audit.match_file import export
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.texts import LANGUAGES
from service.ops import simulate, view_page, viewed_match
from service.ops.viewed_match import Replay
from service.repository.ports import Ports
from service.views import pictures
from service.views.replay import moments
from tests.api.web.tabs import Tabs
from tests.length import LONG
from tests.openapi import tools
from tests.service.audit.match_files import File, toy
from tests.service.games.toy.game import TOY
from tests.serving import Served

SEED: Final = bytes(range(32))
HOSTILE: Final = """</script><script>document.title='ran'</script><img src=x onerror="document.title='ran'">{{x}}"""
SVG: Final = "{http://www.w3.org/2000/svg}"
LOOKS: Final = [(1400, "light"), (360, "dark"), (360, "light"), (768, "light"), (768, "dark"), (1400, "dark")]
"""Widths of the window, and colour schemes."""

Open: TypeAlias = Callable[..., Page]


class Tab:
    """A page opened from a file. It collects what a page must never do.

    `is_hostile`: Chromium may report that the policy blocked something. It reports this even for documents that are only
    parsed, in which nothing can run.
    """

    def __init__(self, page: Page, path: Path, *, is_hostile: bool) -> None:
        self.page = page
        self.faults: list[str] = []
        self._address = path.as_uri()
        self._is_hostile = is_hostile
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("dialog", self._on_dialog)
        page.on("request", self._on_request)

    def leave(self) -> None:
        """Do not collect what happens after the test."""
        self.page.remove_listener("console", self._on_console)
        self.page.remove_listener("pageerror", self._on_error)
        self.page.remove_listener("dialog", self._on_dialog)
        self.page.remove_listener("request", self._on_request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if not (self._is_hostile and message.text.endswith("The action has been blocked.")):
            self.faults.append(message.text)

    def _on_error(self, error: Error) -> None:
        self.faults.append(str(error))

    def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(self._address):
            self.faults.append(request.url)


@pytest.fixture
def open_page(tabs: Tabs, tmp_path: Path) -> Iterator[Open]:
    """Writes a page and opens it at a place such as `version=3`; afterwards checks that it did nothing else."""
    found: list[Tab] = []

    def opened(content: bytes, place: str = "", *, is_hostile: bool = False, **options: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_bytes(content)
        page = tabs.borrow(**options).pages[0]
        found.append(Tab(page, path, is_hostile=is_hostile))
        page.goto(f"{path.as_uri()}#{place}")
        page.wait_for_selector(".picture svg")
        return page

    yield opened
    for tab in found:
        title = tab.page.title()
        tab.leave()
        tab.page.evaluate("localStorage.clear()")  # the chosen language, which all files share
        tabs.give_back(tab.page.context)
        assert tab.faults == []
        assert title.startswith("Moonstone: ")


def played(game: AnyGame, seats: int) -> tuple[Ports, str]:
    bots = ["random", *["high" if game is TOY else "greedy"] * (seats - 1)]
    ports, match = simulate.play(game, bots, {}, SEED)
    return ports, match.id


def replay_of(lines: Sequence[bytes], games: Mapping[str, AnyGame]) -> Replay:
    viewed = viewed_match.read(lines, games)
    return viewed_match.replay(viewed, viewed_match.views(viewed))


@pytest.fixture(scope="module")
def toy_page() -> bytes:
    return view_page.page(replay_of(toy(), {"toy": TOY}))


@pytest.mark.long
@pytest.mark.parametrize(
    "game", [TOY, *GAMES.values()] if LONG else [GAMES["monsters_on_the_moon"]], ids=lambda game: game.info.id
)
def test_every_picture_of_the_table_is_that_of_the_service(client_page: Page, served: Served, game: AnyGame) -> None:
    """The modules of the page write each picture again; it differs from `board.svg` only in the drawings that it may use.

    In the short form one version is compared in English and the next one in German.
    """
    ports, match_id = played(game, 3)
    newest = ports.history.newest(match_id)[0]
    replay = replay_of([*export(ports, newest)], {game.info.id: game})
    compared = [
        (version, language)
        for version in range(1, newest.head.version + 1)
        for language in (LANGUAGES if LONG else [LANGUAGES[version % len(LANGUAGES)]])
    ]
    last, found = client_page.evaluate(
        """async ([folder, saved, compared]) => {
          const source = (await import(`${folder}/saved-source.js`)).sourceOf(JSON.parse(saved));
          const all = [];
          for (const [version, language] of compared) {
            for (const viewer of source.viewers) all.push(await source.picture(version, viewer, "then", language));
            all.push(await source.picture(version, null, "now", language));
          }
          return [source.last, all];
        }""",
        [f"{served.url}/web/{REVISION}", msgspec.json.encode(replay).decode(), compared],
    )
    assert last == newest.head.version
    everyone = tuple(range(3))
    expected = [
        pictures.board(ports.history, ports.history.at(match_id, version), seen_by, language, highlight=True)
        for version, language in compared
        for seen_by in (None, 0, 1, 2, everyone)
    ]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert _without_art(one) == _without_art(other)
        used = set(re.findall(r'href="#([^"]+)"', one))
        assert used <= set(re.findall(r'id="([^"]+)"', one)), "a drawing is missing"


def _without_art(picture: str) -> str:
    return re.sub(r"<defs>.*?</defs>", "", picture, flags=re.DOTALL)


def test_a_person_with_a_keyboard_reads_every_version(open_page: Open) -> None:
    ports, match_id = played(TOY, 2)
    newest = ports.history.newest(match_id)[0]
    lines = [*export(ports, newest)]
    page = open_page(view_page.page(replay_of(lines, {"toy": TOY})), "version=1&seat=1")
    for moment in moments(ports.history, newest, 1, "en", 0, newest.head.version):
        expect(page.locator(".replay-text")).to_have_text(moment.text)
        expect(page.get_by_text(f"Version {moment.version} of {newest.head.version}")).to_be_visible()
        drawn = pictures.board(ports.history, ports.history.at(match_id, moment.version), 1, "en", highlight=False)
        description = ET.fromstring(drawn).findtext(f"{SVG}desc")
        expect(page.locator(".picture desc")).to_have_text(str(description))
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_text(f"Version {newest.head.version - 10} of")).to_be_visible()
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("Version 1 of")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Version 2 of")).to_be_visible()
    page.get_by_role("button", name="Last version").press("Enter")
    expect(page.locator(".replay-events [aria-current]")).to_contain_text("The match's seed is revealed.")
    page.locator(".replay-events ol").scroll_into_view_if_needed()
    expect(page.locator(".replay-events [aria-current]")).to_be_in_viewport()


def test_each_view_each_language_and_each_address_shows_what_it_says(open_page: Open, toy_page: bytes) -> None:
    page = open_page(toy_page, "version=12&view=now")
    expect(page.locator(".picture [id^=view-]:not([id*='-seat-'])").first).to_be_attached()
    assert page.locator("#view-0, #view-1, #view-2").count() == 3
    chooser = page.get_by_label("Seen by")
    chooser.select_option("2")
    expect(page.locator(".picture")).to_contain_text("You · seat 2")
    page.wait_for_function("() => location.hash === '#version=12&seat=2'")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator(".picture")).to_contain_text("Du · Platz 2")
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("link", name="Link auf diese Version").click()
    assert page.evaluate("location.hash") == "#version=12&seat=2"
    page.locator(".replay-events a").nth(4).click()
    expect(page.get_by_text("Version 5 von")).to_be_visible()
    for place in ("version=999999999999", "version=-1&seat=99&view=later", "version=1e3", "%%%", "seat=0&seat=1"):
        page.evaluate("(place) => { location.hash = place }", place)
        expect(page.locator(".picture svg")).to_be_visible()


def test_the_match_plays_by_itself_and_can_be_paused(open_page: Open, toy_page: bytes) -> None:
    page = open_page(toy_page, "version=3")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("Version 5 of")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_marks_can_be_switched_off(open_page: Open, toy_page: bytes) -> None:
    version = 8
    page = open_page(toy_page, f"version={version}")
    marked = page.locator(".picture .ms-changed").first
    while marked.count() == 0:
        version += 1
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text(f"Version {version} of")).to_be_visible()
    colour = "(one) => getComputedStyle(one).color"
    assert marked.evaluate(colour) != "rgba(0, 0, 0, 0)"
    page.get_by_label("Mark what changed").uncheck()
    assert marked.evaluate(colour) == "rgba(0, 0, 0, 0)"


def test_a_click_on_the_curve_goes_to_its_version(open_page: Open, toy_page: bytes) -> None:
    page = open_page(toy_page, "version=1")
    box = page.locator(".curve > svg").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + 20)
    last = len(File(toy()).events) - 1
    expect(page.get_by_text(f"Version {last} of {last}")).to_be_visible()


def test_a_fault_is_shown_with_its_version_and_leads_to_the_one_before(open_page: Open) -> None:
    forged = File(toy())
    forged.events[7]["by"] = "player:nobody"
    page = open_page(view_page.page(replay_of(forged.sealed(), {"toy": TOY})), "version=2")
    report = page.locator(".audit")
    expect(report).to_contain_text("Version 7 fails the check “actions”")
    expect(report).to_contain_text("What comes after it proves nothing and is left out.")
    report.get_by_role("button").click()
    expect(page.get_by_text("Version 6 of 6")).to_be_visible()


def test_hostile_strings_in_every_place_run_nothing(open_page: Open) -> None:
    """Every string of the data is hostile, which no verified file could achieve, and so is a part of the pictures."""
    content = view_page.page(_hostile(replay_of(toy(), {"toy": TOY})))
    assert b"onerror" not in content
    page = open_page(content, "version=4", is_hostile=True)
    page.wait_for_selector(".replay-events li")
    expect(page.locator(".brand")).to_have_text(HOSTILE)
    expect(page.locator(".replay-text")).to_have_text(HOSTILE)
    assert page.locator("img, .picture script, .picture image, .picture a").count() == 0
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.get_by_label("Seen by").select_option("now")
    expect(page.locator("#view-0")).to_be_attached()


def _hostile(replay: Replay) -> Replay:
    """The replay with HOSTILE in place of every free text, and with markup that no picture has in every picture."""
    table = replay.table
    bad = (
        "<script>document.title='ran'</script>",
        '<image href="https://elsewhere.example/x.png" onerror="document.title=\'ran\'"/>',
        '<g onload="document.title=\'ran\'" onclick="document.title=\'ran\'" style="background:url(https://elsewhere.example)"/>',
        "<a href=\"javascript:document.title='ran'\"/>",
        HOSTILE.replace("<", "&lt;").replace('"', "&quot;"),
    )
    nodes = (*table.nodes, *bad)
    extra = tuple(range(len(table.nodes), len(nodes)))
    return msgspec.structs.replace(
        replay,
        title=HOSTILE,
        match=msgspec.structs.replace(
            replay.match,
            creator=HOSTILE,
            game=HOSTILE,
            options={HOSTILE: HOSTILE},
            seats=tuple(msgspec.structs.replace(seat, name=HOSTILE, player=HOSTILE) for seat in replay.match.seats),
        ),
        audit=msgspec.structs.replace(
            replay.audit,
            checks=tuple(
                msgspec.structs.replace(check, result="failed", version=2, detail=HOSTILE)
                for check in replay.audit.checks
            ),
        ),
        timelines={
            name: [
                msgspec.structs.replace(moment, text=HOSTILE, by=HOSTILE, type=HOSTILE, clauses=(HOSTILE,))
                for moment in view
            ]
            for name, view in replay.timelines.items()
        },
        table=msgspec.structs.replace(
            table,
            nodes=nodes,
            pictures={
                name: [msgspec.structs.replace(one, title="", description="", body=(*one.body, *extra)) for one in view]
                for name, view in table.pictures.items()
            },
        ),
    )


def test_a_hostile_file_that_passes_every_check_runs_nothing(open_page: Open) -> None:
    """The ids of people are the only free strings of a file without a fault."""
    forged = File(toy())
    content = json.dumps(forged.events).replace("player:anna", "player:" + json.dumps(HOSTILE)[1:-1])
    forged.events = json.loads(content.replace('"player": "anna"', '"player": ' + json.dumps(HOSTILE)))
    page = open_page(view_page.page(replay_of(forged.sealed(), {"toy": TOY})), "version=4")
    expect(page.locator(".replay-text")).to_be_visible()
    assert page.locator("img").count() == 0


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), LOOKS if LONG else LOOKS[:1])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    open_page: Open, toy_page: bytes, width: int, scheme: str
) -> None:
    page = open_page(toy_page, "version=9", color_scheme=scheme, viewport={"width": width, "height": 900})
    page.wait_for_selector(".audit")
    page.evaluate((tools.installed() / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })"
    )
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
