"""The picture of Ape Town."""

import re
from math import hypot

import pytest
from msgspec.structs import replace

from service.games.ape_town.actions import TakeTile
from service.games.ape_town.board import OUTLINES, segment_position
from service.games.ape_town.components import BOX
from service.games.ape_town.game import GAME
from service.games.ape_town.picture import _prices
from service.games.drawing.svg import Element
from service.games.protocol import Outcome
from tests.service.games.ape_town.builders import (
    DEAL,
    district_tiles,
    full_except,
    play,
    table,
    with_holdings,
    with_money,
    with_tile_to_place,
    with_tiles,
    without_tiles,
)
from tests.service.games.drawn import changed, drawn


def test_the_display_has_prices_and_the_rest_lies_face_down() -> None:
    picture = drawn(GAME, without_tiles(with_holdings(table(), 0, money=2), 1))
    assert picture.shows("segment-0-tile") == [f"tile-{DEAL[0]}", "rim"]
    assert picture.shows("segment-10-tile") == ["tile-back", "rim"]
    assert not picture.has("segment-1-tile")
    assert picture.texts("price-word") == [str(price) for price in range(9)]
    assert (picture.count("price"), picture.count("dear")) == (9, 6)
    assert picture.texts()[:3] == ["Ape Town", "Seat 0: Take a tile of the display.", "Supply: 40"]


def test_money_is_drawn_on_segments() -> None:
    picture = drawn(GAME, with_money(table(), at_3=2, at_12=1))
    assert picture.shows("segment-3")[-2:] == ["coin", "2"]
    assert picture.shows("segment-12")[-2:] == ["coin", "1"]


def test_a_tile_that_was_taken_keeps_its_name_until_it_is_placed() -> None:
    picture = drawn(GAME, with_tile_to_place(without_tiles(table(), 0), "mandrill", "black"), 0)
    assert picture.shows("segment-0-tile") == ["tile-mandrill", "rim"]
    assert picture.title("segment-0-tile") == "Mandrill"
    assert picture.texts()[1] == "You · seat 0: Put the tile on a free field."
    assert picture.count("price") == 0, "prices are shown only while a tile is to be taken"


def test_tiles_and_discs_lie_on_fields() -> None:
    picture = drawn(GAME, with_tiles(table(), {"0-0": "lemur 1", "0-1": "banana"}), language="de")
    assert picture.shows("field-0-0") == ["field-grey", "tile-lemur", "rim", "seat-1"]
    assert picture.title("field-0-0") == "Feld 0-0 im Revier D1: Katta"
    assert picture.shows("field-0-1") == ["field-grey", "tile-banana", "rim"]
    assert picture.shows("field-0-3") == ["field-white", "glyph-white", "0-3", "rim"]


def test_a_complete_district_is_seen_as_one() -> None:
    picture = drawn(GAME, with_tiles(table(), {**district_tiles("D1"), **district_tiles("D2", free=1)}))
    assert picture.classes("district-D1") == {"district", "complete"}
    assert picture.classes("district-D2") == {"district"}


def test_the_viewer_sits_last_and_points_are_shown_in_parts() -> None:
    state = with_holdings(table(3), 0, placement=11, boss=7, neighbours=5, money=4, discs=13)
    picture = drawn(GAME, state, 0)
    assert picture.ids("seat-") == [
        "seat-1-points", "seat-1-money", "seat-1-discs",
        "seat-2-points", "seat-2-money", "seat-2-discs",
        "seat-0-points", "seat-0-money", "seat-0-discs",
    ]  # fmt: skip
    assert [picture.shows(f"seat-0-{what}") for what in ("points", "money", "discs")] == [["23"], ["4"], ["13"]]
    assert {"11", "7", "5"} <= set(picture.texts())
    assert picture.description().endswith("Points: You · seat 0 23, Seat 1 0, Seat 2 0.")


def test_the_end_shows_ranks_and_winners() -> None:
    outcome = Outcome((20, 31), (2, 1), (1,), ({}, {}))
    over = play(with_tile_to_place(with_tiles(table(), full_except("8-9")), "banana", "grey"))
    picture = drawn(GAME, over, 1, outcome=outcome)
    assert picture.texts()[1] == "The match is over. Won by: You · seat 1."
    assert {"Rank 1", "Rank 2", "20", "31"} <= set(picture.texts())
    assert picture.description().endswith("Points: Seat 0 20, You · seat 1 31.")


def test_districts_are_outlined_and_the_track_is_a_ring() -> None:
    assert all(len(set(outline)) == len(outline) >= 16 for outline in OUTLINES.values())
    positions = [segment_position(segment)[0] for segment in range(40)]
    steps = zip(positions, (*positions[1:], positions[0]), strict=True)
    assert {abs(x2 - x1) + abs(y2 - y1) for (x1, y1), (x2, y2) in steps} == {68}


@pytest.mark.parametrize("segment", [0, 1])
def test_the_changes_of_a_turn_are_marked(segment: int) -> None:
    before = table()
    found = changed(GAME, before, play(before, TakeTile(segment)))
    paid = {"segment-0", "seat-0-money"} if segment else set()
    assert found == {f"segment-{segment}-tile", *paid}


@pytest.mark.parametrize("segment", range(len(BOX.track)))
def test_a_price_hides_neither_the_value_nor_the_money_of_its_segment(segment: int) -> None:
    seen = GAME.observation(table(), None)
    (badge,) = _prices(replace(seen, display=(replace(seen.display[0], segment=segment),)))
    circle = badge.children[0]
    assert isinstance(circle, Element)
    x, y, radius = map(int, re.findall(r"\d+", circle.shape))
    (middle_x, middle_y), (right, down) = segment_position(segment)
    assert hypot(x - middle_x, y - middle_y - 25 * 0.85) > radius + 7 * 0.85, "the value"
    assert hypot(x - middle_x - 20 * (right or 1), y - middle_y + 20 * (down or -1)) > radius + 11, "the money"
    assert max(abs(x - middle_x), abs(y - middle_y)) <= 31, "it would seem to be of another segment"
