"""Any record becomes one line that programs can parse, and contains no secret."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from service.observability.logfmt import Logfmt
from service.usecases.accounts import new_token

ROOT = Path(__file__).parents[3]


def line(message: str, **more: object) -> str:
    record = logging.LogRecord("moonstone.test", logging.WARNING, "", 0, message, (), None)
    record.created, record.msecs, record.process = 1_700_000_000.25, 250.0, 7
    vars(record).update(more)
    return Logfmt().format(record)


HEAD = "at=2023-11-14T22:13:20.250Z level=warning logger=moonstone.test pid=7"


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("ready", "ready"),
        ("two words", '"two words"'),
        ('a "b"=c', r'"a \"b\"=c"'),
        ("", '""'),
        ("one\ntwo\u2028three", r'"one\ntwo\u2028three"'),
        ("äöü", r'"\u00e4\u00f6\u00fc"'),
    ],
)
def test_a_message_is_one_value_of_one_line(message: str, written: str) -> None:
    assert line(message) == f"{HEAD} message={written}"


def test_fields_follow_the_message_and_a_traceback_comes_last() -> None:
    assert line("request", fields={"route": "/v1/matches/<match_id>", "ms": 1.5}) == (
        f"{HEAD} message=request route=/v1/matches/<match_id> ms=1.5"
    )
    try:
        dict[str, int]()["card"]
    except KeyError:
        text = line("failed", exc_info=sys.exc_info())
    assert len(text.splitlines()) == 1
    error = json.loads(text.partition(" error=")[2]).splitlines()
    assert error[0].startswith(f'  File "{__file__}", line ')
    assert error[-1] == "KeyError"


def test_tokens_and_passwords_are_masked() -> None:
    token, ticket = new_token(), f"tick_{'a1' * 21}b"
    text = line(
        f"Bearer {token} at /stream?ticket={ticket}, redis://me:hunter2@log:6379/0, http://:hunter2@x and unix:///run/log.sock"
    )
    assert json.loads(text.partition("message=")[2]) == (
        "Bearer moon_*** at /stream?ticket=tick_***, redis://***@log:6379/0, http://***@x and unix:///run/log.sock"
    )


FAULTS = """
import sys, threading, warnings
from service.observability.logfmt import log_to_stderr
log_to_stderr()
warnings.warn("old")
thread = threading.Thread(target=lambda: 1 / 0, name="sweeper")
thread.start()
thread.join()
class Odd:
    def __del__(self):
        raise KeyError("the card 7")
Odd()
{}["the card 7"]
"""


def test_uncaught_exceptions_are_logged_in_the_same_form() -> None:
    done = subprocess.run([sys.executable, "-c", FAULTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    warning, thread, unraisable, process = done.stderr.splitlines()
    assert "level=warning logger=py.warnings" in warning
    assert 'message="thread sweeper ends with an uncaught exception" error=' in thread
    assert 'message="an exception could not be raised" error=' in unraisable
    assert 'message="the process ends with an uncaught exception" error=' in process
    assert "the card 7" not in done.stderr.replace('[\\"the card 7\\"]', "").replace('KeyError(\\"the card 7\\")', "")
