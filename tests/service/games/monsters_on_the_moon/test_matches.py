"""Whole matches: they end, no piece is lost, and every value survives its JSON form."""

from collections.abc import Mapping
from typing import Union

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.games.monsters_on_the_moon.apply import _FOLD
from service.games.monsters_on_the_moon.components import BOX
from service.games.monsters_on_the_moon.effects import EFFECTS, AnyEffect, MatchEnded
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.start_effects import TableSet
from service.games.monsters_on_the_moon.state import State
from service.games.registry import GAMES
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import legal, pieces, play, random_match, table
from tests.service.games.rng import ScriptedRng

LAYOUTS = st.sampled_from(tuple(BOX.layouts))
MISSIONS = st.sampled_from((None, "secret", "open"))


@pytest.mark.long
@settings(max_examples=20 * LENGTH if LONG else 6)
@given(
    st.integers(2, 4),
    st.integers(0, 10_000),
    st.fixed_dictionaries({"layout": LAYOUTS, "missions": MISSIONS, "walls": st.booleans()}),
)
def test_no_card_spaceship_or_mission_is_ever_lost(seats: int, seed: int, options: Mapping[str, object]) -> None:
    match = list(random_match(seats, seed, options))
    expected = pieces(match[0][0])
    for state, _ in match:
        assert pieces(state) == expected
        assert sum(count for piece, count in expected.items() if piece.startswith("card ")) == len(BOX.decks[seats])
        assert {count for piece, count in expected.items() if piece.startswith("ship ")} == {2}
    assert match[-1][1][-1] == MatchEnded()
    assert not state.pile
    outcome = GAME.score(state, ScriptedRng())
    assert len(outcome.scores) == seats


@pytest.mark.long
@settings(max_examples=15 * LENGTH if LONG else 5)
@given(st.data())
def test_any_choices_lead_to_an_end(data: st.DataObject) -> None:
    seats = data.draw(st.integers(1, 4))
    state = table(seats, seed=data.draw(st.integers(0, 99)))
    plies = 0
    while actions := legal(state):
        state = play(state, actions[data.draw(st.integers(0, 10_000)) % len(actions)])
        plies += 1
        assert plies < 200
    assert state.step is None
    assert all(not held.hand for held in state.seats)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (1, {}),
        (2, {"missions": "open"}),
        (3, {"layout": "confrontation"}),
        (4, {"missions": "secret"}),
        (3, {"walls": True}),
    ],
)
def test_a_match_folds_again_from_its_json(seats: int, options: Mapping[str, object]) -> None:
    decode = msgspec.json.Decoder(Union[EFFECTS]).decode  # noqa: UP007 (a union of a tuple)
    state: State | None = None
    for expected, effects in random_match(seats, 5, options):
        for effect in effects:
            again: AnyEffect = decode(msgspec.json.encode(effect))
            assert again == effect
            state = GAME.apply(state, again)
        assert state == expected
    assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_every_effect_is_folded() -> None:
    assert {TableSet, *_FOLD} == set(EFFECTS)


def test_an_effect_before_table_set_raises() -> None:
    with pytest.raises(TypeError, match="MatchEnded comes before TableSet"):
        GAME.apply(None, MatchEnded())


def test_the_registry_has_the_game() -> None:
    assert GAMES["monsters_on_the_moon"] is GAME
