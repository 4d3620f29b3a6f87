"""When cards fulfil a combo (FOU-22), and how a hand finds them."""

import pytest

from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.needs import fulfils, is_correct, shortest
from tests.service.games.four_monkeys.builders import cards

COLOURS = ("yellow", "green", "red", "blue", "yellow", "green")

CORRECT = [
    ("K01", ["ct", "ct", "sp", "pp"]),
    ("K02", ["ct", "sp"]),
    ("K02", ["cs", "ct", "cp"]),
    ("K03", ["cc", "cc"]),
    ("K03", ["cc", "ct", "cs"]),
    ("K04", ["cc", "ct", "tt"]),
    ("K05", ["cc", "pp"]),
    ("K06", ["cc", "cc", "tt", "ts"]),
    ("K07", ["cc", "cc", "cs"]),
    ("K07", ["cc", "cc", "cc"]),
    ("K08", ["cc", "tt", "ss", "pp"]),
    ("K09", ["cc", "cc", "tt", "tt"]),
    ("K10", ["cc", "cc", "cc"]),
]
WRONG = [
    ("K01", ["ct", "ct", "sp"]),
    ("K01", ["ct", "ct", "sp", "pp", "cs"]),
    ("K02", ["ct", "ss"]),
    ("K02", ["ct", "sp", "sp"]),
    ("K03", ["tt", "cp", "tt"]),
    ("K03", ["cc", "ct"]),
    ("K04", ["cc", "ct", "ts"]),
    ("K05", ["cc", "ct"]),
    ("K05", ["cc", "cc", "pp"]),
    ("K06", ["cc", "ct", "tt"]),
    ("K07", ["cc", "cc"]),
    ("K08", ["cc", "tt", "ss", "sp"]),
    ("K09", ["cc", "cc", "cc", "cc"]),
    ("K10", ["cc", "cc", "ct"]),
    ("K10", []),
    ("K01", []),
    ("K05", []),
]


@pytest.mark.parametrize(("combo", "under"), CORRECT)
def test_fou_22_a_combo_is_correct_if_it_is_complete_and_no_card_can_be_left_out(combo: str, under: list[str]) -> None:
    assert is_correct(f"{combo}-1", cards(0, *under), COLOURS)
    assert is_correct(f"{combo}-1", cards(0, *under)[::-1], COLOURS)


@pytest.mark.parametrize(("combo", "under"), WRONG)
def test_fou_22_a_combo_is_wrong_if_it_is_incomplete_or_has_a_superfluous_card(combo: str, under: list[str]) -> None:
    assert not is_correct(f"{combo}-1", cards(0, *under), COLOURS)


@pytest.mark.parametrize(("other", "correct"), [(4, True), (1, False)])
def test_fou_31_cards_of_two_decks_of_one_colour_are_of_one_colour(other: int, correct: bool) -> None:
    assert is_correct("K01-1", (*cards(0, "cc", "ct"), *cards(other, "cc", "ct")), COLOURS) == correct


def test_every_combo_is_tried() -> None:
    assert {combo for combo, _ in CORRECT} == {combo for combo, _ in WRONG} == set(BOX.kinds)


@pytest.mark.parametrize(("combo", "under"), CORRECT)
def test_a_hand_finds_the_cards_for_a_combo_among_others(combo: str, under: list[str]) -> None:
    hand = (*cards(1, "ts", "sp"), *cards(0, *under, "cs"))
    found = shortest(f"{combo}-1", hand, COLOURS)
    assert is_correct(f"{combo}-1", found, COLOURS)
    assert set(found) <= set(hand)


def test_a_hand_without_a_combo_finds_nothing() -> None:
    assert shortest("K10-1", cards(0, "cc", "cc", "ct"), COLOURS) == ()
    assert not fulfils(BOX.combos["K10-1"].need, (), COLOURS)
