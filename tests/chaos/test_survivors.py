"""What mutmut prints is counted by module, and a mutant too many is told."""

import tomllib
from pathlib import Path

from tests.chaos.survivors import MOST, alive, too_many

ROOT = Path(__file__).parents[2]


def test_every_module_that_is_mutated_has_a_number() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    assert {name.removesuffix(".py").replace("/", ".") for name in config["only_mutate"]} == set(MOST)
    assert all((ROOT / name).is_file() for name in config["only_mutate"])
    selected = [name for name in config["pytest_add_cli_args_test_selection"] if not name.startswith("-")]
    assert all((ROOT / name).exists() for name in selected)


def test_an_unexpected_survivor_and_a_mutant_that_was_not_run_are_reported() -> None:
    few = "".join(f"    events.chain.x_seal__mutmut_{number}: survived\n" for number in range(MOST["events.chain"]))
    timed_out = "    events.chain.x_seal__mutmut_98: timeout\n"
    assert not [*too_many(alive(few + timed_out))]
    (told,) = too_many(alive(few + "    events.chain.x_seal__mutmut_99: not checked\n"))
    assert (
        told == f"events.chain: 1 not checked, {MOST['events.chain']} survived; {MOST['events.chain']} at most may live"
    )
