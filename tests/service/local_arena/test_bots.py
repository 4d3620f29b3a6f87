"""Bots in their own processes, and bots in the process of a job: limits, failures and inputs."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from service.arena.bots import BuiltIn, seated, versions
from service.arena.called import Called
from service.arena.entries import same_bots
from service.arena.hosted import CannotStart, Changed, Hosted
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


def local(*arguments: Any) -> Hosted | BuiltIn:
    """A bot that plays on this machine, as `seated`."""
    bot = seated(*arguments)
    assert not isinstance(bot, Called)
    return bot


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
        ("no_such_module:play", f"used: No module named 'no_such_module' in {Path.cwd()}.$"),
        ("tests.no_such_module:play", f"used: No module named 'tests.no_such_module' in {Path.cwd()}.$"),
        (f"{HERE}:no_such_function", f"used: no_such_function is not a function of {HERE}.$"),
        (f"{HERE}:no_function", f"used: no_function is not a function of {HERE}.$"),
    ],
)
def test_a_bot_that_cannot_be_imported_is_reported_before_the_first_match(name: str, fault: str) -> None:
    with pytest.raises(CannotStart, match=fault):
        seated(APE, name, 1.0, None)


def bot_in(folder: Path, segment: int) -> str:
    """A bot whose own `strategy` takes this entry of the list; returns its name."""
    folder.mkdir()
    (folder / "strategy.py").write_text(f"ENTRY = {segment}\n")
    (folder / "mine.py").write_text(
        "from pathlib import Path\nfrom strategy import ENTRY\n\n"
        "def play(task, rng):\n    assert Path('strategy.py').exists()\n    return task.legal_actions[ENTRY]\n"
    )
    return f"{folder}/mine:play"


def test_a_bot_of_another_folder_imports_its_own_files_and_runs_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = (bot_in(tmp_path / name, entry) for entry, name in enumerate(("new", "old")))
    monkeypatch.chdir(tmp_path / "new")
    chosen = []
    for name in ("mine:play", old):
        player = local(APE, name, 10.0, None)
        chosen.append(player.answer(TASK, lambda: bytes(32)))
        player.close()
    assert chosen == list(TASK.legal_actions[:2])
    found = versions(APE, (new, "mine:play", old), 10.0, None)
    assert found[0] == found[1] != found[2]
    assert same_bots((new, "mine:play", old), found) == [(new, "mine:play")]


def test_a_bot_whose_files_change_is_not_started_again(tmp_path: Path) -> None:
    name = bot_in(tmp_path / "bot", 0)
    player = local(APE, name, 10.0, None)
    (tmp_path / "bot" / "strategy.py").write_text("ENTRY = 1 + 1\n")
    player.close()
    with pytest.raises(Changed, match="has changed since the run began"):
        player.begin()


PROGRAM = """
import json, sys
print(json.dumps({ready}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "task" in asked:
        print({answer}, flush=True)
"""
FIRST = "json.dumps({'action': asked['task']['legal_actions'][0]})"


def program(folder: Path, answer: str, ready: str = "{'ready': True}") -> str:
    """A program that answers each task so; returns its name."""
    (folder / "program.py").write_text(PROGRAM.format(answer=answer, ready=ready))
    return f"{sys.executable} {folder}/program.py"


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        ("'{}'", "nonsense", "its answer has no action"),
        (
            "'hello'",
            "nonsense",
            "JSON is malformed: invalid character (byte 0), in the line on its stdout that begins: hello",
        ),
        ("json.dumps({'error': 'Error: oops\\n    at choose (strategy.mjs:2)'})", "crash", "Error: oops at choose"),
        ("json.dumps({'error': 'no idea'})", "crash", "no idea"),
        ("json.dumps({'action': {'type': 'win'}})", "nonsense", "no action of this game"),
        (f"{FIRST} + '\\nthinking'", "nonsense", ""),
        ("sys.exit(3)", "crash", "its process ended with status 3"),
        ("[1 for _ in iter(int, 1)]", "timeout", "no answer within"),
    ],
)
def test_a_failure_of_a_program_is_reported(tmp_path: Path, answer: str, kind: FailureKind, detail: str) -> None:
    player = local(APE, program(tmp_path, answer), LIMIT_MS / 1000, None)
    failed = first_failure(player)
    assert (failed.kind, failed.detail[: len(detail)]) == (kind, detail)
    player.close()


def test_a_program_in_any_language_answers_and_ends_with_its_stdin(tmp_path: Path) -> None:
    player = local(APE, program(tmp_path, FIRST), 10.0, None)
    assert list(answers(player, 3)) == [TASK.legal_actions[0]] * 3
    assert isinstance(player, Hosted)
    assert player._process is not None
    assert player._process.end() == 0


@pytest.mark.parametrize(
    ("ready", "fault"),
    [
        ("{}", 'its first line must be {"ready": true}'),
        ("{'error': 'no engine'}", "cannot be used: no engine"),
        ("sys.exit(7)", "its process ended with status 7 before it was ready; --bot-log FILE keeps what it prints."),
        (
            "print('Hello') or {'ready': True}",
            "nothing else may be on stdout: JSON is malformed: invalid character (byte 0), in",
        ),
    ],
)
def test_a_program_that_is_not_ready_is_reported(tmp_path: Path, ready: str, fault: str) -> None:
    with pytest.raises(CannotStart, match=re.escape(fault)):
        seated(APE, program(tmp_path, FIRST, ready), 10.0, None)


def test_the_version_of_a_program_is_what_it_says_or_else_its_files(tmp_path: Path) -> None:
    name = program(tmp_path, FIRST, "{'ready': True, 'version': '1.7'}")
    assert versions(APE, (name,), 10.0, None) == ("1.7",)
    name = program(tmp_path, FIRST)
    first = versions(APE, (name,), 10.0, None)
    (tmp_path / "beside.py").write_text("pass\n")
    assert versions(APE, (name,), 10.0, None) != first


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
