"""MON-4: the start layout."""

import pytest

from service.games.monsters_on_the_moon.game import GAME
from service.games.protocol import BadOptions
from tests.service.games.monsters_on_the_moon.builders import at, deck, legal, table

LAYOUTS = {
    "just_landed": "M1 0 0, ARM 3 0, M2 6 0, d1 1 2, d2 4 2",
    "neighbourhood": "M1 0 0, d1 3 0, ARM 0 2, d2 3 2, M2 6 1",
    "confrontation": "d1 0 0, d2 3 0",
    "new_settlement": "d2 -3 0, ARM 0 0, d1 3 0",
    "long_ways": "d1 0 0, M1 3 0, ARM 6 0, M2 9 0, d2 12 0",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_mon_4_a_printed_layout_lies_as_named(name: str) -> None:
    state = table(3, deck=deck(3), options={"layout": name})
    drawn = {"d1": deck(3)[3], "d2": deck(3)[4]}
    expected = [written.split() for written in LAYOUTS[name].split(", ")]
    assert [(one.card, one.x, one.y, one.rotation, one.seat) for one in state.laid] == [
        (drawn.get(card, card), int(x), int(y), 0, None) for card, x, y in expected
    ]
    assert len(state.display) == 6 * len(expected)
    assert state.pile == deck(3)[5:]


def test_mon_4_just_landed_is_the_default() -> None:
    assert table().laid[1].card == "ARM"
    assert GAME.options(2, {}).layout == "just_landed"


def lay(card: str, x: int, y: int, rotation: int = 0) -> dict[str, object]:
    return {"card": card, "x": x, "y": y, "rotation": rotation}


def test_mon_4_a_layout_of_ones_own_lies_as_given_with_cards_turned_clockwise() -> None:
    layout = [lay("d2", -3, 5, 90), lay("ARM", -1, 5, 270), lay("d1", 1, 6, 180)]
    state = table(2, deck=deck(2), options={"layout": layout})
    assert [(one.card, one.x, one.y, one.rotation) for one in state.laid] == [
        ("A12", -3, 5, 90),
        ("ARM", -1, 5, 270),
        ("A11", 1, 6, 180),
    ]
    # A12 is W H V over V c W: turned by 90 degrees, its left column is its lower row
    assert [at(state, x, y).shows for y in (5, 6, 7) for x in (-3, -2)] == [
        "vampire", "werewolf", "crystal", "witch", "werewolf", "vampire",
    ]  # fmt: skip
    # ARM is e A e over e B e: turned by 270 degrees, its left column is its upper row from the right
    assert (at(state, -1, 6).shows, at(state, 0, 6).shows) == ("armstrong", "base_camp")
    # A11 is c HH... no double: c H H over V V W, upside down W V V over H H c
    assert [at(state, x, y).shows for y in (6, 7) for x in (1, 2, 3)] == [
        "werewolf", "vampire", "vampire", "witch", "witch", "crystal",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("layout", "fault"),
    [
        ([lay("d1", 0, 0), lay("ARM", 3, 0)], "d1 and d2"),
        ([lay("d1", 0, 0), lay("d2", 3, 0), lay("d2", 6, 0)], "used once"),
        ([lay("d1", 0, 0), lay("d2", 2, 0)], "overlap"),
        ([lay("d1", 0, 0), lay("d2", 2, 1)], "overlap"),
        ([lay("d1", 0, 0), lay("d2", 3, 2)], "connected by shared edges"),  # corner to corner
        ([lay("d1", 0, 0), lay("d2", 4, 0)], "connected by shared edges"),
        ([lay("d1", 0, 0), lay("M1", 3, 0), lay("M2", 90, 0), lay("d2", 93, 0)], "connected by shared edges"),
        ([lay("d1", 0, 0)], "layout"),
        ([lay("d1", 0, 0), lay("d2", 3, 0), *[lay("M1", 6, 0)] * 4], "layout"),
        ([lay("d1", 0, 0), lay("A07", 3, 0)], "layout"),
        ([lay("d1", 101, 0), lay("d2", 98, 0)], "layout"),
        ([lay("d1", 0, -101), lay("d2", 3, -101)], "layout"),
        ([lay("d1", 0, 0), lay("d2", 3, 0, 45)], "layout"),
        ([lay("d1", 0, 0), {"card": "d2", "x": 3, "y": 0}], "layout"),
        ("somewhere", "layout"),
        (None, "layout"),
    ],
)
def test_mon_4_a_layout_that_cannot_lie_is_refused(layout: object, fault: str) -> None:
    with pytest.raises(BadOptions, match=fault):
        GAME.options(2, {"layout": layout})


@pytest.mark.parametrize("sign", [1, -1])
def test_mon_4_a_layout_may_lie_a_hundred_squares_away(sign: int) -> None:
    layout = [lay("d1", 100 * sign, 100 * sign), lay("d2", 97 * sign, 100 * sign)]
    state = table(2, options={"layout": layout})
    assert len(legal(state)) > 500
