"""Walls by their edges and points (MON-62)."""

import pytest

from service.games.monsters_on_the_moon.edges import Edge, Length, Span, span_from
from service.games.monsters_on_the_moon.grid import DOWN, RIGHT

CELL = 3 * DOWN + 2 * RIGHT
ABOVE, LEFT = 2 * CELL, 2 * CELL + 1
"""The edge above the cell, and the edge left of it."""


@pytest.mark.parametrize(
    ("first", "length", "expected"),
    [
        (ABOVE, 1, Span((ABOVE,), (CELL, CELL + RIGHT))),
        (LEFT, 1, Span((LEFT,), (CELL, CELL + DOWN))),
        (ABOVE, 2, Span((ABOVE, ABOVE + 2 * RIGHT), (CELL, CELL + RIGHT, CELL + 2 * RIGHT))),
        (LEFT, 2, Span((LEFT, LEFT + 2 * DOWN), (CELL, CELL + DOWN, CELL + 2 * DOWN))),
    ],
)
def test_a_wall_runs_to_the_right_or_down_from_its_first_edge(first: Edge, length: Length, expected: Span) -> None:
    span_from.cache_clear()  # another test may have asked for this wall
    found = span_from(first, length)
    assert (found, found.crossing) == (expected, expected.points[1] if length == 2 else None)
