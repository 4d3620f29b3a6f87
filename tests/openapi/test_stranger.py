"""Schemathesis, in its short form: every operation, every check, stateful links; the long form is `make stranger`."""

from pathlib import Path

from tests.openapi.stranger import run, serving


def test_schemathesis_finds_nothing_and_every_operation_succeeds(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        report = run(world, 2, seed=1, seconds=1800)
    assert not report.failed, report.text
    assert report.lacks() == []
    assert not [answer for answer in report.answers if answer.split()[1].startswith("5")]
