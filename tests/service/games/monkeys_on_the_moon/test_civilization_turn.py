"""MOM-10 to MOM-17: favor, Scorn and the stones."""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import Appease, PlayCivilization
from service.games.monkeys_on_the_moon.effects import (
    CivilizationPlayed,
    CoinsPaid,
    CoinsTaken,
    DecisionOpened,
    ScornReturned,
    ScornTaken,
    StoneFinished,
    StoneMoved,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import State
from tests.service.games.monkeys_on_the_moon.builders import (
    awaiting,
    civilization_turn,
    decide,
    effects_of,
    legal,
    play,
    table,
    with_holdings,
    with_scorn_holders,
    with_stones,
    with_supply,
)

ADVANCE_BLUE = PlayCivilization("blue-3-1", "blue")
ADVANCE_GREEN = PlayCivilization("green-2-1", "green")


def turn(*hand: str, **coins: int) -> State:
    """Seat 0's turn at a table of two seats. It has a coin of each tribe, or exactly these coins."""
    state = civilization_turn(table(), 0, *(hand or ("blue-3-1",)))
    return with_holdings(state, 0, coins=coins) if coins else state


def test_worked_example_advancing_blue_takes_two_blue_and_pays_one_green() -> None:
    assert effects_of(turn(), ADVANCE_BLUE) == [
        CivilizationPlayed(0, "blue-3-1", "blue"),
        CoinsTaken(0, "blue", 2, "MOM-12"),
        CoinsPaid(0, "green", 1, "MOM-14"),
        StoneMoved("blue", 0, 3),
    ]


def test_worked_example_three_turns_of_angering_green() -> None:
    state = with_scorn_holders(turn("blue-3-1", "blue-2-1", "green-2-1", blue=1, red=1), green=1)
    assert effects_of(state, ADVANCE_BLUE)[2] == ScornTaken(0, "green", 1, "MOM-15")
    state = awaiting(replace(play(state, ADVANCE_BLUE), active=0), 0, "play_civilization")
    again = PlayCivilization("blue-2-1", "blue")
    assert decide(state, again)[-1] == DecisionOpened(0, "appease")
    state = play(state, again)
    assert legal(state) == [Appease("red", "coin"), Appease("purple", "scorn")]
    assert effects_of(state, Appease("red", "coin"))[0] == CoinsPaid(0, "red", 1, "MOM-16")
    assert effects_of(state, Appease("purple", "scorn"))[0] == ScornTaken(0, "purple", None, "MOM-16")
    state = awaiting(replace(play(state, Appease("red", "coin")), active=0), 0, "play_civilization")
    assert effects_of(state, ADVANCE_GREEN)[1:4] == [
        CoinsTaken(0, "green", 1, "MOM-12"),
        ScornReturned(0, "green", "MOM-13"),
        CoinsPaid(0, "blue", 1, "MOM-14"),
    ]


def test_mom_10_civilization_turns_go_to_the_left_from_the_starting_player_then_bid_turns_do() -> None:
    state = table(3, first=1)
    openings = []
    for seat in (1, 2, 0):
        card = state.seats[seat].hand[0]
        effects = decide(state, PlayCivilization(card, card.split("-")[0]))
        openings += [effect for effect in effects if isinstance(effect, TurnOpened | DecisionOpened)]
        state = play(state, PlayCivilization(card, card.split("-")[0]))
    assert openings == [
        TurnOpened(2, "civilization"),
        DecisionOpened(2, "play_civilization"),
        TurnOpened(0, "civilization"),
        DecisionOpened(0, "play_civilization"),
        TurnOpened(1, "bid"),
        DecisionOpened(1, "select_monkey"),
    ]


def test_mom_11_a_card_advances_its_tribe_or_one_of_the_two_allies() -> None:
    assert legal(turn("blue-3-1", "red-2-2")) == [
        PlayCivilization("blue-3-1", "blue"),
        PlayCivilization("blue-3-1", "brown"),
        PlayCivilization("blue-3-1", "black"),
        PlayCivilization("red-2-2", "red"),
        PlayCivilization("red-2-2", "black"),
        PlayCivilization("red-2-2", "green"),
    ]


@pytest.mark.parametrize(("lying", "taken"), [(3, 2), (2, 2)])
def test_mom_12_takes_two_coins_if_the_supply_has_two(lying: int, taken: int) -> None:
    effects = effects_of(with_supply(turn(), blue=lying), ADVANCE_BLUE)
    assert effects[1] == CoinsTaken(0, "blue", taken, "MOM-12")


def test_mom_12_takes_one_coin_if_the_supply_has_one() -> None:
    assert effects_of(with_supply(turn(), blue=1), ADVANCE_BLUE)[1] == CoinsTaken(0, "blue", 1, "MOM-12")


def test_mom_12_takes_nothing_from_an_empty_supply() -> None:
    effects = effects_of(with_supply(turn(), blue=0), ADVANCE_BLUE)
    assert not [effect for effect in effects if isinstance(effect, CoinsTaken)]


@pytest.mark.parametrize(("lying", "taken"), [(3, 1), (1, 1), (0, 0)])
def test_mom_12_a_seat_that_holds_the_tribes_scorn_takes_one_at_the_most(lying: int, taken: int) -> None:
    effects = effects_of(with_scorn_holders(with_supply(turn(), blue=lying), blue=0), ADVANCE_BLUE)
    assert [effect.count for effect in effects if isinstance(effect, CoinsTaken)] == [taken] * bool(taken)


def test_mom_12_anothers_scorn_does_not_matter() -> None:
    assert effects_of(with_scorn_holders(turn(), blue=1), ADVANCE_BLUE)[1] == CoinsTaken(0, "blue", 2, "MOM-12")


def test_mom_13_returns_the_scorn_of_the_advanced_tribe() -> None:
    effects = effects_of(with_scorn_holders(turn(), blue=0), ADVANCE_BLUE)
    assert effects[2] == ScornReturned(0, "blue", "MOM-13")


def test_mom_13_returns_it_also_if_the_stone_stands_in_a_finish_circle() -> None:
    effects = effects_of(with_stones(with_scorn_holders(turn(), blue=0), "blue"), ADVANCE_BLUE)
    assert effects[1:] == [
        CoinsTaken(0, "blue", 1, "MOM-12"),
        ScornReturned(0, "blue", "MOM-13"),
        CoinsPaid(0, "green", 1, "MOM-14"),
    ]


def test_mom_13_anothers_scorn_stays() -> None:
    assert not [
        effect
        for effect in effects_of(with_scorn_holders(turn(), blue=1), ADVANCE_BLUE)
        if isinstance(effect, ScornReturned)
    ]


def test_mom_14_pays_the_rival_of_the_advanced_tribe_not_of_the_card() -> None:
    effects = effects_of(turn(), PlayCivilization("blue-3-1", "black"))
    assert effects[1:3] == [CoinsTaken(0, "black", 2, "MOM-12"), CoinsPaid(0, "purple", 1, "MOM-14")]


def test_mom_14_pays_even_if_nothing_was_taken() -> None:
    assert effects_of(with_supply(turn(), blue=0), ADVANCE_BLUE)[1] == CoinsPaid(0, "green", 1, "MOM-14")


def test_mom_14_pays_also_while_holding_the_rivals_scorn() -> None:
    effects = effects_of(with_scorn_holders(turn(), green=0), ADVANCE_BLUE)
    assert effects[2] == CoinsPaid(0, "green", 1, "MOM-14")


@pytest.mark.parametrize("holder", [None, 1])
def test_mom_15_a_seat_that_cannot_pay_takes_the_scorn_from_its_holder_or_the_supply(holder: int | None) -> None:
    state = turn(blue=1)
    state = state if holder is None else with_scorn_holders(state, green=holder)
    assert effects_of(state, ADVANCE_BLUE)[2] == ScornTaken(0, "green", holder, "MOM-15")


def with_scorn(*scorn: str, **coins: int) -> State:
    """Seat 0 holds the Scorn of green and of these tribes, has no green coin, and advances blue."""
    state = turn("blue-3-1", "red-4-1", blue=1, **coins)
    return with_scorn_holders(state, green=0, **dict.fromkeys(scorn, 0))


@pytest.mark.parametrize(
    ("scorn", "coins", "choices"),
    [
        ((), {"red": 2, "purple": 1}, [Appease("red", "coin"), Appease("purple", "coin")]),
        ((), {"red": 1}, [Appease("red", "coin"), Appease("purple", "scorn")]),
        ((), {"purple": 1}, [Appease("red", "scorn"), Appease("purple", "coin")]),
        ((), {}, [Appease("red", "scorn"), Appease("purple", "scorn")]),
        (("red",), {}, [Appease("purple", "scorn")]),
        (("purple",), {"red": 1}, [Appease("red", "coin")]),
        (("red",), {"red": 1}, [Appease("red", "coin"), Appease("purple", "scorn")]),
        (("red", "purple"), {"purple": 1}, [Appease("purple", "coin")]),
    ],
)
def test_mom_16_each_ally_is_paid_if_it_can_be_else_its_scorn_is_taken(
    scorn: tuple[str, ...], coins: dict[str, int], choices: list[Appease]
) -> None:
    state = with_scorn(*scorn, **coins)
    effects = decide(state, ADVANCE_BLUE)
    assert effects[1:] == (CoinsTaken(0, "blue", 2, "MOM-12"), DecisionOpened(0, "appease"))
    assert legal(play(state, ADVANCE_BLUE)) == choices


def test_mom_16_no_decision_opens_if_no_choice_is_left() -> None:
    assert effects_of(with_scorn("red", "purple"), ADVANCE_BLUE)[1:] == [
        CoinsTaken(0, "blue", 2, "MOM-12"),
        StoneMoved("blue", 0, 3),
    ]


def test_mom_16_takes_an_allys_scorn_from_another_player() -> None:
    state = replace(with_scorn(), scorn=with_scorn_holders(with_scorn(), green=0, red=1).scorn)
    assert effects_of(play(state, ADVANCE_BLUE), Appease("red", "scorn"))[0] == ScornTaken(0, "red", 1, "MOM-16")


def test_mom_16_the_stone_moves_and_the_turn_ends_after_the_appeasing() -> None:
    state = play(with_scorn(red=1), ADVANCE_BLUE)
    assert decide(state, Appease("red", "coin")) == (
        CoinsPaid(0, "red", 1, "MOM-16"),
        StoneMoved("blue", 0, 3),
        TurnOpened(1, "civilization"),
        DecisionOpened(1, "play_civilization"),
    )


@pytest.mark.parametrize("tribe", ["brown", "blue", "black"])
def test_mom_17_the_stone_of_the_advanced_tribe_moves_by_the_cards_spaces(tribe: str) -> None:
    effects = effects_of(with_stones(turn(), **{tribe: 5}), PlayCivilization("blue-3-1", tribe))
    assert effects[-1] == StoneMoved(tribe, 5, 8)


@pytest.mark.parametrize("space", [17, 18, 19])
def test_mom_17_a_stone_that_reaches_or_would_pass_the_last_space_takes_the_best_free_circle(space: int) -> None:
    assert effects_of(with_stones(turn(), blue=space), ADVANCE_BLUE)[-2:] == [
        StoneMoved("blue", space, 20),
        StoneFinished("blue", 1),
    ]
    assert effects_of(with_stones(turn(), "red", "black", blue=space), ADVANCE_BLUE)[-1] == StoneFinished("blue", 3)


def test_mom_17_a_stone_one_short_of_the_last_space_has_not_finished() -> None:
    assert effects_of(with_stones(turn(), blue=16), ADVANCE_BLUE)[-1] == StoneMoved("blue", 16, 19)


def test_mom_17_a_stone_in_a_finish_circle_does_not_move_but_favor_is_adjusted() -> None:
    assert effects_of(with_stones(turn(), "blue"), ADVANCE_BLUE)[1:] == [
        CoinsTaken(0, "blue", 2, "MOM-12"),
        CoinsPaid(0, "green", 1, "MOM-14"),
    ]
