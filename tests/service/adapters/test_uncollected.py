"""Garbage collection at the start of a process."""

import gc
import subprocess
import sys
from contextlib import suppress
from typing import Final

import pytest

from service.adapters.uncollected import uncollected
from tests.serving import ROOT

MODULE: Final = "import runpy; runpy.run_module({!r}, run_name='imported')"
COMMAND: Final = "from service.ops.cli import main; main([{!r}, '--help'], standalone_mode=False)"
STARTS: Final = {
    "API": MODULE.format("api.__main__"),
    "process of the API": """
from api.server.factory import factory
from service.settings import read
no_server = "unix:///no/server"
factory(read({"MOONSTONE_LOG_URL": no_server, "MOONSTONE_QUEUE_URL": no_server}))(lambda: False)
""",
    "worker": MODULE.format("workers.__main__"),
    "calls": MODULE.format("workers.calls"),
    "job of an arena": MODULE.format("service.arena.job"),
    "bot of an arena": MODULE.format("service.arena.bot_process"),
    "command that needs Unix": COMMAND.format("serve"),
    "command that runs anywhere": COMMAND.format("play"),
}
REPORT: Final = "; import gc, sys; sys.exit(f'{gc.isenabled()} {gc.get_freeze_count()} {len(gc.get_objects())}')"


@pytest.mark.parametrize("start", STARTS)
def test_what_a_process_imports_is_exempt_and_the_collector_is_on(start: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{STARTS[start].strip()}{REPORT}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    is_on, exempt, collected = done.stderr.splitlines()[-1].split()
    assert is_on == "True"
    assert int(exempt) > 20 * int(collected)


def test_the_collector_is_on_again_after_an_import_that_fails() -> None:
    with suppress(ImportError), uncollected():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_a_block_inside_another_leaves_the_collector_off() -> None:
    with uncollected():
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
