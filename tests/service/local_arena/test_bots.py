"""Bots in their own processes, and bots in the process of a job: limits, failures and inputs."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from service.arena.bots import BuiltIn, seated
from service.arena.hosted import CannotStart, Hosted
from service.arena.play import Failed, FailureKind
from service.games.ape_town.game import GAME as APE
from service.games.bots import choose_at_random
from service.games.protocol import Task
from service.match.randomness import Draws
from tests.service.local_arena.bad_bots import LIMIT_MS
from tests.serving import ROOT
from tests.waiting import until

HERE = "tests.service.local_arena.bad_bots"


def first_task() -> Task[Any, Any]:
    state: Any = None
    for effect in APE.setup(2, APE.options(2, {}), 0, Draws(lambda: bytes(32), {})):
        state = APE.apply(state, effect)
    (decision,) = APE.decisions(state)
    legal = tuple(APE.legal_actions(state, decision.seat))
    return Task(decision.seat, decision.step, APE.observation(state, decision.seat), legal)


TASK = first_task()
SOMETIMES = {"raises", "ends", "hangs", "unknown"}
"""Bots that fail only at some tasks."""


@contextmanager
def hosted(function: str, log: Path | None = None) -> Iterator[Hosted]:
    bot = Hosted(APE, f"{HERE}:{function}", LIMIT_MS / 1000, None if log is None else str(log))
    bot.start()
    try:
        yield bot
    finally:
        bot.close()


def answers(bot: Hosted | BuiltIn, keys: int = 40) -> Iterator[Any]:
    """An answer or a failure for each of some keys."""
    for number in range(keys):
        bot.begin()
        try:
            yield bot.answer(TASK, lambda number=number: bytes([number]) * 32)  # type: ignore[misc]  # a bound default
        except Failed as failed:
            yield failed


def first_failure(bot: Hosted | BuiltIn) -> Failed:
    return next(answer for answer in answers(bot) if isinstance(answer, Failed))


def test_a_hosted_bot_answers_as_the_same_function_here() -> None:
    with hosted("honest") as bot:
        here = BuiltIn(choose_at_random, 1.0)
        assert list(answers(bot)) == list(answers(here))


@pytest.mark.parametrize(
    ("function", "kind", "detail"),
    [
        ("raises", "crash", "ValueError: no idea (bad_bots.py:"),
        ("ends", "crash", "its process ended with status 3"),
        ("hangs", "timeout", f"no answer within {LIMIT_MS} ms"),
        ("unknown", "nonsense", "no action of this game: "),
        ("not_json", "crash", "TypeError: "),
        ("endless", "nonsense", "an answer has at most 1048576 bytes"),
        ("too_deep", "nonsense", "maximum recursion depth exceeded"),
        ("no_utf8", "nonsense", "no action of this game: 'utf-8' codec can't decode"),
        ("no_number", "crash", "nan is no action"),
        ("controls", "crash", "ValueError: \ufffd[2J"),
        ("stops", "timeout", f"no answer within {LIMIT_MS} ms"),
    ],
)
def test_a_failure_is_reported_and_the_bot_answers_again(function: str, kind: FailureKind, detail: str) -> None:
    with hosted(function) as bot:
        failed = first_failure(bot)
        assert (failed.kind, failed.detail[: len(detail)]) == (kind, detail)
        assert function not in SOMETIMES or any(not isinstance(one, Failed) for one in answers(bot, 5))


def test_the_output_of_a_bot_goes_to_the_log_and_not_into_its_answers(tmp_path: Path) -> None:
    with hosted("honest", tmp_path / "log") as bot:
        assert not any(isinstance(one, Failed) for one in answers(bot, 3))
    assert (tmp_path / "log").read_text().count("a bot may print") == 3


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("no_such_module:play", "No module named 'no_such_module'"),
        (f"{HERE}:no_such_function", "no_such_function"),
        (f"{HERE}:no_function", "is not a function"),
    ],
)
def test_a_bot_that_cannot_be_imported_is_reported_before_the_first_match(name: str, fault: str) -> None:
    with pytest.raises(CannotStart, match=fault):
        seated(APE, name, 1.0, None)


def test_no_process_is_left() -> None:
    with hosted("hangs") as bot:
        assert bot._process is not None
        before = bot._process._process.pid
        assert first_failure(bot).kind == "timeout"
        bot.begin()
        assert bot._process is not None
        after = bot._process._process.pid
    for process in (before, after):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_processes_that_a_bot_has_started_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    with hosted("forks") as bot:
        assert first_failure(bot).kind == "timeout"
    for process in map(int, (tmp_path / "forked").read_text().split()):
        until(lambda process=process: not is_running(process), 20, "the process ends")  # type: ignore[misc]


def test_the_log_has_what_a_bot_printed_before_it_was_killed(tmp_path: Path) -> None:
    with hosted("holds", tmp_path / "log") as bot:
        assert first_failure(bot).kind == "timeout"
    assert (tmp_path / "log").read_text() == "holds\n"


ORPHAN = """
from tests.service.local_arena.test_bots import HERE, TASK, APE, Hosted
bot = Hosted(APE, f"{HERE}:computes", 100.0, None)
bot.start()
print(bot._process._process.pid, flush=True)
bot.answer(TASK, lambda: bytes(32))
"""


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()


def test_a_bot_that_computes_without_end_ends_when_its_job_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], cwd=ROOT, stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        bot = int(job.stdout.readline())
        assert is_running(bot)
        job.kill()
    until(lambda: not is_running(bot), 20, "the bot ends")


def hang(*_: Any) -> Any:
    while True:
        with suppress(Exception):
            bytes(1000)


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


@pytest.mark.parametrize(("bot", "kind"), [(hang, "timeout"), (fail, "crash")])
def test_a_built_in_bot_has_the_same_limits(bot: Callable[..., Any], kind: FailureKind) -> None:
    assert first_failure(BuiltIn(bot, 0.05)).kind == kind
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
