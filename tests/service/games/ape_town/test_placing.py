"""APE-12 to APE-16: placing a tile, and the points of the placement."""

import pytest

from service.games.ape_town.actions import PlaceTile
from service.games.ape_town.components import FIELDS, Colour, Tile
from service.games.ape_town.effects import DiscPlaced, PointsScored, TilePlaced
from service.games.ape_town.state import State
from service.games.protocol import IllegalAction
from tests.service.games.ape_town.builders import (
    decide,
    district_tiles,
    effects_of,
    fields_of,
    full_except,
    legal,
    play,
    table,
    with_holdings,
    with_tile_to_place,
    with_tiles,
)

VALUES: dict[Tile, int] = {"tarsier": 1, "chimpanzee": 2, "mandrill": 3}


def placement_effects(state: State, field: str) -> list[object]:
    """The effects of placing the tile on a field, without TilePlaced."""
    return [effect for effect in effects_of(state, PlaceTile(field)) if not isinstance(effect, TilePlaced)]


@pytest.mark.parametrize("colour", ["grey", "black", "white"])
def test_ape_12_a_tile_goes_to_any_free_field_of_the_colour_of_its_segment(colour: Colour) -> None:
    state = with_tiles(with_tile_to_place(table(), "banana", colour), {"0-0": "lemur", "0-7": "lemur", "0-3": "lemur"})
    free = [field.id for field in FIELDS if field.colour == colour and field.id not in {"0-0", "0-7", "0-3"}]
    assert len(free) == 24
    assert legal(state) == [PlaceTile(field) for field in free]
    for field in (free[0], free[-1]):
        assert decide(state, PlaceTile(field))[0] == TilePlaced(0, field, "banana")


@pytest.mark.parametrize(
    ("field", "code", "facts"),
    [
        ("0-3", "wrong-colour", {"field": "0-3", "colour": "grey"}),
        ("0-0", "field-taken", {"field": "0-0"}),
        ("0-2", "no-such-field", {"field": "0-2"}),  # a printed tile
        ("3-4", "no-such-field", {"field": "3-4"}),  # the pond
        ("9-9", "no-such-field", {"field": "9-9"}),
    ],
)
def test_ape_12_other_fields_are_refused(field: str, code: str, facts: dict[str, str]) -> None:
    state = with_tiles(with_tile_to_place(table(), "banana", "grey"), {"0-0": "lemur"})
    with pytest.raises(IllegalAction) as refused:
        decide(state, PlaceTile(field))
    assert (refused.value.code, refused.value.clause, refused.value.facts) == (code, "APE-12", facts)


def test_ape_12_any_free_field_is_legal_if_the_colour_has_none() -> None:
    grey = [field.id for field in FIELDS if field.colour == "grey"]
    last = with_tiles(with_tile_to_place(table(), "banana", "grey"), full_except("0-3", "0-7", grey[-1]))
    assert legal(last) == [PlaceTile(grey[-1])]
    none = with_tiles(with_tile_to_place(table(), "banana", "grey"), full_except("0-3", "0-7"))
    assert legal(none) == [PlaceTile("0-3"), PlaceTile("0-7")]
    assert decide(none, PlaceTile("0-7"))[0] == TilePlaced(0, "0-7", "banana")


def test_ape_12_the_tile_lies_on_the_board_and_is_no_longer_held() -> None:
    state = play(with_tile_to_place(table(), "banana", "grey"), PlaceTile("1-1"))
    assert state.taken is None
    assert [(field.id, tile) for field, tile in zip(FIELDS, state.board, strict=True) if tile] == [("1-1", "banana")]


@pytest.mark.parametrize(("tile", "value"), VALUES.items())
def test_ape_13_an_ape_scores_its_value_for_each_banana_beside_it(tile: Tile, value: int) -> None:
    state = with_tile_to_place(table(), tile, "white")
    bananas = ["0-4", "0-5", "1-3", "1-5", "2-4", "2-5"]  # all around 1-4
    assert placement_effects(state, "1-4") == []
    for count in range(1, 7):
        state = with_tiles(state, dict.fromkeys(bananas[:count], "banana"))
        assert placement_effects(state, "1-4")[0] == PointsScored(0, value * count, "placement", "APE-13")


@pytest.mark.parametrize("tile", VALUES)
def test_ape_13_an_ape_scores_nothing_for_apes_or_for_bananas_further_away(tile: Tile) -> None:
    state = with_tiles(
        with_tile_to_place(table(), tile, "white"), {"0-4": "mandrill", "1-3": "lemur 0", "2-4": "orangutan 1"}
    )
    assert placement_effects(with_tiles(state, {"0-3": "banana", "1-2": "banana", "2-9": "banana"}), "1-4") == []


def test_ape_14_a_banana_scores_the_value_of_each_ape_beside_it() -> None:
    state = with_tile_to_place(table(), "banana", "white")
    assert placement_effects(state, "1-4") == []
    for tile, value in VALUES.items():
        assert placement_effects(with_tiles(state, {"0-4": tile}), "1-4") == [
            PointsScored(0, value, "placement", "APE-14")
        ]
    apes = {"0-4": "mandrill", "0-5": "mandrill", "1-3": "tarsier", "1-5": "chimpanzee"}
    assert placement_effects(with_tiles(state, apes), "1-4") == [PointsScored(0, 9, "placement", "APE-14")]


def test_ape_14_a_banana_scores_nothing_for_bananas_orangutans_and_lemurs_or_apes_further_away() -> None:
    beside = {"0-4": "banana", "0-5": "lemur 0", "1-3": "orangutan 0"}
    state = with_tiles(with_tile_to_place(table(), "banana", "white"), {**beside, "0-3": "mandrill", "1-2": "mandrill"})
    assert placement_effects(state, "1-4") == []


def test_ape_15_neighbours_in_another_district_count() -> None:
    state = with_tiles(with_tile_to_place(table(), "mandrill", "grey"), {"1-2": "banana"})  # 1-1 is in D1, 1-2 in D2
    assert placement_effects(state, "1-1") == [PointsScored(0, 3, "placement", "APE-13")]
    state = with_tiles(with_tile_to_place(table(), "banana", "grey"), {"1-2": "mandrill"})
    assert PointsScored(0, 3 + 1, "placement", "APE-14") in placement_effects(state, "1-1")  # with the printed tarsier


@pytest.mark.parametrize(("field", "points"), [("0-1", 1), ("0-7", 2), ("8-1", 3), ("8-0", 0), ("3-2", 0), ("1-2", 1)])
def test_ape_15_printed_apes_score_for_a_banana(field: str, points: int) -> None:
    colour = next(found.colour for found in FIELDS if found.id == field)
    effects = placement_effects(with_tile_to_place(table(), "banana", colour), field)
    assert effects == ([PointsScored(0, points, "placement", "APE-14")] if points else [])


@pytest.mark.parametrize(("field", "bananas"), [("3-2", 1), ("4-6", 1), ("6-2", 1), ("6-8", 1), ("0-1", 0), ("8-1", 0)])
def test_ape_15_printed_bananas_score_for_an_ape(field: str, bananas: int) -> None:
    colour = next(found.colour for found in FIELDS if found.id == field)
    effects = placement_effects(with_tile_to_place(table(), "chimpanzee", colour), field)
    assert effects == ([PointsScored(0, 2, "placement", "APE-13")] if bananas else [])


@pytest.mark.parametrize("tile", ["orangutan", "lemur"])
def test_ape_16_an_orangutan_or_lemur_takes_a_disc_and_scores_nothing(tile: Tile) -> None:
    state = with_tiles(with_tile_to_place(table(first=1), tile, "white"), {"0-4": "banana", "0-5": "mandrill"})
    assert placement_effects(state, "1-4") == [DiscPlaced(1, "1-4")]
    state = play(state, PlaceTile("1-4"))
    assert [held.discs for held in state.seats] == [15, 14]
    assert {field.id: seat for field, seat in zip(FIELDS, state.discs, strict=True) if seat is not None} == {"1-4": 1}


@pytest.mark.parametrize("tile", ["tarsier", "chimpanzee", "mandrill", "banana"])
def test_ape_16_no_other_tile_takes_a_disc(tile: Tile) -> None:
    assert placement_effects(with_tile_to_place(table(), tile, "white"), "1-4") == []


@pytest.mark.parametrize("tile", ["orangutan", "lemur"])
def test_ape_16_without_a_disc_left_the_tile_stays_unowned(tile: Tile) -> None:
    state = with_holdings(with_tile_to_place(table(), tile, "white"), 0, discs=0)
    assert placement_effects(state, "1-4") == []
    assert play(state, PlaceTile("1-4")).discs == (None,) * 75
    state = with_holdings(state, 0, discs=1)
    assert placement_effects(state, "1-4") == [DiscPlaced(0, "1-4")]


def test_ape_16_the_disc_lies_before_the_district_is_scored() -> None:
    state = with_tiles(with_tile_to_place(table(), "orangutan", "grey"), district_tiles("D1", "mandrill", free=1))
    assert placement_effects(state, fields_of("D1")[-1])[-1] == PointsScored(0, 3, "boss", "APE-20")
