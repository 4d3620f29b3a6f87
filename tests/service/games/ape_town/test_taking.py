"""APE-10 and APE-11: taking a tile of the display, and its price."""

import pytest
from msgspec.structs import replace

from service.games.ape_town.actions import PlaceTile, TakeTile
from service.games.ape_town.components import BOX
from service.games.ape_town.effects import (
    DecisionOpened,
    MoneyPaid,
    MoneyTaken,
    PointsScored,
    TilePlaced,
    TileTaken,
)
from service.games.ape_town.game import GAME
from service.games.protocol import IllegalAction
from tests.service.games.ape_town.builders import (
    DEAL,
    deal_starting_with,
    decide,
    effects_of,
    legal,
    play,
    table,
    with_holdings,
    with_money,
    with_tiles,
    without_tiles,
)


def test_worked_example_a_skipped_tile_and_a_mandrill_beside_two_bananas() -> None:
    state = with_tiles(table(tiles=deal_starting_with("lemur", "mandrill")), {"2-2": "banana"})
    take, place = TakeTile(1), PlaceTile("2-3")
    assert effects_of(state, take) == [MoneyPaid(0, (0,)), TileTaken(0, 1, "grey", "mandrill")]
    assert effects_of(play(state, take), place) == [
        TilePlaced(0, "2-3", "mandrill"),
        PointsScored(0, 6, "placement", "APE-13"),  # 2-2 and the printed tile 3-3
    ]
    assert play(state, take).seats[0].money == 5


def test_ape_10_any_tile_can_be_taken_and_each_one_skipped_costs_one() -> None:
    state = with_holdings(table(), 0, money=20)
    assert legal(state) == [TakeTile(segment) for segment in range(10)]
    assert decide(state, TakeTile(0)) == (
        TileTaken(0, 0, BOX.track[0], DEAL[0]),
        DecisionOpened(0, "place_tile"),
    )
    for segment in range(1, 10):
        assert decide(state, TakeTile(segment)) == (
            MoneyPaid(0, tuple(range(segment))),
            TileTaken(0, segment, BOX.track[segment], DEAL[segment]),
            DecisionOpened(0, "place_tile"),
        )


def test_ape_10_the_money_goes_to_the_segments_that_are_skipped() -> None:
    state = play(with_money(table(), at_1=2), TakeTile(3))
    assert state.track_money[:5] == (1, 3, 1, 0, 0)
    assert state.seats[0].money == 3


def test_ape_10_segments_without_a_tile_are_skipped_at_no_cost() -> None:
    state = without_tiles(table(), 0, 2, 3)
    assert decide(state, TakeTile(1))[0] == TileTaken(0, 1, BOX.track[1], DEAL[1])
    assert decide(state, TakeTile(5))[0] == MoneyPaid(0, (1, 4))


def test_ape_10_the_display_begins_with_the_section_that_was_opened_first() -> None:
    state = replace(table(), display=(38, 39, 0, 2), turned_up=(7, 0))
    assert decide(state, TakeTile(2))[0] == MoneyPaid(0, (38, 39, 0))


@pytest.mark.parametrize("money", [0, 1, 6])
def test_ape_10_a_seat_that_cannot_pay_cannot_take(money: int) -> None:
    state = with_holdings(table(), 0, money=money)
    assert legal(state) == [TakeTile(segment) for segment in range(money + 1)]
    with pytest.raises(IllegalAction) as refused:
        decide(state, TakeTile(money + 1))
    assert (refused.value.code, refused.value.clause) == ("too-little-money", "APE-10")
    assert refused.value.facts == {"price": money + 1, "money": money}


def test_ape_10_the_money_on_the_taken_segment_cannot_pay_for_it() -> None:
    state = with_money(with_holdings(table(), 0, money=1), at_2=5)
    assert legal(state) == [TakeTile(0), TakeTile(1)]
    with pytest.raises(IllegalAction):
        decide(state, TakeTile(2))


@pytest.mark.parametrize("segment", [0, 10, 39, 40, -1])
def test_ape_10_only_a_face_up_tile_can_be_taken(segment: int) -> None:
    with pytest.raises(IllegalAction) as refused:
        decide(without_tiles(table(), 0), TakeTile(segment))
    assert (refused.value.code, refused.value.clause) == ("no-open-tile", "APE-10")
    assert refused.value.facts == {"segment": segment}


def test_ape_10_a_turn_is_two_decisions_of_one_seat_then_the_next_seat_decides() -> None:
    state = table(3, first=2)
    assert decide(state, TakeTile(0))[-1] == DecisionOpened(2, "place_tile")
    state = play(state, TakeTile(0))
    assert decide(state, legal(state)[0])[-1] == DecisionOpened(0, "take_tile")


def test_ape_11_all_money_of_the_taken_segment_is_taken() -> None:
    state = with_money(table(), at_0=4, at_2=3)
    assert decide(state, TakeTile(2)) == (
        MoneyPaid(0, (0, 1)),
        TileTaken(0, 2, BOX.track[2], DEAL[2]),
        MoneyTaken(0, 2, 3),
        DecisionOpened(0, "place_tile"),
    )
    taken = play(state, TakeTile(2))
    assert taken.track_money[:3] == (5, 1, 0)
    assert taken.seats[0].money == 6 - 2 + 3


def test_ape_11_there_is_no_limit_to_money() -> None:
    assert play(with_money(with_holdings(table(), 0, money=20), at_0=4), TakeTile(0)).seats[0].money == 24


def test_a_seat_that_may_not_act_has_no_legal_actions() -> None:
    state = table(2, first=1)
    assert legal(state)
    assert list(GAME.legal_actions(state, 0)) == []
