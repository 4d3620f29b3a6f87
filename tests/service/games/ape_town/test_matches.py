"""Whole matches: their length, and pieces that are never lost."""

from typing import Union

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.games.ape_town.apply import _FOLD
from service.games.ape_town.components import Tile
from service.games.ape_town.effects import (
    EFFECTS,
    AnyEffect,
    MatchEnded,
    SectionRefilled,
    SectionRevealed,
    TableSet,
    TilePlaced,
)
from service.games.ape_town.game import GAME
from service.games.ape_town.state import Options, State
from service.games.protocol import BadOptions
from service.games.registry import GAMES
from tests.length import LENGTH
from tests.service.games.ape_town.builders import DEAL, legal, pieces, play, random_match, table
from tests.service.games.rng import ScriptedRng

CHUNK = 25
MATCHES = CHUNK * min(2 * LENGTH, 40)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, MATCHES, CHUNK))
def test_a_match_ends_after_75_placements_and_two_sections_are_always_open(first: int) -> None:
    for seed in range(first, first + CHUNK):
        placements = 0
        for state, effects in random_match(2 + seed % 3, seed):
            placements += sum(isinstance(effect, TilePlaced) for effect in effects)
            if state.step is None:
                break
            assert next(GAME.legal_actions(state, state.active), None), "nothing to do"
            if state.step == "take_tile":
                assert len({segment // 5 for segment in state.display}) == 2
        assert placements == 75
        assert state.step is None
        assert None not in state.board
        assert len(set(GAME.score(state, ScriptedRng()).ranks)) == 2 + seed % 3


def test_every_tile_is_laid_out_once_and_all_sections_are_filled_once() -> None:
    effects = [effect for _, step_effects in random_match(4, 1) for effect in step_effects]
    refilled = [effect for effect in effects if isinstance(effect, SectionRefilled)]
    opened = [effect.section for effect in effects if isinstance(effect, SectionRevealed)]
    assert sorted(effect.section for effect in refilled) == list(range(8))
    assert all(len(effect.segments) == 5 for effect in refilled)
    assert opened == [*range(8), *range(8)]


@given(
    seats=st.sampled_from((2, 3, 4)),
    tiles=st.permutations(DEAL),
    choices=st.lists(st.integers(0, 40), max_size=150),
)
@settings(max_examples=25, deadline=None)
def test_no_tile_disc_or_money_gets_lost(seats: int, tiles: list[Tile], choices: list[int]) -> None:
    state = table(seats, tiles=tiles)
    before = pieces(state)
    kinds = {"tarsier": 10, "chimpanzee": 10, "mandrill": 10, "banana": 24, "lemur": 14, "orangutan": 12}
    assert before == kinds | {f"disc {seat}": 15 for seat in range(seats)} | {"money": 6 * seats}
    for choice in choices:
        actions = legal(state)
        state = play(state, actions[choice % len(actions)])
        assert pieces(state) == before
        assert consistent(state)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_match_folds_again_from_its_json(seats: int) -> None:
    decode = msgspec.json.Decoder(Union[EFFECTS]).decode  # noqa: UP007 (a union of a tuple)
    state: State | None = None
    for expected, effects in random_match(seats, 5):
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


@pytest.mark.parametrize(("seats", "given"), [(1, {}), (5, {}), (2, {"advanced": True})])
def test_there_are_no_options_and_two_to_four_seats(seats: int, given: dict[str, object]) -> None:
    with pytest.raises(BadOptions):
        GAME.options(seats, given)
    assert GAME.options(4, {}) == Options()


def test_the_registry_has_the_game() -> None:
    assert GAMES["ape_town"] is GAME


def consistent(state: State) -> bool:
    """Nothing is negative, every disc lies on a tile that takes one, and the display has exactly the face-up tiles."""
    owned = [tile for tile, seat in zip(state.board, state.discs, strict=True) if seat is not None]
    return (
        all(held.money >= 0 and held.discs >= 0 for held in state.seats)
        and set(owned) <= {"lemur", "orangutan"}
        and all(state.track[segment] for segment in state.display)
        and {segment // 5 for segment in state.display} <= set(state.turned_up)
        and (state.taken is not None) == (state.step == "place_tile")
    )
