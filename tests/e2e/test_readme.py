"""The README's first match runs as it is written."""

import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.client import Player
from tests.serving import Serving
from tests.waiting import until

TRIES = 3
"""A machine that is busy with something else may need more than the README's second for the bot's turn."""
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def bots_play(served: Serving) -> None:
    """The service says that it is ready when its API is; who types what the README says gives the workers more time."""
    player = Player(served.url, "Early")
    wanted = {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random", "random"]}
    match = player.send("POST", "/v1/matches", wanted)["id"]
    until(lambda: player.look(match)["status"] == "finished", 60, "bots play")
    player.close()


def test_the_bot_of_the_readme_plays_its_match_to_the_end_as_written(served: Serving) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    told = program.replace("http://127.0.0.1:8080", served.url)
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1  # as of any program that ends with a text
    assert re.fullmatch(r"scores: \[\d+, \d+\]\n", done.stderr)


def test_the_first_match_of_the_readme_runs_as_written(served: Serving) -> None:
    bots_play(served)
    script = re.findall(r"```sh\n(.*?)```", README.partition("## A first match")[2], re.DOTALL)[0]
    assert len(script.splitlines()) == 10
    told = "set -u\n" + script.replace("http://127.0.0.1:8080", served.url)
    for _ in range(TRIES):
        done = subprocess.run(["bash", "-c", told], capture_output=True, text=True, timeout=60, check=False)
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
