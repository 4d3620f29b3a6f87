"""MON-40 and MON-41: the final scoring."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from service.games.protocol import Outcome
from tests.service.games.monsters_on_the_moon.builders import random_match, table, with_display, with_holdings
from tests.service.games.rng import ScriptedRng


def ended(picture: str, *, seats: int = 2, crystals: Sequence[int] = (), interim: Sequence[int] = ()) -> State:
    """A finished match with this picture, and these points from the track and the interim scoring."""
    state = replace(with_display(table(seats), picture), step=None, awaited=None)
    for seat in range(seats):
        state = with_holdings(
            state,
            seat,
            hand=(),
            crystals=crystals[seat] if crystals else 0,
            interim_singles=interim[seat] if interim else 0,
        )
    return state


def score(state: State) -> Outcome:
    return GAME.score(state, ScriptedRng())


PRINTED = """
W . W . W . WW . WW
. . . . . . . . .
W W . W W . WW . .
. . . W W . . . .
"""
"""Three single heads, and groups of 2, 2, 2, 4 and 2 heads."""


def test_mon_40_worked_example_the_printed_score_sheet() -> None:
    state = ended(PRINTED + "\n. . .\nWW . .\n", crystals=(6, 0))
    state = with_holdings(state, 0, interim_singles=3, interim_groups=8)
    outcome = score(state)
    assert outcome.breakdown[0] == {
        "interim_singles": 3,
        "interim_groups": 8,
        "singles": 3,
        "groups": 28,
        "largest_group": 8,
        "crystals": 6,
        "mission": 0,
    }
    assert outcome.scores[0] == 56


@pytest.mark.parametrize(
    ("picture", "bonus"),
    [("H", 0), ("W . W", 0), ("WW", 4), ("W W . W W W", 6), ("WW W . W W", 6), ("W W\nW W\nWW .", 12)],
)
def test_mon_40_mon_41_two_more_points_for_each_head_of_one_largest_group(picture: str, bonus: int) -> None:
    assert score(ended(picture)).breakdown[0]["largest_group"] == bonus


def test_mon_40_each_seat_scores_its_own_monster_and_spaceships_score_nothing() -> None:
    outcome = score(ended("W W . H . V\nc c . HH", seats=3, crystals=(1, 2, 3)))
    assert outcome.scores == (4 + 4 + 1, 6 + 6 + 2, 1 + 3)
    assert score(with_holdings(ended("W"), 0, ships=0)).scores == score(ended("W")).scores


def test_mon_40_the_interim_points_count_as_they_were() -> None:
    state = with_holdings(ended("H"), 0, interim_singles=7, interim_groups=20)
    assert score(state).scores == (27, 1)


def test_mon_41_the_breakdown_adds_up_and_has_the_named_parts() -> None:
    *_, (state, _) = random_match(4, 3)
    outcome = score(state)
    for points, parts in zip(outcome.scores, outcome.breakdown, strict=True):
        assert points == sum(parts.values())
        assert list(parts) == [
            "interim_singles", "interim_groups", "singles", "groups", "largest_group", "crystals", "mission",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("crystals", "interim", "ranks"),
    [
        ((0, 0, 0), (5, 7, 6), (3, 1, 2)),
        ((2, 5, 2), (5, 2, 5), (2, 1, 2)),
        ((3, 3, 3), (1, 1, 0), (1, 1, 3)),
        ((4, 3, 2), (0, 1, 2), (1, 2, 3)),
        ((0, 0, 0), (0, 0, 0), (1, 1, 1)),
    ],
)
def test_mon_41_most_points_then_most_crystal_points_then_shared(
    crystals: tuple[int, ...], interim: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    outcome = score(ended("c", seats=3, crystals=crystals, interim=interim))
    assert outcome.ranks == ranks
    assert outcome.winners == tuple(seat for seat, rank in enumerate(ranks) if rank == 1)


def test_mon_41_fields_of_the_same_points_tie() -> None:
    state = ended("c", crystals=(1, 1))
    assert score(with_holdings(with_holdings(state, 0, field=1), 1, field=2)).ranks == (1, 1)


def test_mon_41_no_draw_is_made() -> None:
    rng = ScriptedRng()
    GAME.score(ended("c"), rng)
    assert rng.drawn == []
