"""Surviving mutants in the output of mutmut are counted by module, and too many of them are reported."""

import tomllib
from pathlib import Path

from tests.chaos.survivors import MAX_ALIVE, alive, too_many

ROOT = Path(__file__).parents[2]


def test_every_mutated_module_has_a_maximum() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    assert {name.removesuffix(".py").replace("/", ".") for name in config["only_mutate"]} == set(MAX_ALIVE)
    assert all((ROOT / name).is_file() for name in config["only_mutate"])
    selected = [name for name in config["pytest_add_cli_args_test_selection"] if not name.startswith("-")]
    assert all((ROOT / name).exists() for name in selected)


def test_an_unexpected_survivor_and_a_mutant_that_was_not_run_are_reported() -> None:
    few = "".join(
        f"    events.chain.x_seal__mutmut_{number}: survived\n" for number in range(MAX_ALIVE["events.chain"])
    )
    timed_out = "    events.chain.x_seal__mutmut_98: timeout\n"
    assert not [*too_many(alive(few + timed_out))]
    (report,) = too_many(alive(few + "    events.chain.x_seal__mutmut_99: not checked\n"))
    assert (
        report
        == f"events.chain: 1 not checked, {MAX_ALIVE['events.chain']} survived; {MAX_ALIVE['events.chain']} at most may survive"
    )
