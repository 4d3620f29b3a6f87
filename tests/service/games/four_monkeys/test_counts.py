"""Numbers of action sequences from fixed deals. They change only if the rules change."""

import pytest

from tests.length import LONG
from tests.service.games.four_monkeys.tables import TABLES
from tests.service.games.matches import Table, nodes


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "counts"),
    [(TABLES[0], [1, 15, 233, 3701]), (TABLES[1], [1, 25, 628]), (TABLES[5], [1, 61, 3834])],
    ids=lambda part: part.name if isinstance(part, Table) else "",
)
def test_a_match_has_a_fixed_number_of_openings(table: Table, counts: list[int]) -> None:
    """In the short form, up to a thousand sequences."""
    counts = [count for count in counts if LONG or count < 1_000]
    assert [nodes(table, plies) for plies in range(len(counts))] == counts
