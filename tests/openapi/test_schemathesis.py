"""Schemathesis: every operation, every check, stateful links.

The long form sends many thousand requests, with another seed each time, which schemathesis prints.
"""

import secrets
from pathlib import Path

import pytest

from tests.length import LENGTH, LONG
from tests.openapi.schemathesis_run import run, serving


@pytest.mark.long
def test_schemathesis_finds_nothing_and_every_operation_succeeds(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        report = run(world, 2 * LENGTH, seed=secrets.randbelow(2**32) if LONG else 1, seconds=7200)
    print(*(f"{count:7} {answer}" for answer, count in sorted(report.answers.items())), sep="\n")
    assert not report.failed, report.text
    assert report.gaps() == []
    assert not [answer for answer in report.answers if answer.split()[1].startswith("5")]
