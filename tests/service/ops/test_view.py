"""`moonstone view` without a browser: what it writes and prints, and what it refuses."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from service.audit.match_file import export
from service.games.registry import GAMES
from service.match.texts import LANGUAGES
from service.ops import local_commands, simulate, view_command
from service.ops.cli import main
from service.repository.ports import Ports
from service.views import pictures
from service.views.replay import moments
from tests.length import LONG
from tests.service.audit import match_files
from tests.service.audit.match_files import File, Lines, toy
from tests.service.audit.test_every_leaf import one_of_each_kind, other_values, some_of
from tests.service.games.toy.game import TOY
from tests.serving import ROOT

SEED: Final = bytes(range(32))
LARGEST: Final = 3_000_000
"""Bytes of a page with 200 events of four seats."""


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The toy game is among the games, and files without a given name are written to a folder of the test."""
    hosted = {**GAMES, "toy": TOY}
    monkeypatch.setattr(view_command, "GAMES", hosted)
    monkeypatch.setattr(local_commands, "GAMES", hosted)
    monkeypatch.chdir(tmp_path)


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def written(lines: Lines) -> Path:
    path = Path("match.ndjson")
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def data_of(page: Path) -> dict[str, Any]:
    """The data in a page."""
    packed = re.search(r'<script type="text/plain" id="replay">([A-Za-z0-9+/=]+)</script>', page.read_text("utf-8"))
    assert packed is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def test_the_page_has_the_name_of_the_match_and_every_view_of_every_version() -> None:
    done = run("view", "--no-open", written(toy()))
    assert done.exit_code == 0, done.output
    file = File(toy())
    page = Path(f"{file.first['match']}.html")
    last = len(file.events) - 1
    assert re.search(rf"{page}: {last} versions in 4 views and 2 languages, 0\.\d\d MB\.\n", done.output)
    data = data_of(page)
    views = {f"{language}-{viewer}" for language in LANGUAGES for viewer in ("s", 0, 1, 2)}
    assert set(data["timelines"]) == set(data["table"]["pictures"]) == views
    assert {len(view) for view in data["timelines"].values()} == {last}
    assert {len(view) for view in data["table"]["pictures"].values()} == {last}
    assert {check["result"] for check in data["audit"]["checks"]} == {"passed"}


def test_a_page_needs_nothing_from_elsewhere_and_its_policy_allows_only_its_hashes() -> None:
    assert run("view", "--no-open", "--out", "page.html", written(toy())).exit_code == 0
    text = Path("page.html").read_text("utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["script-src"])
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}=' 'sha256-[A-Za-z0-9+/]{43}='", rules["style-src"])
    assert set(rules) == {
        "default-src", "script-src", "style-src", "base-uri", "form-action", "require-trusted-types-for", "trusted-types",
    }  # fmt: skip
    assert not re.search(r"""(?:src|href)=["']?https?:|@import [^{]|url\(""", text)


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES if LONG else ["monsters_on_the_moon"])
def test_a_page_of_200_events_of_four_seats_is_small(game: str) -> None:
    seats = max(seats for seats in GAMES[game].info.seats if seats <= 4)
    assert (
        run("play", game, "--bots", ",".join(["greedy"] * seats), "--seed", SEED.hex(), "--export", "m").exit_code == 0
    )
    assert run("view", "--no-open", "--out", "page.html", "m").exit_code == 0
    events = len(Path("m").read_bytes().splitlines()) - 1
    assert Path("page.html").stat().st_size * 200 / events <= LARGEST / 3, "a page has grown to a multiple"


@pytest.fixture(scope="module")
def played() -> tuple[Ports, str]:
    """A match that the service itself would show: the ports, and its id."""
    ports, match = simulate.play(TOY, ["high", "random", "random"], {}, SEED)
    return ports, match.id


def lines_of_ports(ports: Ports, match_id: str) -> Lines:
    return tuple(line[:-1] for line in export(ports, ports.history.newest(match_id)[0]))


def test_one_picture_is_that_of_the_service(played: tuple[Ports, str]) -> None:
    ports, match_id = played
    newest = ports.history.newest(match_id)[0]
    file = written(lines_of_ports(ports, match_id))
    for version in range(1, newest.head.version + 1):
        match = ports.history.at(match_id, version)
        for viewer, seat in ((None, "spectator"), (0, "0"), (2, "2")):
            assert run("view", file, "--ply", str(version), "--seat", seat, "--svg", "one.svg").exit_code == 0
            expected = pictures.board(ports.history, match, viewer, "en", highlight=False)
            assert Path("one.svg").read_text("utf-8") == expected
    assert run("view", file, "--svg", "one.svg", "--language", "de").exit_code == 0
    assert Path("one.svg").read_text("utf-8") == pictures.board(ports.history, newest, None, "de", highlight=False)


def test_the_words_are_those_of_the_timeline(played: tuple[Ports, str]) -> None:
    ports, match_id = played
    match = ports.history.newest(match_id)[0]
    file = written(lines_of_ports(ports, match_id))
    for language, viewer in (("en", None), ("de", 1)):
        done = run("view", file, "--text", "--language", language, *([] if viewer is None else ["--seat", str(viewer)]))
        expected = moments(ports.history, match, viewer, language, 0, match.head.version)
        assert done.output == "".join(f"{moment.version:>4}  {moment.text}\n" for moment in expected)


def test_a_file_with_a_fault_is_shown_up_to_it_and_the_exit_code_is_1() -> None:
    file = File(toy())
    last = len(file.events) - 1
    file.events[7]["by"] = "player:nobody"
    for lines, fault, shown in (
        (file.sealed(), "Version 7 fails the check of", 6),
        (toy()[:-1], f"Version {last} fails the check of chain: the file ends before the seed is revealed.", last - 1),
        (toy()[:9] + toy()[10:], "Version 9 fails the check of chain", 8),
    ):
        done = run("view", "--no-open", "--out", "page.html", written(lines))
        assert done.exit_code == 1
        assert f"Error: {fault}" in done.output
        assert "Only what comes before is shown." in done.output
        data = data_of(Path("page.html"))
        assert data["match"]["version"] == shown == len(data["timelines"]["en-s"])
        (failed,) = [check for check in data["audit"]["checks"] if check["result"] == "failed"]
        assert failed["version"] == shown + 1
        done = run("view", written(lines), "--text")
        assert (done.exit_code, done.output.count("\n")) == (1, shown + 1)
        done = run("view", written(lines), "--svg", "one.svg", "--ply", str(shown + 1))
        assert (done.exit_code, f"the versions that can be shown are 1 to {shown}." in done.output) == (2, True)


def test_a_file_of_which_nothing_holds_is_refused() -> None:
    of_other_game = File(toy())
    of_other_game.first["game"] = "chess"
    for lines in (toy()[:1] + toy()[2:], of_other_game.sealed()):
        done = run("view", "--no-open", written(lines))
        assert done.exit_code == 1
        assert done.output.startswith("Error: There is nothing to show: Version ")
        assert not list(Path().glob("*.html"))


FORMS: Final = (("--text",), ("--svg", "one.svg"))


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES if LONG else ["monsters_on_the_moon"])
def test_any_forged_value_before_a_fault_gives_a_sentence(name: str) -> None:
    """Without its last event, a file has no seed, so nothing before it can be decided again."""
    lines = match_files.played(name)
    for number, (_, version, path, value) in enumerate(one_of_each_kind(lines)):
        for other in some_of(tuple(other_values(value)), number):
            forged = File(lines)
            where: Any = forged.events[version]
            for part in path[:-1]:
                where = where[part]
            where[path[-1]] = other
            for words in FORMS if LONG else FORMS[number % 2 :][:1]:
                done = run("view", written(forged.sealed()[:-1]), *words)
                assert (done.exit_code, type(done.exception)) == (1, SystemExit), (path, other)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--ply", "3"), "--svg is missing"),
        (("--seat", "1"), "a page has the views of all seats"),
        (("--svg", "a.svg", "--text"), "either --svg or --text"),
        (("--svg", "a.svg", "--seat", "3"), "a seat from 0 to 2, or spectator"),
        (("--text", "--seat", "x"), "a seat from 0 to 2, or spectator"),
        (("--svg", "a.svg", "--ply", "0"), "--ply"),
        (("--language", "fr"), "'en', 'de'"),
        (("--match", "a" * 26), "the file is of another match"),
    ],
)
def test_wrong_arguments_are_reported_with_the_valid_values(words: tuple[str, ...], advice: str) -> None:
    done = run("view", "--no-open", written(toy()), *words)
    assert (done.exit_code, advice in done.output) == (2, True), done.output


def test_a_page_that_cannot_be_written_is_reported() -> None:
    done = run("view", "--no-open", "--out", "none/page.html", written(toy()))
    assert done.exit_code == 1
    assert "Error: none/page.html: No such file or directory" in done.output


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Path]:
    """A file in which a program that is the browser here notes what it is asked to open."""
    noted = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {noted}\n', encoding="utf-8")
    browser.chmod(0o755)
    os.environ["BROWSER"] = f"{browser} %s"
    yield noted
    del os.environ["BROWSER"]


@pytest.mark.parametrize(
    "words",
    [
        ("view", "match.ndjson"),
        ("play", "monsters_on_the_moon", "--bots", "random", "--view", "--seed", SEED.hex()),
    ],
)
def test_the_page_is_opened_in_the_browser(words: tuple[str, ...], opened: Path, tmp_path: Path) -> None:
    run("play", "monsters_on_the_moon", "--bots", "random", "--export", "match.ndjson", "--seed", SEED.hex())
    command = [sys.executable, "-m", "service.ops.cli", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    (page,) = tmp_path.glob("*.html")
    assert opened.read_text(encoding="utf-8") == f"{page.as_uri()}\n"


def test_a_page_is_written_also_without_a_standard_error(tmp_path: Path) -> None:
    run("play", "monsters_on_the_moon", "--bots", "random", "--export", "match.ndjson", "--seed", SEED.hex())
    command = f"{sys.executable} -m service.ops.cli view match.ndjson --out page.html 2>&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, timeout=60, check=False)
    assert (done.returncode, (tmp_path / "page.html").exists()) == (0, True)
