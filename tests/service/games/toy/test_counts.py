from tests.service.games.matches import nodes
from tests.service.games.toy.tables import TABLES


def test_a_match_of_2_has_a_fixed_number_of_openings() -> None:
    # Six commits and the timer. Then three commits of the other seat and the timer, or two ways to swap for each seat.
    assert [nodes(TABLES[0], plies) for plies in range(5)] == [1, 7, 28, 104, 248]
