"""Whole matches: no piece is lost, the fold is pure and total, and every value survives its JSON form."""

from typing import Union

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.games.kit.pending import PendingEffects
from service.games.monkeys_on_the_moon.apply import _FOLD
from service.games.monkeys_on_the_moon.components import TRIBES
from service.games.monkeys_on_the_moon.effects import EFFECTS, AnyEffect, BidMade, BidPassed, MatchEnded, TableSet
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Options, State, advanced_tribe
from service.games.monkeys_on_the_moon.voyage import _launch
from service.games.protocol import BadOptions
from service.games.registry import GAMES
from tests.service.games.monkeys_on_the_moon.builders import (
    after,
    decide,
    legal,
    opening,
    pieces,
    random_states,
    table,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng

OPTIONS = st.builds(Options, maximum_scorn=st.booleans(), treachery=st.booleans())


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000), OPTIONS)
def test_no_card_coin_ship_or_scorn_is_ever_lost(seats: int, seed: int, options: Options) -> None:
    expected = None
    for state, _ in random_states(seats, seed, options):
        expected = expected or pieces(state)
        assert pieces(state) == expected
        assert expected["coin red"] == seats + 3
        assert sum(count for piece, count in expected.items() if piece.startswith("ship ")) == 18
        assert all(0 <= count <= seats + 3 for held in state.seats for count in held.coins)
        assert all(count >= 0 for count in state.supply)
        assert len(state.ship_pool) == min(2, len(state.ship_pool + state.ship_deck + state.ships_under_deck)) or (
            state.awaited is not None and state.awaited.step == "choose_ship"
        )
    outcome = GAME.score(state, ScriptedRng())
    assert len(outcome.scores) == seats
    assert sum(outcome.scores) <= 42 + 3 * 18


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_any_choices_lead_to_an_end(data: st.DataObject) -> None:
    seats = data.draw(st.integers(2, 4))
    state = table(seats, seed=data.draw(st.integers(0, 99)), treachery=True)
    for _ in range(1000):
        actions = legal(state)
        if not actions:
            break
        state = after(state, decide(state, actions[data.draw(st.integers(0, 9)) % len(actions)]))
    assert state.awaited is None
    assert all(not held.hand for held in state.seats)


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("options", [Options(), Options(maximum_scorn=True), Options(treachery=True)])
def test_a_match_ends_and_folds_again_from_its_json(seats: int, options: Options) -> None:
    pending = [effects for _, effects in random_states(seats, 5, options)]
    states = [state for state, _ in random_states(seats, 5, options)]
    assert pending[-1][-1] == MatchEnded()
    decode = msgspec.json.Decoder(Union[EFFECTS]).decode  # noqa: UP007 (a union of a tuple)
    state: State | None = None
    for effects, expected in zip(pending, states, strict=True):
        for effect in effects:
            again: AnyEffect = decode(msgspec.json.encode(effect))
            assert again == effect
            state = GAME.apply(state, again)
        assert state == expected
    assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_every_effect_is_folded() -> None:
    assert {TableSet, *_FOLD} == set(EFFECTS)


def test_an_effect_before_table_set_raises() -> None:
    with pytest.raises(TypeError, match="BidPassed comes before TableSet"):
        GAME.apply(None, BidPassed(0))


@pytest.mark.parametrize("effect", [BidMade(0, {"red": 1}, 3), BidPassed(0)])
def test_a_bid_without_an_auction_raises(effect: AnyEffect) -> None:
    with pytest.raises(TypeError, match="without an auction"):
        GAME.apply(table(), effect)


def test_a_table_without_an_advanced_tribe_has_no_angered_one() -> None:
    with pytest.raises(ValueError, match="no tribe"):
        advanced_tribe(table())


def test_a_seat_without_a_ship_launches_nothing() -> None:
    state = with_holdings(table(), 0, ship=None)
    with pytest.raises(ValueError, match="no ship"):
        _launch(PendingEffects(GAME.apply, state), 0, "under_deck", "MOM-27")


def test_options_are_strict_and_off_by_default() -> None:
    assert GAME.options(2, {}) == Options(maximum_scorn=False, treachery=False)
    assert GAME.options(4, {"treachery": True}) == Options(treachery=True)
    for bad in ({"treachery": 1}, {"maximum_scron": True}):
        with pytest.raises(BadOptions):
            GAME.options(2, bad)
    for seats in (1, 5):
        with pytest.raises(BadOptions, match="2 to 4"):
            GAME.options(seats, {})


def test_the_registry_has_the_game() -> None:
    assert GAMES["monkeys_on_the_moon"] is GAME
    assert len(opening(2)) == len(opening(3)) - 3
    assert len(TRIBES) == 6
