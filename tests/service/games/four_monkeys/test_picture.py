"""The picture of 4 Monkeys."""

import pytest
from msgspec.structs import replace

from service.games.four_monkeys.actions import Burn, Grab
from service.games.four_monkeys.art import ART
from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import Checked
from service.games.four_monkeys.tiles import step_of
from service.games.protocol import Outcome
from tests.service.games.drawn import changed, drawn
from tests.service.games.four_monkeys.builders import (
    FIVE,
    GOLD,
    HAND,
    SIX,
    play,
    ready,
    table,
    ten,
    tile,
    with_check,
    with_holdings,
    with_stacks,
)


def test_stacks_show_their_top_and_how_many_there_are() -> None:
    picture = drawn(GAME, ready())
    assert picture.ids("stack-") == ["stack-0-0", "stack-0-1"]
    assert picture.shows("stack-0-0") == ["need-K02", "2", "2"]
    assert picture.title("combo-0-K04-1") == "Three of a kind and three of another: 2"
    assert picture.texts()[:4] == ["4 Monkeys", "Grab combos, all at once.", "Round 1 of 3", "240 seconds"]


def test_a_grabbed_tile_keeps_its_id_and_the_cards_lie_under_it() -> None:
    before = ready()
    after = play(before, Grab(0, "K02-1", HAND[:2]))
    picture = drawn(GAME, after, 0)
    assert picture.shows("combo-0-K02-1") == [
        "small-yellow-circle-triangle",
        "small-yellow-circle-square",
        "need-K02",
        "2",
    ]
    found = changed(GAME, before, after, 0)
    assert {"combo-0-K02-1", "card-0-circle-triangle-1", "stack-0-0", "combo-0-K03-1", "seat-0-deck"} <= found
    assert "card-0-triangle-square-1" not in found, "only its position in the hand has changed"
    other = drawn(GAME, after, 1)
    assert other.shows("combo-0-K02-1") == ["need-K02", "2"]
    assert other.shows("seat-0-hand") == ["5"]
    assert other.ids("card-0") == []


def test_only_the_viewer_s_own_hand_is_shown_with_titles_of_its_cards() -> None:
    picture = drawn(GAME, ready(), 0, "de")
    assert picture.ids("card-0") == [f"card-{card.replace(':', '-')}" for card in HAND]
    assert picture.title("card-0-circle-triangle-1") == "Gelb: Kreis, Dreieck"
    assert picture.element("card-0-circle-triangle-1").get("data-cards") == "0:circle-triangle-1"


def test_a_burned_tile_shows_its_other_side_and_the_replenish_tile_too() -> None:
    state = play(with_holdings(ready(), 0, tiles=(tile("K07-1"),)), Burn("K07-1"))
    used = with_holdings(state, 0, replenish_used=True)
    assert drawn(GAME, state, 0).classes("combo-0-K07-1") >= {"combo", "orange"}
    assert drawn(GAME, state, 0).shows("combo-0-K07-1") == ["need-K07", "3", "↻"]
    assert drawn(GAME, state, 0).count("mode") == 2
    assert drawn(GAME, used, 0).count("mode") == 0
    assert "orange" in drawn(GAME, used).classes("seat-0-replenish")


def test_the_scoring_shows_how_tiles_were_judged_and_who_is_the_smartest() -> None:
    correct, wrong, repeated = (
        tile("K10-1", *SIX, checked=True),
        tile("K07-1", *FIVE, checked=True),
        tile("K05-1", *GOLD),
    )
    state = with_check(
        with_holdings(with_stacks(table()), 0, tiles=(correct,), wrong=(wrong,), repeated=(repeated,)), 0
    )
    state = replace(state, checks=(Checked(0, "K07-1", FIVE, correct=False),))
    picture = drawn(GAME, state, 1)
    assert [picture.shows(f"combo-0-{combo}")[-1] for combo in ("K10-1", "K07-1", "K05-1")] == [
        "right",
        "wrong",
        "repeated",
    ]
    assert picture.texts()[1] == "Seat 0: Choose which combo is checked next."
    assert "Checked last" in picture.texts()
    assert picture.count("turn") == 3, "the panel, and the chip with its word"
    assert drawn(GAME, state, 0).count("mode") == 0


def test_points_are_shown_by_round_with_false_stops() -> None:
    state = replace(table(), points=((7, 3), (1, 1)), false_stops=(2, 0))
    picture = drawn(GAME, state)
    assert picture.shows("seat-0-points") == ["-10"]
    assert "7 · 3 · -20" in picture.texts()
    assert "1 · 1" in picture.texts()


def test_skins_are_shown_only_if_the_option_is_on() -> None:
    state = with_holdings(table(banana_skins=True), 1, received_skins=2)
    assert drawn(GAME, state).shows("seat-1-skins") == ["3"]
    assert not drawn(GAME, table()).has("seat-1-skins")


@pytest.mark.parametrize("viewer", [None, 0, 6])
def test_each_area_has_its_own_stacks_the_viewers_last(viewer: int | None) -> None:
    picture = drawn(GAME, table(7), viewer)
    areas = [label for label in picture.texts("label") if label.startswith("Area")]
    assert areas == (["Area 1", "Area 0"] if viewer == 0 else ["Area 0", "Area 1"])
    named = {element.get("data-area") for element in picture.root.iter() if element.get("data-stack")}
    assert named == ({"0", "1"} if viewer is None else {"0"} if viewer == 0 else {"1"})
    hands = {element.get("data-to") for element in picture.root.iter()} - {None}
    assert hands == (set() if viewer is None else {"1", "2", "3"} if viewer == 0 else {"4", "5"})


def test_many_tiles_close_up() -> None:
    assert [step_of(count, 50, 300) for count in (1, 7, 8, 31)] == [50, 50, 42, 10]
    state = with_holdings(table(4), 1, tiles=(*ten(1), *ten(2)))
    assert len(drawn(GAME, state, 0).ids("combo-0-K")) == 20 + len(state.stacks[0])
    assert len(drawn(GAME, with_holdings(with_stacks(state), 0, tiles=ten(3)), 0).ids("combo-0-K")) == 30


def test_options_are_shown() -> None:
    assert drawn(GAME, table(family=True)).texts("fact")[1] == "300 seconds · Family version"
    assert drawn(GAME, table(6, family=True, timer_visible=False)).texts("fact")[1] == "Family version"


def test_the_end_shows_ranks() -> None:
    over = replace(table(), phase="over")
    picture = drawn(GAME, over, 0, outcome=Outcome((4, 9), (2, 1), (1,), ({}, {})))
    assert picture.texts()[1] == "The match is over. Won by: Seat 1."
    assert {"Rank 1", "Rank 2"} <= set(picture.texts())
    assert drawn(GAME, over).texts()[1] == "The match is over."


def test_every_combo_and_every_card_has_a_drawing() -> None:
    assert {f"need-{kind}" for kind in BOX.kinds} <= set(ART)
    assert sum(name.startswith("card-") for name in ART) == sum(name.startswith("small-") for name in ART) == 40
