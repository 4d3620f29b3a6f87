"""`python -m tests.chaos.mutate`: applies each mutation to a copy of the sources and runs the test that must fail."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.chaos.mutations import MUTATIONS
from tests.chaos.mutations_written import ROOT

FOUND: Final = 1
"""pytest's exit code if a test failed or hung; any other code means that the mutated code does not run."""
_LIMIT: Final = ("-o", "faulthandler_timeout=120", "-o", "faulthandler_exit_on_timeout=true")
"""A mutation may make its test hang, for example because the mutated service starts where it should refuse to."""


def _copy(folder: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def _exit_code(folder: Path, *tests: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *_LIMIT, *tests]
    environ = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False).returncode


def survivors() -> Iterator[str]:
    """The mutations that do not make their test fail."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copy(folder)
        if code := _exit_code(folder, *sorted({mutation.test for mutation in MUTATIONS})):
            yield f"the tests do not pass without a mutation (exit code {code} of pytest)"
            return
        for mutation in MUTATIONS:
            file = folder / mutation.file
            whole = file.read_text(encoding="utf-8")
            file.write_text(whole.replace(mutation.old, mutation.new), encoding="utf-8")
            code = _exit_code(folder, mutation.test)
            file.write_text(whole, encoding="utf-8")
            print(f"{'found' if code == FOUND else 'SURVIVES'}: {mutation.fault}", flush=True)
            if code != FOUND:
                yield f"{mutation.fault}: {mutation.test} has exit code {code}"


if __name__ == "__main__":
    sys.exit("\n".join(survivors()) or None)
