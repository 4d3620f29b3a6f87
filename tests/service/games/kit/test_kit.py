import json
from pathlib import Path
from typing import Final

import pytest

from service.games.kit import box, options, ranking
from service.games.kit.folder import read_json, read_text
from service.games.kit.pending import PendingEffects
from service.games.kit.tuples import with_item
from service.games.protocol import BadOptions, Outcome
from tests.service.games.toy.state import Options


@pytest.mark.parametrize(
    ("scores", "tie_breaks", "ranks", "winners"),
    [
        ((5, 7, 7), ((), (), ()), (3, 1, 1), (1, 2)),
        ((7, 5, 5, 1), ((), (), (), ()), (1, 2, 2, 4), (0,)),
        ((7, 7, 7), ((2, 0), (2, 1), (1, 9)), (2, 1, 3), (1,)),
        ((-3, -1), ((0,), (0,)), (2, 1), (1,)),
        ((4,), ((),), (1,), (0,)),
    ],
)
def test_higher_scores_then_tie_breaks_win_and_ranks_skip_after_shared_ones(
    scores: tuple[int, ...],
    tie_breaks: tuple[tuple[int, ...], ...],
    ranks: tuple[int, ...],
    winners: tuple[int, ...],
) -> None:
    breakdown = tuple({"ships": score + 2, "scorn": -2} for score in scores)
    assert ranking.outcome(breakdown, tie_breaks) == Outcome(scores, ranks, winners, breakdown)


def test_each_seat_needs_its_tie_breaks() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ranking.outcome([{"points": 1}, {"points": 2}], [()])


def test_options_get_their_defaults() -> None:
    assert options.parse(Options, {"tricks": 2}, 2, (2, 3, 4)) == Options(tricks=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"trikcs": 2}, "trikcs"),
        ({"tricks": "2"}, "tricks"),
        ({"tricks": 2.0}, "tricks"),
        ({"tricks": True}, "tricks"),
        ({"tricks": 0}, "tricks"),
        ({"ties": "fought"}, "ties"),
        ({"timer_visible": 1}, "timer_visible"),
    ],
)
def test_options_unknown_mistyped_or_out_of_range_are_refused_by_name(given: dict[str, object], message: str) -> None:
    with pytest.raises(BadOptions, match=message):
        options.parse(Options, given, 2, (2, 3, 4))


@pytest.mark.parametrize("seats", [-1, 0, 1, 5])
def test_a_game_is_not_for_any_number_of_seats(seats: int) -> None:
    with pytest.raises(BadOptions, match=f"^the game is for 2 to 4 players, not for {seats}$"):
        options.parse(Options, {}, seats, (2, 3, 4))


class Dice(box.BoxFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sides: dict[int, str]


KNOWN: Final = {"of": "all", "status": "rulebook", "source": "page 2", "confidence": 90}


def test_a_component_file_has_values_and_their_provenance() -> None:
    file = box.read({"sides": {"1": "ape"}, "provenance": {"sides": [KNOWN]}}, Dice)
    assert file.sides == {1: "ape"}
    assert file.provenance["sides"][0].confidence == 90


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ({"provenance": {}}, "sides"),
        ({"sides": {"1": 5}, "provenance": {"sides": [KNOWN]}}, "sides"),
        ({"sides": {}, "colour": "red", "provenance": {"sides": [KNOWN]}}, "colour"),
        ({"sides": {}}, "provenance"),
        ({"sides": {}, "provenance": {}}, "provenance must have an entry for each value"),
        (
            {"sides": {}, "provenance": {"sides": [KNOWN], "weather": [KNOWN]}},
            "provenance must have an entry for each value",
        ),
        ({"sides": {}, "provenance": {"sides": []}}, "empty provenance"),
        ({"sides": {}, "provenance": {"sides": [{**KNOWN, "status": "guessed"}]}}, "status"),
        ({"sides": {}, "provenance": {"sides": [{**KNOWN, "confidence": 101}]}}, "confidence"),
    ],
)
def test_a_component_file_with_an_invalid_value_or_no_provenance_is_refused(raw: dict[str, object], fault: str) -> None:
    with pytest.raises(box.BadComponents, match=fault):
        box.read(raw, Dice)


def test_one_item_of_a_tuple_is_replaced() -> None:
    items = ("a", "b", "c")
    assert [with_item(items, index, "x") for index in range(3)] == [("x", "b", "c"), ("a", "x", "c"), ("a", "b", "x")]
    assert items == ("a", "b", "c")
    with pytest.raises(IndexError):
        with_item(items, 3, "x")


def test_each_effect_is_applied_to_the_state_after_the_previous_one() -> None:
    def apply(state: str | None, effect: int) -> str:
        return f"{state},{effect}"

    pending = PendingEffects(apply, "start")
    pending.emit(1, 2)
    pending.emit(3)
    assert (pending.state, pending.effects) == ("start,1,2,3", [1, 2, 3])


def test_files_beside_a_module_are_read_as_text_or_json(tmp_path: Path) -> None:
    module = str(tmp_path / "game.py")
    (tmp_path / "texts.json").write_text(json.dumps({"de": "Affen für alle"}, ensure_ascii=False), encoding="utf-8")
    assert read_text(module, "texts.json") == '{"de": "Affen für alle"}'
    assert read_json(module, "texts.json") == {"de": "Affen für alle"}
