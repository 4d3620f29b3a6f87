"""A replay: the points after each version, and the effects between two versions."""

import pytest

from service.games.registry import GAMES
from service.match.new_match import NewMatch
from service.usecases.match_lifecycle import create
from service.views.replay import changes, moments
from tests.service.arena import Arena


@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        ("ape_town", 2, {}),
        ("four_monkeys", 2, {}),
        ("monkeys_on_the_moon", 2, {}),
        ("monsters_on_the_moon", 1, {}),
        ("monsters_on_the_moon", 2, {"missions": "secret"}),
    ],
)
def test_each_version_has_its_points_and_the_first_has_none(game: str, seats: int, options: dict[str, object]) -> None:
    arena = Arena(*GAMES.values())
    wanted = NewMatch(game=game, seats=seats, options=options, manual_start=False)
    table = create(arena.ports, "anna", wanted, "create").match.id
    match = arena.match(arena.join(table, *(f"player {seat}" for seat in range(seats))))
    found = list(moments(arena.ports.history, match, None, "en", 0, 100))
    assert [moment.version for moment in found] == list(range(1, match.head.version + 1))
    assert found[0].points is None
    assert [moment.points for moment in found[1:]] == [
        arena.ports.history.at(match.id, moment.version).points(None) for moment in found[1:]
    ]
    assert found[-1].points is not None
    assert len(found[-1].points) == seats
    later = list(moments(arena.ports.history, match, 0, "de", 2, 1))
    assert [moment.version for moment in later] == [3][: match.head.version - 2]
    assert list(moments(arena.ports.history, match, None, "en", match.head.version, 1)) == []
    assert match.origin.version == 0
    effects = changes(arena.ports.history, match, None, "en", 0, match.head.version)
    assert {effect.version for effect in effects} == {match.head.version}


def test_the_points_of_a_match_that_is_over_are_its_scores() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.play_out(table)
    assert match.outcome is not None
    assert match.points(None) == match.outcome.scores
    assert match.origin.version == 0
