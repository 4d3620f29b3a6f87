"""The component file: counts, ids and provenance; faulty files are rejected."""

import copy
from typing import Any

import pytest

from service.games.four_monkeys.components import BOX, RAW, Card, load
from service.games.kit.box import BadComponents


def changed(path: str, value: object) -> dict[str, Any]:
    """The component file with one value replaced. The path consists of keys and indices."""
    raw = copy.deepcopy(dict(RAW))
    *parents, last = path.split("/")
    inner: Any = raw
    for part in parents:
        inner = inner[int(part)] if isinstance(inner, list) else inner[part]
    inner[int(last) if isinstance(inner, list) else last] = value
    return raw


def test_each_seat_has_a_deck_of_40_in_the_files_order() -> None:
    assert [len(deck) for deck in BOX.decks] == [40] * 8
    assert len(BOX.cards) == 320
    assert BOX.decks[3][:5] == (
        "3:circle-circle-1",
        "3:circle-circle-2",
        "3:circle-circle-3",
        "3:circle-circle-4",
        "3:circle-triangle-1",
    )
    assert BOX.cards["3:circle-circle-1"] == Card(3, (2, 0, 0, 0), 1)
    assert BOX.cards["0:triangle-pentagon-4"] == Card(0, (0, 1, 0, 1), 0)


def test_a_set_has_ten_combos_and_sets_follow_each_other() -> None:
    assert BOX.combos_of(2) == BOX.combos_of(3)
    assert BOX.combos_of(2)[8:12] == ("K09-1", "K10-1", "K01-2", "K02-2")
    assert len(BOX.combos_of(6)) == 60


def test_every_value_has_a_provenance() -> None:
    assert set(RAW["provenance"]) == set(RAW) - {"provenance"}


def test_an_owner_of_a_box_can_put_in_other_values() -> None:
    assert load(changed("banana_skin", -4)).banana_skin == -4
    raw = changed("combo_tiles/0/green", 3)
    raw["combo_tiles"][0]["orange"] = 2
    raw["combo_tiles"][0]["need"] = {"golden": 3}
    assert load(raw).combos["K01-1"].green == 3


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("figure_cards_per_deck", RAW["figure_cards_per_deck"][::-1], "each pair of figures once"),
        ("figure_cards_per_deck", RAW["figure_cards_per_deck"][:9], "each pair of figures once"),
        ("figure_cards_per_deck/0/figures", ["circle", "star"], "figures"),
        ("figure_cards_per_deck/0/golden", 3, "golden"),
        ("deck_colours", ["red", "red", "green", "blue"], "four different colours"),
        ("deck_colours", ["red", "green", "blue"], "four different colours"),
        ("combo_tiles", RAW["combo_tiles"][:9], "ten different combos"),
        ("combo_tiles/1/id", "K01", "ten different combos"),
        ("combo_tiles/0/id", "K11", "ten different combos"),
        ("combo_tiles/0/id", "X1", "regex"),
        ("combo_tiles/9/id", "K1" + "0" * 37, "1 to 40 characters"),
        ("combo_tiles/0/need", {}, "K01 must have exactly one kind"),
        ("combo_tiles/0/need", {"golden": 2, "groups": [4]}, "K01 must have exactly one kind"),
        ("combo_tiles/0/need", {"groups": [3, 4]}, "largest group first"),
        ("combo_tiles/0/need", {"groups": []}, "groups"),
        ("combo_tiles/0/need", {"silver": 2}, "silver"),
        ("combo_tiles/0/orange", 1, "must be worth 1 less"),
        ("banana_skin", 3, "banana_skin"),
        ("wrong_combo", 1, "wrong_combo"),
        ("false_stop", 10, "false_stop"),
        ("sets_in_play", {"2": 3, "3": 3, "4": 4}, "`sets_in_play` must have an entry"),
        ("stacks", {"2": 4, "3": 5, "4": 6, "5": 7, "6": 8, "7": 9}, "`stacks` must have an entry"),
        ("stacks/2", 31, "2 players have more stacks than combos"),
        ("round_seconds", 10, "round_seconds"),
        ("rounds_in_two_areas", 5, "rounds_in_two_areas"),
        ("figure_cards_per_deck/0/name", "eye", "name"),
        ("provenance/rounds", [], "empty provenance"),
        ("provenance/weather", [], "provenance must have an entry for each value"),
        ("provenance/rounds/0/status", "guessed", "status"),
    ],
)
def test_a_component_file_that_makes_the_game_unplayable_is_rejected(path: str, value: object, fault: str) -> None:
    with pytest.raises(BadComponents, match=fault):
        load(changed(path, value))


def test_a_value_that_is_missing_is_refused() -> None:
    with pytest.raises(BadComponents, match="stacks"):
        load({key: value for key, value in RAW.items() if key != "stacks"})
