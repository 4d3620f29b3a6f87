"""The setup."""

import pytest

from service.games.monkeys_on_the_moon.components import BOX, TRIBES
from service.games.monkeys_on_the_moon.effects import (
    CivilizationDealt,
    CivilizationRemoved,
    DecisionOpened,
    DeckShuffled,
    MonkeysRevealed,
    RoundOpened,
    ShipAssigned,
    ShipsRevealed,
    TableSet,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Options
from tests.service.games.monkeys_on_the_moon.builders import CIRCLE, opening, table
from tests.service.games.rng import ScriptedRng

MONKEYS = tuple(BOX.monkeys)[::-1]
CIVILIZATION = tuple(BOX.civilization)[::-1]
SHIPS = tuple(BOX.ships)[::-1]


def test_the_draws_of_the_start_are_made_in_the_public_order() -> None:
    rng = ScriptedRng()
    GAME.setup(3, Options(), 0, rng)
    assert rng.drawn == ["alliance_circle", "monkey_deck", "civilization_deck", "ship_deck", "first_seat"]


def test_a_whole_setup() -> None:
    rng = ScriptedRng(
        outcomes={
            "alliance_circle": CIRCLE,
            "monkey_deck": MONKEYS,
            "civilization_deck": CIVILIZATION,
            "ship_deck": SHIPS,
            "first_seat": 1,
        }
    )
    assert GAME.setup(3, Options(treachery=True), 0, rng) == (
        TableSet(
            turn_order=(1, 2, 0),
            alliance_circle=CIRCLE,
            coins_each=1,
            supply_each=3,
            rounds=9,
            maximum_scorn=False,
            treachery=True,
        ),
        DeckShuffled("monkey", 42, MONKEYS),
        DeckShuffled("civilization", 36, CIVILIZATION),
        DeckShuffled("ship", 18, SHIPS),
        MonkeysRevealed(MONKEYS[:4]),
        CivilizationRemoved(9, CIVILIZATION[:9]),
        CivilizationDealt(0, CIVILIZATION[9]),
        CivilizationDealt(0, CIVILIZATION[10]),
        CivilizationDealt(1, CIVILIZATION[11]),
        CivilizationDealt(1, CIVILIZATION[12]),
        CivilizationDealt(2, CIVILIZATION[13]),
        CivilizationDealt(2, CIVILIZATION[14]),
        ShipAssigned(0, SHIPS[0]),
        ShipAssigned(1, SHIPS[1]),
        ShipAssigned(2, SHIPS[2]),
        ShipsRevealed(SHIPS[3:5]),
        RoundOpened(1),
        TurnOpened(1, "civilization"),
        DecisionOpened(1, "play_civilization"),
    )


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mom_1_the_pool_is_one_larger_than_the_number_of_players(seats: int) -> None:
    state = table(seats)
    assert len(state.monkey_pool) == seats + 1
    assert len(state.monkey_deck) == 42 - seats - 1


@pytest.mark.parametrize(("seats", "removed", "deck"), [(2, 12, 20), (3, 9, 21), (4, 4, 24)])
def test_mom_2_some_civilization_cards_leave_unseen_and_two_are_dealt_to_each(
    seats: int, removed: int, deck: int
) -> None:
    state = table(seats)
    assert len(state.civilization_removed) == removed
    assert len(state.civilization_deck) == deck
    assert [len(held.hand) for held in state.seats] == [2] * seats
    assert CivilizationRemoved.hidden.keys() == {"cards"}
    assert CivilizationDealt.hidden.keys() == {"card"}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mom_3_each_seat_has_a_coin_of_every_tribe_and_three_are_the_supply(seats: int) -> None:
    state = table(seats)
    assert [held.coins for held in state.seats] == [(1,) * 6] * seats
    assert state.supply == (3,) * 6


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mom_4_a_ship_for_each_seat_and_two_in_the_pool(seats: int) -> None:
    state = table(seats)
    assert all(held.ship for held in state.seats)
    assert len(state.ship_pool) == 2
    assert len(state.ship_deck) == 16 - seats


def test_mom_5_the_starting_player_is_a_draw() -> None:
    assert {table(3, first=first).starting_seat for first in range(3)} == {0, 1, 2}
    rng = ScriptedRng(outcomes={"first_seat": 2})
    assert isinstance(GAME.setup(3, Options(), 0, rng)[-1], DecisionOpened)
    assert opening(3, first=2)[-1] == DecisionOpened(2, "play_civilization")


def test_the_circle_is_a_draw_of_all_tribes() -> None:
    circles = {
        effect.alliance_circle
        for seed in range(5)
        for effect in GAME.setup(2, Options(), 0, ScriptedRng(seed))
        if isinstance(effect, TableSet)
    }
    assert len(circles) == 5
    assert all(sorted(circle) == sorted(TRIBES) for circle in circles)
