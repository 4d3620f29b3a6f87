"""Names of bots: which are entries of the arena, and which of them are the same bot."""

import re
from pathlib import Path

import pytest

from service.arena.bots import versions
from service.arena.entries import (
    Address,
    BadEntry,
    Command,
    Function,
    entry_of,
    same_bots,
    shown_names,
    version_of_command,
)
from service.games.ape_town.game import GAME as APE
from tests.service.local_arena.test_bots import bot_in

HERE = "tests.service.local_arena.bad_bots"


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("greedy", None),
        ("arena_bot:play", Function(None, "arena_bot", "play")),
        ("package.module:play", Function(None, "package.module", "play")),
        ("./arena_bot:play", Function(".", "arena_bot", "play")),
        ("/tmp/../tmp/arena_bot:play", Function("/tmp/../tmp", "arena_bot", "play")),
        ("cat bot/arena.mjs --port :80", Command(("cat", "bot/arena.mjs", "--port", ":80"))),
        ("cat 'my bot.mjs'", Command(("cat", "my bot.mjs"))),
        ("/bin/cat", Command(("/bin/cat",))),
        ("http://127.0.0.1:8000/", Address("http://127.0.0.1:8000/")),
        ("https://bot.example/play", Address("https://bot.example/play")),
    ],
)
def test_a_name_is_a_built_in_bot_a_function_a_command_or_an_address(
    name: str, entry: Function | Command | Address | None
) -> None:
    assert entry_of(name) == entry


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("no/folder/arena_bot:play", "there is no folder no/folder"),
        ("no_program bot.mjs", "there is no program 'no_program'"),
        ("cat 'bot.mjs", "the quotes of this command do not fit"),
        (" ", "there is no program ''"),
        ("http://bot.example/", "the URL must begin with https://"),
        ("https://10.0.0.1/", "the URL must not name an address that is not public"),
        ("https://me:pass@bot.example/", "the URL must have neither a user name"),
    ],
)
def test_a_name_that_cannot_be_used_is_reported(name: str, fault: str) -> None:
    with pytest.raises(BadEntry, match=fault):
        entry_of(name)


def test_what_is_shown_of_a_url_has_no_key_and_different_urls_stay_different() -> None:
    shown = shown_names(
        (
            "https://bot.example/a",
            "https://bot.example/a?key=1",
            "https://bot.example/a?key=2",
            "https://bot.example/a?key=1",
            "HTTPS://me:pass@bot.example:22/#x",
            "https://bot.example?key=a@b?c",
            "node bot.mjs?",
        )
    )
    assert list(shown.values()) == [
        "https://bot.example/a",
        "https://bot.example/a?…",
        "https://bot.example/a?…2",
        "HTTPS://…@bot.example:22/?…",
        "https://bot.example?…",
        "node bot.mjs?",
    ]


def test_the_fault_of_a_url_shows_no_key() -> None:
    with pytest.raises(BadEntry) as error:
        entry_of("https://me:pass@bot.example:22/?key=1")
    assert not {"pass", "key"} & set(re.findall(r"\w+", str(error.value).partition(": the URL ")[0]))


def test_a_package_that_imports_the_files_of_the_current_folder_is_found_to_be_the_same_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot_in(tmp_path / "bot", 0)
    bot_in(tmp_path / "bot" / "old", 1)
    monkeypatch.chdir(tmp_path / "bot")
    names = ("mine:play", "old.mine:play")
    assert same_bots(names, versions(APE, names, 10.0, None)) == [names]


def test_two_functions_of_one_module_are_different_bots() -> None:
    names = (f"{HERE}:honest", f"{HERE}:raises")
    found = versions(APE, names, 10.0, None)
    assert found[0] == found[1]
    assert not same_bots(names, found)


def test_two_commands_are_the_same_bot_only_if_their_files_and_options_are_the_same(tmp_path: Path) -> None:
    for folder in ("new", "old"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.mjs").write_text("a")
        (tmp_path / folder / "b.mjs").write_text("b")
    new, old = f"cat {tmp_path}/new", f"cat {tmp_path}/old"
    names = (f"{new}/a.mjs", f"{new}/b.mjs", f"{new}/a.mjs -u", f"{old}/a.mjs")
    found = [version_of_command(Command(tuple(name.split()))) for name in names]
    assert same_bots(names, found) == [(names[0], names[3])]
