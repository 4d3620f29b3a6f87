"""Options: strict parsing, defaults and refusals. MON-1, MON-4 and MON-83 are tested in other files."""

import msgspec
import pytest

from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.options import Options
from service.games.protocol import BadOptions


def test_the_defaults() -> None:
    assert GAME.options(2, {}) == Options("just_landed", ("werewolf", "witch"), None, walls=False)
    assert GAME.options(4, {}).monsters == ("werewolf", "witch", "vampire", "skeleton")
    assert GAME.options(3, {"walls": False, "missions": None}) == GAME.options(3, {})


@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_options_survive_their_json_form(seats: int) -> None:
    layout = [{"card": card, "x": 3 * at, "y": 0, "rotation": 180} for at, card in enumerate(("d1", "M2", "d2"))]
    chosen = GAME.options(seats, {"layout": layout})
    assert GAME.options(seats, msgspec.to_builtins(chosen)) == chosen


@pytest.mark.parametrize("seats", [0, 5, -1])
def test_the_game_is_for_one_to_four(seats: int) -> None:
    with pytest.raises(BadOptions, match="1 to 4"):
        GAME.options(seats, {})


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_walls_are_for_two_to_four(seats: int) -> None:
    assert GAME.options(seats, {"walls": True}).walls


@pytest.mark.parametrize(
    "given",
    [{"missions": "hidden"}, {"missions": True}, {"walls": 0}, {"wals": False}, {"layout": 3}, {"monsters": []}],
)
def test_other_values_and_names_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(BadOptions):
        GAME.options(2, given)
