"""Every mutation fits the sources; `make mutations` applies them and runs their tests."""

import pytest

from tests.chaos.mutations import MUTATIONS
from tests.chaos.mutations_written import ROOT, Mutation
from tests.chaos.test_matrix import functions


def test_there_are_enough_mutations_and_no_two_are_the_same() -> None:
    assert len({(mutation.file, mutation.old, mutation.new) for mutation in MUTATIONS}) == len(MUTATIONS) >= 20


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.fault)
def test_the_text_of_a_mutation_occurs_once_and_its_test_exists(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    assert mutation.old != mutation.new
    path, _, name = mutation.test.partition("::")
    parts = name.partition("[")[0].split("::")
    found = functions(path) if len(parts) == 1 else functions("tests/events/log_contract.py")
    assert parts[-1] in found


def test_the_cases_that_mutations_name_exist(request: pytest.FixtureRequest) -> None:
    """Of the tests that this run has collected: in a run of all tests, every case is looked up."""
    cases: dict[str, set[str]] = {}
    for item in request.session.items:
        cases.setdefault(item.nodeid.partition("[")[0], set()).add(item.nodeid)
    named = [mutation.test for mutation in MUTATIONS if "[" in mutation.test]
    assert [name for name in named if name not in cases.get(name.partition("[")[0], {name})] == []
