"""The structure of the code: imports lead to lower layers, files are short, all folders of games have the same files."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from service.games.registry import GAMES

ROOT = Path(__file__).parent.parent
PACKAGES = ("service", "events", "api", "workers")
SOURCES = sorted(path for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py"))
BUDGET = 300
TEST_BUDGET = 350
"""Tables of test cases may be longer."""
VAGUE = re.compile(r"util|helper|manager|common|base$|misc")
FOLDER_SHAPE = {
    "__init__.py", "RULES.md", "texts.json", "components.json", "components.py", "state.py", "actions.py",
    "effects.py", "opening.py", "legal.py", "decide.py", "apply.py", "scoring.py", "view.py", "bots.py", "picture.py",
    "game.py",
}  # fmt: skip


def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_bytes().splitlines()) for path in SOURCES}
    assert [
        (str(path.relative_to(ROOT)), length)
        for path, length in lengths.items()
        if length > (TEST_BUDGET if path.is_relative_to(ROOT / "tests") else BUDGET)
    ] == []


def test_every_package_file_is_empty_and_no_name_is_vague() -> None:
    assert [path for path in SOURCES if path.name == "__init__.py" and path.stat().st_size] == []
    assert [path for path in SOURCES if VAGUE.search(path.stem)] == []


@pytest.mark.parametrize("game", GAMES)
def test_the_folder_of_a_game_has_all_files(game: str) -> None:
    folder = ROOT / "service" / "games" / game
    names = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert names >= FOLDER_SHAPE
    assert {path.suffix for path in folder.iterdir()} <= {".py", ".md", ".json", ""}


def test_the_registry_lists_every_game_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "service" / "games").glob("*/game.py")}
    assert folders == set(GAMES)


def test_the_import_contracts_name_every_game() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    named = {contract["name"]: contract.get("modules") or contract.get("containers") for contract in contracts}
    expected = sorted(f"service.games.{game}" for game in GAMES)
    assert sorted(named["Games do not know each other"]) == expected
    assert sorted(named["Inside a game the fold never decides"]) == expected


def test_no_dependency_has_the_name_of_our_package_events() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"^events==", lock, re.MULTILINE)
