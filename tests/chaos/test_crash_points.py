"""After a crash at any failpoint, or a kill at any moment, the next try and the next sweep restore a correct state."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, get_args

import msgspec
import pytest
from redis import Redis

from service.container import build
from service.observability.failpoints import KILLED, VARIABLE, Point
from service.settings import read
from tests.chaos.actor import COUNT, KILL, NO_CRASH, SCRIPTS
from tests.chaos.script_checks import CHECKS
from tests.e2e.test_whole_match import exported, play_on, table
from tests.length import LONG
from tests.serving import UNHURRIED, serving

ROOT: Final = Path(__file__).parents[2]
PASSES: Final = 80 if LONG else 3
"""The crash occurs at one of the first passes of a point, up to this one."""

MOST_SCRIPTS: Final = 2
"""In the short form, the most scripts that crash at one point."""

POINTS: Final[tuple[Point, ...]] = get_args(Point)
CRASH_AFTER: Final = 20
"""In a whole service, each process crashes at its point after this many passes."""
POINTS_OF_PROCESSES: Final[tuple[Point, ...]] = ("append-written", "append-decided", "command-hinted")

KILLS: Final = 40 if LONG else 2
"""Kills of each script, spread evenly over most of its duration."""
KILLED_SCRIPTS: Final = tuple(SCRIPTS) if LONG else ("seats",)

Play = Callable[[str, str, Path], int]


@pytest.fixture(scope="module")
def environ(valkey_log_url: str, valkey_queue_url: str) -> dict[str, str]:
    return {"MOONSTONE_LOG_URL": valkey_log_url, "MOONSTONE_QUEUE_URL": valkey_queue_url}


@pytest.fixture(scope="module")
def play(environ: dict[str, str]) -> Iterator[Play]:
    command = [sys.executable, "-m", "tests.chaos.actor"]
    actor = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert actor.stdin
    assert actor.stdout
    stdin, stdout = actor.stdin, actor.stdout

    def play(script: str, point: str, folder: Path) -> int:
        stdin.write(f"{script} {point} {folder}\n")
        stdin.flush()
        return int(stdout.readline())

    with actor:
        yield play
        stdin.close()


@pytest.fixture(scope="module")
def check(environ: dict[str, str]) -> Callable[[str, Path], None]:
    """Checks what a script left behind."""

    def check(script: str, folder: Path) -> None:
        service = build(read({**environ, "MOONSTONE_DATA_DIR": str(folder)}), listen=False)
        CHECKS[script](service, folder)
        service.close()

    return check


@pytest.fixture(scope="module")
def passes(
    play: Play, check: Callable[[str, Path], None], valkey_log_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Mapping[str, int]]:
    """How often each script passes each point. The runs that count are not disturbed, and are checked too."""
    found = {}
    for script in SCRIPTS:
        folder = tmp_path_factory.mktemp(script)
        empty(valkey_log_url)
        assert play(script, COUNT, folder) == 0
        check(script, folder)
        found[script] = msgspec.json.decode((folder / "passes").read_bytes(), type=dict[str, int])
    return found


def empty(url: str) -> None:
    with Redis.from_url(url) as client:
        client.flushall()


def crashes_at(point: Point, passes: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, int]]:
    """The scripts that crash at a point, each with the number of the pass at which it does.

    In the short form at most two of the scripts that pass a point crash there, and at the next point the next two: the first one
    at its first pass, the second one at its second.
    """
    counts = [(script, min(PASSES, found[point])) for script, found in passes.items() if found.get(point)]
    if LONG:
        yield from ((script, number) for script, most in counts for number in range(1, most + 1))
        return
    first = MOST_SCRIPTS * POINTS.index(point) % len(counts) if counts else 0
    for turn, (script, most) in enumerate((counts[first:] + counts[:first])[:MOST_SCRIPTS]):
        yield script, turn % most + 1


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_the_next_try_repairs_a_crash_at_any_point(
    play: Play,
    passes: Mapping[str, Mapping[str, int]],
    check: Callable[[str, Path], None],
    valkey_log_url: str,
    tmp_path: Path,
    point: Point,
) -> None:
    crashes = 0
    for script, number in crashes_at(point, passes):
        folder = tmp_path / f"{script}-{number}"
        folder.mkdir()
        empty(valkey_log_url)
        code = play(script, f"{point}:{number}", folder)
        assert code in {0, KILLED}
        if code:
            crashes += 1
            assert play(script, NO_CRASH, folder) == 0
        check(script, folder)
    assert crashes, "no script passes this point"


@pytest.mark.long
@pytest.mark.parametrize("script", KILLED_SCRIPTS)
def test_the_next_try_repairs_a_kill_at_any_moment(
    play: Play, check: Callable[[str, Path], None], valkey_log_url: str, tmp_path: Path, script: str
) -> None:
    duration_ms = math.inf  # of the fastest run: the first may be much slower than the others
    killed = 0
    for number in range(KILLS + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        empty(valkey_log_url)
        if number:
            code = play(script, f"{KILL}{0.7 * duration_ms * (number - 0.5) / KILLS:.2f}", folder)
            assert code in {0, -signal.SIGKILL}
            killed += code != 0
        began = time.monotonic()
        assert play(script, NO_CRASH, folder) == 0
        duration_ms = min(duration_ms, 1000 * (time.monotonic() - began))
        check(script, folder)
    assert killed


@pytest.mark.long
@pytest.mark.skipif(
    not LONG, reason="only in the long form: in the short one test_kills kills the processes of a service"
)
@pytest.mark.parametrize("point", POINTS_OF_PROCESSES)
def test_a_service_whose_processes_crash_repeatedly_plays_a_whole_match(tmp_path: Path, point: Point) -> None:
    crashing = {**UNHURRIED, VARIABLE: f"{point}:{CRASH_AFTER}"}
    with serving(tmp_path, **crashing) as served, table(served.url) as (match, players):
        acknowledged = play_on(match, players, lambda _: None)
        events = exported(players[0], match)
    by_people = [event["version"] for event in events if event["type"] == "action" and event["by"].startswith("seat:")]
    assert sorted(acknowledged.values()) == by_people
    assert len(events) > 3 * CRASH_AFTER
