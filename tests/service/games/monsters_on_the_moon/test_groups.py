"""MON-30: groups of equal monsters, and their points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.games.monsters_on_the_moon.components import Kind
from service.games.monsters_on_the_moon.grid import cell_at, coordinates_of
from service.games.monsters_on_the_moon.groups import Count, count, groups, heads_of
from service.games.monsters_on_the_moon.squares import Square
from tests.service.games.monsters_on_the_moon.builders import display_of


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("H V", Count(0, 0, 0)),
        ("W", Count(1, 0, 0)),
        ("W W", Count(0, 4, 2)),
        ("W\nW", Count(0, 4, 2)),
        ("W .\n. W", Count(2, 0, 0)),
        ("WW", Count(0, 4, 2)),
        ("WW W", Count(0, 6, 3)),
        ("W H W W\nW . V W\nW W W W", Count(0, 18, 9)),
        ("W W . WW\n. . . W", Count(0, 10, 3)),
        ("W . W . W\n. H . H\nW . WW", Count(4, 4, 2)),
    ],
)
def test_mon_30_a_single_head_counts_one_and_each_head_of_a_group_two(picture: str, expected: Count) -> None:
    assert count(display_of(picture), "werewolf") == expected


def test_mon_30_worked_example_three_single_heads_and_four_in_a_group() -> None:
    found = count(display_of("W H W W\nV W H W\nW V H W"), "werewolf")
    assert (found.singles, found.groups) == (3, 8)
    assert found.singles + found.groups == 11


def test_mon_30_groups_stretch_across_cards() -> None:
    display = display_of("W W")
    assert {square.card for square in display.values()} == {"card 0 0", "card 1 0"}
    assert count(display, "werewolf").groups == 4


CELLS = st.dictionaries(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)),
    st.tuples(st.sampled_from(("werewolf", "witch", "crystal")), st.integers(1, 2)),
)


def connected_components(squares: set[tuple[int, int]]) -> set[frozenset[tuple[int, int]]]:
    """The connected components of these squares, computed by networkx."""
    import networkx as nx  # type: ignore[import-untyped]  # noqa: PLC0415  (not in every test process)

    graph = nx.Graph()
    graph.add_nodes_from(squares)
    graph.add_edges_from(((x, y), side) for x, y in squares for side in ((x + 1, y), (x, y + 1)) if side in squares)
    return {frozenset(group) for group in nx.connected_components(graph)}


@given(CELLS)
def test_groups_equal_those_of_networkx(cells: dict[tuple[int, int], tuple[Kind, int]]) -> None:
    display = {cell_at(x, y): Square("card", kind, heads) for (x, y), (kind, heads) in cells.items()}
    kinds: tuple[Kind, ...] = ("werewolf", "witch", "crystal", "vampire")
    for kind in kinds:
        own = {cell for cell, (shown, _) in cells.items() if shown == kind}
        found = groups(display, kind)
        assert {frozenset(coordinates_of(cell) for cell in group.cells) for group in found} == connected_components(own)
        assert len(found) == len(connected_components(own))
        for group in found:
            assert group.heads == sum(cells[coordinates_of(cell)][1] for cell in group.cells)
        assert heads_of(display, kind) == sum(cells[cell][1] for cell in own)
