"""`moonstone play`, `verify` and `view` work without Unix and import nothing that needs it; other commands say that they need it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from service.ops.cli import NEED_UNIX
from tests.serving import ROOT

NO_UNIX: Final = """
import io, json, os, signal, socket, sys
from contextlib import redirect_stderr, redirect_stdout

for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
for module, names in (
    (os, "fork register_at_fork getuid geteuid getgid setsid getpgid killpg wait3 mkfifo chown fchmod sched_getaffinity"),
    (signal, "SIGALRM SIGKILL SIGHUP SIGPROF SIGSTOP SIGCHLD setitimer alarm pause"),
    (socket, "AF_UNIX SO_REUSEPORT"),
):
    for name in names.split():
        delattr(module, name)
from service.ops.cli import main
for line in sys.stdin:
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(output):
        try:
            main(json.loads(line))
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, output.getvalue()]), flush=True)
"""
"""Runs commands without the modules that Windows lacks."""

Run: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A function that runs a command, and returns its exit code and what it prints. All run in one process."""
    command = [sys.executable, "-c", NO_UNIX]
    with subprocess.Popen(command, text=True, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def run(*words: str | Path) -> tuple[int, str]:
            stdin.write(json.dumps([*map(str, words)]) + "\n")
            stdin.flush()
            code, output = json.loads(stdout.readline())
            return code, output

        yield run
        stdin.close()
        assert process.wait(60) == 0


def test_a_match_is_played_exported_and_verified(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "match.ndjson"
    code, output = run("play", "four_monkeys", "--bots", "greedy,random", "--export", file)
    assert (code, output.startswith("4 Monkeys. Seats: 2. Events: ")) == (0, True), output
    code, output = run("verify", file)
    assert (code, "chain, draws, effects, actions, outcome hold." in output) == (0, True), output
    code, output = run("view", file, "--no-open", "--out", tmp_path / "page.html")
    assert (code, "page.html: " in output) == (0, True), output
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join((*lines[:7], *lines[8:])))
    code, output = run("verify", file)
    assert (code, output.startswith("Error: version 7, chain: ")) == (1, True), output


def test_the_commands_are_listed(run: Run) -> None:
    code, output = run("--help")
    assert code == 0
    for name in NEED_UNIX:
        assert f"{name} " in output
    assert output.count("Not available here: needs Unix.") == len(NEED_UNIX)


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--port", "0"),
        ("workers",),
        ("api",),
        ("check", "--data-dir", "x"),
        ("backup", "x"),
        ("arena", "ape_town"),
    ],
)
def test_commands_that_need_unix_say_so_in_a_sentence(run: Run, words: tuple[str, ...]) -> None:
    advice = (
        "needs Linux or another Unix, such as WSL or a container; `moonstone play`, `moonstone verify`, "
        "`moonstone view` and `moonstone dataset` run here."
    )
    assert run(*words) == (1, f"Error: `moonstone {words[0]}` {advice}\n")


def test_an_unknown_command_is_reported_as_everywhere(run: Run) -> None:
    for wrong, right in (("sreve", "serve"), ("plya", "play"), ("datast", "dataset")):
        code, output = run(wrong)
        assert (code, f"No such command '{wrong}'. Did you mean '{right}'?" in output) == (2, True)
