"""No type is met first when a process has threads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_decoders_are_made_before_there_are_threads() -> None:
    """In a process of its own, because msgspec keeps what it has made of a type."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.service.first_use"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == ""
