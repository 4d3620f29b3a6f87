"""The README's first match runs as it is written."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.e2e.client import Player
from tests.e2e.relay import Relay
from tests.serving import Served
from tests.waiting import until

TRIES = 3
"""A busy machine may need more than the README's one second for the bot's turn."""
ENDED = re.compile(r"^finished: {'scores': \[\d+, \d+\], .*}\n\Z", re.MULTILINE)
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def bots_play(served: Served) -> None:
    """Wait for the workers: the service reports that it is ready when its API is. A person would type more slowly."""
    player = Player(served.url, "Early")
    body = {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random", "random"]}
    match = player.send("POST", "/v1/matches", body)["id"]
    until(lambda: player.look(match)["status"] == "finished", 60, "bots play")
    player.close()


def bot_at(url: str) -> list[str]:
    """The command that runs the README's bot against a service."""
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return [sys.executable, "-c", program.replace("http://127.0.0.1:8080", url)]


def test_the_bot_of_the_readme_plays_its_match_to_the_end_as_written(served: Served) -> None:
    done = subprocess.run(bot_at(served.url), capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ENDED.search(done.stdout), done.stdout


@contextmanager
def cut_off(relay: Relay, _bot: subprocess.Popen[str]) -> Iterator[None]:
    relay.cut()
    yield
    relay.mend()


@contextmanager
def stopped(_relay: Relay, bot: subprocess.Popen[str]) -> Iterator[None]:
    bot.send_signal(signal.SIGSTOP)
    yield
    bot.send_signal(signal.SIGCONT)


@contextmanager
def stopped_and_cut_off(relay: Relay, bot: subprocess.Popen[str]) -> Iterator[None]:
    with stopped(relay, bot), cut_off(relay, bot):
        yield


@contextmanager
def answered_409(relay: Relay, _bot: subprocess.Popen[str]) -> Iterator[None]:
    relay.hold(b"/actions")
    relay.holds.wait(60)
    yield
    relay.let_go()


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def first_of(pattern: re.Pattern[bytes], lines: list[bytes]) -> str:
    return next((found[1].decode() for line in lines if (found := pattern.match(line))), "")


@pytest.mark.parametrize("fault", [cut_off, stopped, stopped_and_cut_off, answered_409])
def test_the_bot_of_the_readme_ends_when_its_match_ended_without_it(
    served: Served, fault: Callable[[Relay, subprocess.Popen[str]], AbstractContextManager[None]]
) -> None:
    acting = re.compile(rb"POST /v1/matches/(\w+)/actions ")
    with Relay(served.url) as relay, running(bot_at(relay.url)) as bot:
        match = until(lambda: first_of(acting, relay.requests), 60, "the bot acts")
        with fault(relay, bot):
            player = Player(served.url, token=relay.token)
            player.send("POST", f"/v1/matches/{match}/leave", {})
            until(lambda: player.look(match)["status"] == "finished", 60, "the match ends without the bot")
            player.close()
        stdout, stderr = bot.communicate(timeout=30)
    assert (bot.returncode, stderr) == (0, "")
    assert ENDED.search(stdout), stdout
    # With the other faults an action may be too late as well. The bot prints the whole problem.
    assert fault is not answered_409 or re.search(r'409.*"detail":"', stdout), stdout


def test_the_first_match_of_the_readme_runs_as_written(served: Served) -> None:
    bots_play(served)
    script = re.findall(r"```sh\n(.*?)```", README.partition("## A first match")[2], re.DOTALL)[0]
    assert len(script.splitlines()) == 10
    commands = "set -u\n" + script.replace("http://127.0.0.1:8080", served.url)
    for _ in range(TRIES):
        done = subprocess.run(["bash", "-c", commands], capture_output=True, text=True, timeout=60, check=False)
        if not done.stderr:
            break
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "running"
    assert '"hand_count": 2' in lines[1]
    assert '"type": "action"' in lines[2]
    assert "event: hello" in lines
    assert "event: match_started" in lines
    assert "event: action" in lines
