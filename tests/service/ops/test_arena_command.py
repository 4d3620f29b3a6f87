"""`moonstone arena` with real jobs and real processes of bots; also at a terminal, where it is killed and interrupted."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from service.audit.verify import verify
from service.games.registry import GAMES
from tests import command_line
from tests.length import LONG
from tests.serving import ROOT
from tests.verifier.verdicts import verdicts
from tests.waiting import until

SEED = bytes(range(32)).hex()
BAD = "tests.service.local_arena.bad_bots"
DEALS = 2 if LONG else 1
"""How many deals of each game are exported and verified."""
EXPORTED = ("ape_town", "four_monkeys") if LONG else ("ape_town",)
ENDS = [
    ("holds", signal.SIGINT),
    ("stops", signal.SIGTERM),
    ("holds", signal.SIGKILL),
    ("stops", signal.SIGINT),
    ("holds", signal.SIGTERM),
    ("stops", signal.SIGKILL),
]
"""Bots and the signals that end their runs. Another test interrupts a run."""
JOBS = 2 if LONG else 1


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "service.ops.cli", "arena", *map(str, words)]


def run(*words: object) -> Result:
    """The result of a run in this process, whose jobs are processes: one unless the words say how many."""
    return command_line.run("arena", *words, *(() if "--jobs" in words else ("--jobs", 1)))


def result(file: Path) -> dict[str, Any]:
    """The result without the times, and without the number of jobs."""
    found: dict[str, Any] = json.loads(file.read_bytes())
    del found["jobs"]
    for bot in found["bots"]:
        del bot["ms_p50"], bot["ms_p99"]
    return found


def test_the_same_seed_gives_the_same_result_with_any_number_of_jobs_and_after_a_kill(tmp_path: Path) -> None:
    words = (
        "monkeys_on_the_moon",
        "--bots",
        f"greedy,{BAD}:raises,random",
        "--seed",
        SEED,
        "--option",
        "treachery=true",
    )
    results = []
    for number, jobs in enumerate((1, 2)):
        file = tmp_path / f"{number}.json"
        done = run(*words, "--matches", 11, "--jobs", jobs, "--json", file)
        assert done.exit_code == 0, done.stderr
        results.append(result(file))
    assert results[0] == results[1]
    assert (results[0]["deals"], results[0]["matches"]) == (4, 12)
    assert results[0]["contest"]["options"]["treachery"] is True
    crashes = {bot["bot"]: bot["failures"] for bot in results[0]["bots"]}
    assert crashes["greedy"] == crashes["random"] == {}
    assert crashes[f"{BAD}:raises"]["crash"] > 3

    journal, file = tmp_path / "journal", tmp_path / "resumed.json"
    with subprocess.Popen(
        command(*words, "--matches", 3000, "--jobs", 1, "--resume", journal), cwd=ROOT, stdout=subprocess.PIPE
    ) as stopped:
        until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3, 60, "two deals are played")
        stopped.kill()
    lines = journal.read_bytes().splitlines(keepends=True)[:3]
    journal.write_bytes(b"".join(lines) + b'{"type":"deal","num')
    done = run(*words[:3], *words[5:], "--matches", 11, "--jobs", 1, "--resume", journal, "--json", file)
    assert done.exit_code == 0, done.stderr
    assert result(file) == results[0]
    assert journal.read_bytes().splitlines(keepends=True)[:3] == lines
    assert journal.read_bytes().count(b"\n") == 5


@pytest.mark.long
def test_every_exported_match_is_verified(tmp_path: Path) -> None:
    for game in EXPORTED:
        folder = tmp_path / game
        bots = f"random,{BAD}:hangs,{BAD}:unknown"
        done = run(
            game,
            "--bots",
            bots,
            "--matches",
            DEALS * 3,
            "--jobs",
            2,
            "--limit-ms",
            100,
            "--export",
            folder,
            "--seed",
            SEED,
        )
        assert done.exit_code == 0, done.stderr
        files = sorted(folder.glob("*.ndjson"))
        assert [file.name for file in files] == [
            f"00000{deal}-{rotation}.ndjson" for deal in range(DEALS) for rotation in range(3)
        ]
        lines = {file.name: tuple(file.read_bytes().splitlines()) for file in files}
        assert verdicts(lines, tmp_path) == dict.fromkeys(lines)
        for file in files:
            verify(lines[file.name], GAMES)
        checked = command_line.run("verify", folder)
        assert checked.output.count("chain, draws, effects, actions, outcome hold.") == len(files)
        assert checked.output.endswith(f"All {DEALS * 3} files hold.\n")
        holders = [
            [json.loads(line)["data"]["player"] for line in lines[f"000000-{rotation}.ndjson"][2:5]]
            for rotation in range(3)
        ]
        assert holders == [bots.split(",")[rotation:] + bots.split(",")[:rotation] for rotation in range(3)]


def test_a_folder_of_match_files_belongs_to_one_contest(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    words = ("ape_town", "--bots", "greedy,random", "--export", folder, "--seed")
    assert run(*words, SEED, "--matches", 2).exit_code == 0
    assert run(*words, SEED, "--matches", 4).exit_code == 0
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert len(before) == 5
    other = run(*words, "00" * 32, "--matches", 2)
    assert (other.exit_code, f"has the matches of another contest, with seed {SEED}" in other.stderr) == (2, True)
    full = run("ape_town", "--bots", "greedy,random", "--export", tmp_path, "--matches", 2)
    assert (full.exit_code, "has files of something else" in full.stderr) == (2, True)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_sequential_test_stops_by_itself(tmp_path: Path) -> None:
    file, drawn = tmp_path / "result.json", tmp_path / "plot.svg"
    done = run(
        "ape_town", "--bots", "greedy,random", "--sprt", "0,100", "--seed", SEED, "--json", file, "--plot", drawn
    )
    assert done.exit_code == 0, done.stderr
    assert "\nAccepted: greedy is stronger than random.\n" in done.stdout
    found = result(file)
    assert (found["sprt"]["verdict"], found["end"]) == ("elo1", "verdict")
    assert found["deals"] < 100
    assert len(found["curves"]["greedy"]) == found["deals"]
    assert drawn.read_text().startswith("<svg")
    limited = run(
        "ape_town", "--bots", "random,greedy", "--sprt", "0,100", "--matches", 2, "--seed", SEED, "--json", file
    )
    assert (limited.exit_code, "\nUndecided after 2 matches: play more of them.\n" in limited.stdout) == (0, True)
    assert (result(file)["sprt"]["verdict"], result(file)["end"]) == ("undecided", "matches")


@contextmanager
def running(*words: object, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A run of the arena, which is killed at the end."""
    with subprocess.Popen(command(*words), text=True, **{"cwd": ROOT, "stdout": subprocess.PIPE, **more}) as arena:
        try:
            yield arena
        finally:
            arena.kill()


def test_an_interrupt_ends_the_run_with_the_results_so_far(tmp_path: Path) -> None:
    journal, file = tmp_path / "journal", tmp_path / "result.json"
    words = (
        "ape_town",
        "--bots",
        f"random,{BAD}:honest",
        "--sprt",
        "-1,1",
        "--jobs",
        2,
        "--resume",
        journal,
        "--json",
        file,
    )
    with running(*words) as arena:
        until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3, 60, "two deals are played")
        arena.send_signal(signal.SIGINT)
        output, _ = arena.communicate(timeout=60)
    assert arena.returncode == 130
    assert re.search(r"matches, \d+ deals", output)
    assert output.endswith(f"\nStopped; continue with --resume {journal}\n")
    assert (result(file)["deals"] >= 2, result(file)["end"]) == (True, "interrupt")
    assert not processes_of(f"{BAD}:honest")


def test_an_interrupted_run_without_a_file_says_how_to_keep_the_next_one() -> None:
    words = ("ape_town", "--bots", f"random,{BAD}:computes", "--sprt", "-1,1", "--limit-ms", 3_600_000)
    with running(*words) as arena:
        until(lambda: running_jobs(arena.pid), 60, "a job begins")
        arena.send_signal(signal.SIGINT)
        output, _ = arena.communicate(timeout=60)
    assert arena.returncode == 130
    assert output.endswith(
        "\nStopped. Next time, --resume FILE keeps the deals, so that a stopped run can be continued.\n"
    )


def running_jobs(parent: int) -> bool:
    """Whether the arena of this process id has a job."""
    done = subprocess.run(["ps", "-ww", "-A", "-o", "ppid,args"], capture_output=True, text=True, check=True)
    return any(line.split()[0] == f"{parent}" and "service.arena.job" in line for line in done.stdout.splitlines()[1:])


def test_a_bot_whose_files_changed_is_not_resumed_or_exported_with_the_old_one(tmp_path: Path) -> None:
    bot, journal, folder = tmp_path / "bot", tmp_path / "run", tmp_path / "files"
    bot.mkdir()
    (bot / "mine.py").write_text("from choice import choice as play\n")
    (bot / "choice.py").write_text("def choice(task, rng):\n    return task.legal_actions[0]\n")
    words = ("ape_town", "--bots", f"{bot}/mine:play,random", "--matches", 2, "--seed", SEED)
    kept = ("--resume", journal), ("--export", folder)
    assert run(*words, *kept[0], *kept[1]).exit_code == 0
    assert run(*words, *kept[0], *kept[1]).exit_code == 0, "nothing has changed"
    (bot / "choice.py").write_text("def choice(task, rng):\n    return task.legal_actions[-1]\n")
    for more in kept:
        refused = run(*words, *more)
        assert refused.exit_code == 2
        assert f"another version of {bot}/mine:play, whose files have changed since" in refused.stderr


def test_two_names_of_the_same_files_cause_a_warning(tmp_path: Path) -> None:
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text("def play(task, rng):\n    return task.legal_actions[0]\n")
    names = [f"{tmp_path}/{name}/mine:play" for name in ("new", "old")]
    done = run("ape_town", "--bots", ",".join(names), "--matches", 2)
    assert done.exit_code == 0
    assert done.stderr.startswith(f"Warning: {names[0]} and {names[1]} are the same files. ")


def processes_of(bot: str) -> list[str]:
    """The command lines of a bot's processes."""
    found = subprocess.run(["ps", "-ww", "-A", "-o", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if "service.arena.bot_process" in line and line.endswith(bot)]


@pytest.mark.long
@pytest.mark.parametrize(("bot", "end"), ENDS if LONG else ENDS[1:3])
def test_however_a_run_ends_it_leaves_no_process(bot: str, end: signal.Signals, tmp_path: Path) -> None:
    # A name that no other run of this test has.
    (tmp_path / f"of_{tmp_path.name}.py").write_text(f"from {BAD} import {bot} as play\n")
    name = f"of_{tmp_path.name}:play"
    words = ("four_monkeys", "--bots", f"{name},random", "--sprt", "0,1", "--limit-ms", 3_600_000, "--jobs", JOBS)
    with running(*words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL) as arena:
        until(lambda: running_jobs(arena.pid) and processes_of(name), 60, "the bot's process of a job begins")
        arena.send_signal(end)
        arena.wait(60)
    until(lambda: not processes_of(name), 60, "the bot's process ends")


def test_a_match_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    words = ("ape_town", "--bots", "greedy,random", "--matches", 2, "--export", tmp_path, "--seed", SEED)
    assert run(*words).exit_code == 0
    (tmp_path / "000000-0.part").mkdir()
    done = run(*words)
    assert (done.exit_code, done.stderr) == (1, f"Error: {tmp_path}/000000-0.part: Is a directory\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_a_result_that_cannot_be_written_is_named_and_the_run_can_be_repeated(option: str) -> None:
    done = run("ape_town", "--bots", "greedy,random", "--matches", 2, option, "/dev/full", "--seed", SEED)
    assert (done.exit_code, done.stderr) == (1, "Error: /dev/full: No space left on device\n")
    assert f"Seed: {SEED}\n" in done.stdout


def test_paths_that_are_not_utf8_are_used_as_they_are(tmp_path: Path) -> None:
    folder, log = (Path(os.fsdecode(os.fsencode(tmp_path / name) + b"\xff")) for name in ("files", "log"))
    bots = f"random,{BAD}:honest"
    done = run("ape_town", "--bots", bots, "--matches", 2, "--export", folder, "--bot-log", log)
    assert done.exit_code == 0, done.stderr
    assert sorted(file.name for file in folder.glob("*.ndjson")) == ["000000-0.ndjson", "000000-1.ndjson"]
    assert "a bot may print" in log.read_text()


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        (("chess", "--bots", "a,b", "--matches", 2), 2, "There is no game chess."),
        (
            ("ape_town", "--bots", "greedy,bold", "--matches", 2),
            2,
            "No bot 'bold' plays Ape Town. There are: greedy, random. Name a bot of your own as module:function",
        ),
        (("ape_town", "--bots", "greedy,none/bot:play", "--matches", 2), 2, "there is no folder none"),
        (("ape_town", "--bots", "greedy,no_program x", "--matches", 2), 2, "there is no program 'no_program'"),
        (("ape_town", "--bots", "greedy, bold", "--matches", 2), 2, "No bot 'bold' plays Ape Town."),
        (("ape_town", "--bots", "greedy,random", "--matches", 2, "--plot", "x.png"), 2, "a name that ends in .svg"),
        (("ape_town", "--bots", "greedy", "--matches", 2), 2, "Ape Town has 2 to 4 seats."),
        (("ape_town", "--bots", "greedy,greedy", "--matches", 2), 2, "name at least two different bots"),
        (("ape_town", "--bots", "greedy,random"), 2, "--matches N, or --sprt ELO0,ELO1"),
        (("ape_town", "--bots", "greedy,random", "--sprt", "5,0"), 2, "the smaller one first"),
        (("ape_town", "--bots", "greedy,random", "--sprt", "nan,nan"), 2, "the smaller one first"),
        (("ape_town", "--bots", f"greedy,random,{BAD}:honest", "--sprt", "0,5"), 2, "--sprt compares two bots."),
        (("ape_town", "--bots", "greedy,no_module:play", "--matches", 2), 1, "No module named 'no_module'"),
        (("ape_town", "--bots", "greedy,random", "--matches", 2, "--option", "walls=1"), 2, "It has no options."),
        (("ape_town", "--bots", "greedy,random", "--matches", 2, "--seed", "12"), 2, "64 hex digits"),
        (
            ("ape_town", "--bots", "greedy,random", "--matches", 2, "--resume", "README.md"),
            2,
            "not the file of an arena",
        ),
        (("ape_town", "--bots", "greedy,random", "--matches", 2, "--json", "/no/folder/x"), 1, "/no/folder/x"),
        (("ape_town", "--bots", "greedy,a\x1b[2Jb:play", "--matches", 2), 2, "only characters that can be printed"),
        (("ape_town", "--bots", "greedy,random", "--matches", 2, "--limit-ms", 10**20), 2, "1<=x<=3600000"),
        (
            ("ape_town", "--bots", "greedy,random", "--matches", 2, "--option", "x=" + "[" * 99_999),
            2,
            "It has no options.",
        ),
        (
            ("ape_town", "--bots", "greedy,random", "--matches", 2, "--plot", "/tmp/x", "--json", "/tmp/../tmp/x"),
            2,
            "give a file of its own to each",
        ),
    ],
)
def test_wrong_arguments_are_reported_with_advice(words: tuple[object, ...], code: int, fault: str) -> None:
    done = run(*words)
    assert (done.exit_code, fault in done.output, done.stdout) == (code, True, ""), done.output
