"""Numbers of action sequences from fixed deals. They change whenever the legal actions change."""

from collections.abc import Sequence
from itertools import islice

import pytest

from service.games.ape_town.state import State
from tests.service.games.ape_town.builders import default_line, legal, play, table


def nodes(state: State, depth: int) -> int:
    """The number of sequences with this many actions."""
    actions = legal(state)
    if depth == 1:
        return len(actions)
    return sum(nodes(play(state, action), depth - 1) for action in actions)


def ends(state: State) -> int:
    """The number of sequences that lead to the end of the match."""
    actions = legal(state)
    return sum(ends(play(state, action)) for action in actions) if actions else 1


def after_plies(seats: int, plies: int) -> State:
    """The state of the fixed deal after this many first legal actions."""
    return next(islice(default_line(table(seats)), plies, None))


@pytest.mark.unmeasured
@pytest.mark.parametrize(("seats", "counts"), [(2, (7, 175, 1225, 30325)), (4, (7, 175, 1225, 30325))])
def test_the_first_actions(seats: int, counts: Sequence[int]) -> None:
    assert tuple(nodes(table(seats), depth) for depth in (1, 2, 3, 4)) == counts


@pytest.mark.parametrize(("plies", "counts"), [(50, (7, 117, 819)), (51, (17, 119, 1955)), (130, (7, 23, 161))])
def test_actions_in_mid_match(plies: int, counts: Sequence[int]) -> None:
    assert tuple(nodes(after_plies(3, plies), depth) for depth in (1, 2, 3)) == counts


@pytest.mark.unmeasured
@pytest.mark.parametrize(("plies", "count"), [(144, 912), (146, 60)])
def test_all_lines_to_the_end(plies: int, count: int) -> None:
    assert ends(after_plies(3, plies)) == count
