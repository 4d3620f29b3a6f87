"""The component file: counts, ids and provenance; faulty files are rejected."""

import copy
import json
from collections import Counter
from typing import Any

import pytest

from service.games.kit.box import BadComponents
from service.games.monkeys_on_the_moon.components import BOX, RAW, TRIBES, load


def changed(path: str, value: object) -> dict[str, Any]:
    """The component file with one value replaced. The path consists of keys and indices."""
    raw = copy.deepcopy(dict(RAW))
    *parents, last = path.split("/")
    inner: Any = raw
    for part in parents:
        inner = inner[int(part)] if isinstance(inner, list) else inner[part]
    inner[int(last) if isinstance(inner, list) else last] = value
    return raw


def test_the_box_has_42_monkeys_36_civilization_cards_and_18_ships() -> None:
    assert (len(BOX.monkeys), len(BOX.civilization), len(BOX.ships)) == (42, 36, 18)
    for cards in (BOX.monkeys, BOX.civilization, BOX.ships):
        assert len(set(Counter(card.tribe for card in cards.values()).values())) == 1


def test_ids_name_the_card_and_count_equal_ones_from_one() -> None:
    assert list(BOX.monkeys)[:7] == [
        "brown-3-1",
        "brown-3-2",
        "brown-4-1",
        "brown-4-2",
        "brown-4-3",
        "brown-5-1",
        "brown-5-2",
    ]
    assert list(BOX.civilization)[:3] == ["brown-2-1", "brown-2-2", "brown-3-1"]
    assert list(BOX.ships)[:4] == ["brown-2", "brown-3", "brown-4", "black-2"]


def test_every_value_has_a_provenance() -> None:
    assert set(RAW["provenance"]) == set(RAW) - {"provenance"}


def test_an_owner_of_a_box_can_put_in_other_values() -> None:
    box = load(changed("ship_cards/0/vp", 5))
    assert box.ships["brown-2"].points == 5
    assert load(changed("tribe_track/white_dot", 7)).white_dot == 7


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("tribes", ["red"] * 6, "six different tribes"),
        ("tribes", list(TRIBES[:5]), "six different tribes"),
        ("tribes/0", "Brown-1", "regex"),
        ("monkey_cards/0/tribe", "white", "belongs to no tribe"),
        ("civilization_cards/0/tribe", "white", "belongs to no tribe"),
        ("ship_cards/0/border", "white", "belongs to no tribe"),
        ("monkey_cards/1/status", 3, "two monkey cards have the same id"),
        ("civilization_cards/1/spaces", 2, "two civilization cards have the same id"),
        ("ship_cards/0/copies", 2, "two ship cards have the same id"),
        ("civilization_removed/2", 11, "cannot be divided equally among 2 players"),
        ("civilization_removed/3", 12, "does not fit the number of rounds of 3 players"),
        ("civilization_removed", {"2": 12, "3": 9}, "`civilization_removed` must have an entry"),
        ("rounds", {"2": 12, "3": 9, "4": 8, "5": 7}, "`rounds` must have an entry"),
        ("monkey_cards", [{"tribe": "red", "status": 3, "copies": 4}], "fewer monkeys"),
        ("ship_cards", [{"border": "red", "capacity": 2, "vp": 1, "copies": 1}], "fewer ships"),
        ("tribe_cards", 5, "one Scorn card"),
        ("scorn_cards", 7, "one Scorn card"),
        ("coins_per_tribe", 6, "too few Favor coins"),
        ("coins_total", 41, "do not add up"),
        ("tribe_track/white_dot", 21, "last space"),
        ("tribe_track/spaces", 19, "last space"),
        ("awards/0/rank", 2, "Finish Circles"),
        ("scorn_penalty", 2, "scorn_penalty"),
        ("monkey_cards/0/copies", 0, "copies"),
        ("monkey_cards/0/name", "Bonzo", "name"),
        ("provenance/tribes", [], "empty provenance"),
        ("provenance/weather", [], "provenance must have an entry for each value"),
        ("provenance/tribes/0/status", "guessed", "status"),
    ],
)
def test_a_component_file_that_makes_the_game_unplayable_is_rejected(path: str, value: object, fault: str) -> None:
    with pytest.raises(BadComponents, match=fault):
        load(changed(path, value))


def test_a_civilization_deck_that_cannot_deal_hands_is_refused() -> None:
    raw = changed("civilization_removed", {"2": 34, "3": 33, "4": 32})
    raw["rounds"] = {"2": 1, "3": 1, "4": 1}
    with pytest.raises(BadComponents, match="cannot deal hands"):
        load(raw)


@pytest.mark.parametrize("length", [37, 41])
def test_a_tribe_whose_cards_no_action_could_name_is_refused(length: int) -> None:
    raw = json.loads(json.dumps(RAW).replace('"red"', f'"{"r" * length}"'))
    with pytest.raises(BadComponents, match="1 to 40 characters"):
        load(raw)


def test_a_value_that_is_missing_is_refused() -> None:
    with pytest.raises(BadComponents, match="awards"):
        load({key: value for key, value in RAW.items() if key != "awards"})
