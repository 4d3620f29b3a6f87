"""Seeks with limits of rating, and rated ones."""

import pytest

from service.automation.pairing import put_together
from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.match.rating import Rating, Standing
from service.usecases.seeking import find, seek
from tests.service.arena import Arena
from tests.service.automation.seeks import GAME, id_of, seeks


def rate_as(arena: Arena, mus: dict[str, int]) -> None:
    """Give players these skills, in millions of millionths; all others have 25 and are shown as 1000."""
    standings = {player: Standing("human", Rating(mu * 1_000_000, 25_000_000 // 3)) for player, mu in mus.items()}
    arena.ports.ratings._games[GAME].standings = standings  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("limits", "together"),
    [
        ({}, {"anna", "ben"}),
        ({"anna": (1100, None)}, {"anna", "carl"}),
        ({"anna": (None, 999), "ben": (1000, 1000)}, {"carl", "dora"}),
        ({"carl": (1200, None)}, {"anna", "ben"}),
        ({"anna": (1100, 1199), "carl": (1001, None)}, {"anna", "dora"}),
        ({"anna": (1200, None), "ben": (1200, None), "carl": (1200, None), "dora": (1200, None)}, set()),
    ],
)
def test_everyone_accepts_everyone_s_rating_and_who_waits_longest_is_first(
    limits: dict[str, tuple[int | None, int | None]], together: set[str]
) -> None:
    arena = Arena()
    rate_as(arena, {"carl": 28, "dora": 28})  # shown as 1120
    for player in ("anna", "ben", "carl", "dora"):
        lowest, highest = limits.get(player, (None, None))
        seek(arena.ports, player, NewMatch(GAME, 2), "k", 600, rating_from=lowest, rating_to=highest)
        arena.ports.seeks.see(player)
        arena.wait(1)
    put_together(arena.ports)
    matches = [find(arena.ports, player, id_of(arena, player)).match for player in ("anna", "ben", "carl", "dora")]
    first = next((match for match in matches if match is not None), None)
    found = {} if first is None else arena.match(first).players
    assert set(found) == together


def test_rated_seeks_lead_to_a_rated_match_and_meet_no_others() -> None:
    arena = Arena()
    clock = MatchClock(turn_seconds=60)
    seeks(arena.ports, "anna", clock=clock)
    for player in ("ben", "carl"):
        seeks(arena.ports, player, clock=clock, rated=True)
    assert put_together(arena.ports) == 1
    match = arena.match(find(arena.ports, "ben", id_of(arena, "ben")).match or "")
    assert match.created.rated is True
    assert match.players == {"ben", "carl"}
