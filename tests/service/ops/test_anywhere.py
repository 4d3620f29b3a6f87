"""`moonstone play` and `verify` where there is no Unix: nothing of it is imported or called; other commands say so."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from service.ops.server_commands import COMMANDS
from tests.serving import ROOT

NO_UNIX: Final = """
import os, signal, socket, sys

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
main()
"""
"""Runs the command without what Windows lacks."""


def run(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", NO_UNIX, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_match_is_played_exported_and_verified(tmp_path: Path) -> None:
    file = tmp_path / "match.ndjson"
    code, told = run("play", "four_monkeys", "--bots", "greedy,random", "--export", file)
    assert (code, told.startswith("4 Monkeys. Seats: 2. Events: ")) == (0, True), told
    code, told = run("verify", file)
    assert (code, "chain, draws, effects, actions, outcome hold." in told) == (0, True), told
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join((*lines[:7], *lines[8:])))
    code, told = run("verify", file)
    assert (code, told.startswith("Error: version 7, chain: ")) == (1, True), told


def test_the_commands_are_listed() -> None:
    code, told = run("--help")
    assert code == 0
    for name in COMMANDS:
        assert f"{name} " in told
    assert told.count("Needs Unix, which is not here.") == len(COMMANDS)


@pytest.mark.parametrize(
    "words", [("serve", "--port", "0"), ("workers",), ("api",), ("check", "--data-dir", "x"), ("backup", "x")]
)
def test_what_needs_unix_says_so_in_a_sentence(words: tuple[str, ...]) -> None:
    where = "needs Linux or another Unix, such as WSL or a container; `moonstone play` and `moonstone verify` run here."
    assert run(*words) == (1, f"Error: `moonstone {words[0]}` {where}\n")


def test_a_command_that_there_is_not_is_told_as_everywhere() -> None:
    code, told = run("sreve")
    assert (code, "No such command 'sreve'" in told) == (2, True)
