"""The laws find faults: each faulty toy breaks its own law and no other, and each law has a toy that breaks it."""

from collections.abc import Callable, Iterable

import pytest

from tests.length import LONG
from tests.service.games import broken, broken_pictures, broken_sight
from tests.service.games.broken import Fault
from tests.service.games.matches import Table
from tests.service.games.test_laws import LAWS

FAULTS = (*broken.FAULTS, *broken_sight.FAULTS, *broken_pictures.FAULTS)


def broken_laws(table: Table, laws: Iterable[Callable[[Table], None]]) -> set[str]:
    found = set()
    for law in laws:
        try:
            law(table)
        except Exception:  # noqa: BLE001 (a fault may show as any error)
            found.add(law.__name__)
    return found


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.table.name)
def test_a_fault_breaks_its_own_law_and_no_other(fault: Fault) -> None:
    """The short form does not try the other laws."""
    assert broken_laws(fault.table, LAWS if LONG else [fault.law]) == {fault.law.__name__}


def test_each_law_is_broken_by_a_fault() -> None:
    assert {fault.law for fault in FAULTS} == set(LAWS)
