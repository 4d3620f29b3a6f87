"""Observations, clients that fold effects, and sampled states."""

from collections.abc import Mapping
from typing import Final

import msgspec
import pytest

from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import State
from service.games.visibility import Seat, Viewer
from tests.length import LONG
from tests.service.games.following import as_json
from tests.service.games.four_monkeys.builders import after, cards, ring, table, tile, tiles, with_holdings, with_stacks
from tests.service.games.four_monkeys.follower import Follower
from tests.service.games.four_monkeys.tables import pieces
from tests.service.games.four_monkeys.virtual_time import match
from tests.service.games.rng import ScriptedRng

MATCHES: Final[tuple[tuple[tuple[str, ...], Mapping[str, object]], ...]] = (
    (("random", "greedy"), {"banana_skins": True}),
    (("random", "random", "greedy"), {"family": True}),
    (("greedy",) * 5, {"timer_visible": False}),
    (("random", "greedy") * 4, {"banana_skins": True, "family": True, "round_seconds": 30}),
)


def sampled(state: State, viewer: Viewer, seed: int = 0) -> State:
    return GAME.sample_state(GAME.observation(state, viewer), ScriptedRng(seed))


def test_a_seat_sees_its_own_hand_and_cards_and_only_counts_of_others() -> None:
    state = with_holdings(table(), 1, tiles=(tile("K02-1", *cards(1, "cc", "tt")),), discards=cards(1, "pp"))
    own = GAME.observation(state, 1).seats[1]
    assert (own.hand, own.discards) == (state.seats[1].hand, cards(1, "pp"))
    assert own.tiles[0].cards == cards(1, "cc", "tt")
    for viewer in (0, None):
        other = GAME.observation(state, viewer).seats[1]
        assert (other.hand, other.hand_count, other.discards, other.discard_count) == (None, 5, None, 1)
        assert (other.tiles[0].cards, other.tiles[0].card_count, other.deck) == (None, 2, 35)


def test_cards_under_a_tile_are_shown_to_all_once_it_is_checked() -> None:
    state = with_holdings(table(), 1, tiles=(tile("K02-1", *cards(1, "cc"), checked=True),))
    assert GAME.observation(state, 0).seats[1].tiles[0].cards == cards(1, "cc")
    assert sampled(state, 0).seats[1].tiles == state.seats[1].tiles


@pytest.mark.parametrize("viewer", [None, 0])
def test_hidden_cards_and_tiles_do_not_affect_observations(viewer: Viewer) -> None:
    state = with_holdings(table(), 1, tiles=(tile("K02-1", *cards(1, "cc")),))
    other = with_holdings(state, 1, hand=state.seats[1].deck[:5], deck=state.seats[1].deck[::-1])
    other = with_holdings(other, 1, tiles=(tile("K02-1", *cards(1, "pp")),))
    other = with_stacks(other, *((stack[0], *stack[:0:-1]) for stack in state.stacks[0]))
    here, there = GAME.observation(state, viewer), GAME.observation(other, viewer)
    assert msgspec.json.encode(here) == msgspec.json.encode(there)
    assert GAME.observation(state, 1) != GAME.observation(other, 1)


def test_an_empty_stack_is_gone_and_the_others_keep_their_numbers() -> None:
    (area,) = GAME.observation(with_stacks(table(), (), ("K02-1", "K03-1"), ()), None).areas
    assert [(one.stack, one.top, one.size) for one in area.stacks] == [(1, "K02-1", 2)]
    assert area.stacks_made == 3


@pytest.mark.long
@pytest.mark.parametrize(("bots", "options"), MATCHES)
def test_an_observation_can_be_kept_up_to_date_from_effects_only(
    bots: tuple[str, ...], options: Mapping[str, object]
) -> None:
    followers = {viewer: Follower(viewer) for viewer in (None, *range(len(bots)))}
    for ply, step in enumerate(match(GAME, bots, options, "follow")):
        for viewer, follower in followers.items():
            follower.follow(step.effects)
            assert (ply % 5 and not LONG) or follower.table == as_json(GAME.observation(step.after, viewer))


@pytest.mark.long
@pytest.mark.parametrize(("bots", "options"), MATCHES)
def test_a_sampled_state_has_the_same_observation_and_pieces(
    bots: tuple[str, ...], options: Mapping[str, object]
) -> None:
    for ply, step in enumerate(match(GAME, bots, options, "sample")):
        if ply % (7 if LONG else 21):
            continue
        for viewer in (None, *range(len(bots))):
            twin = sampled(step.after, viewer, ply)
            assert GAME.observation(twin, viewer) == GAME.observation(step.after, viewer)
            assert pieces(twin) == pieces(step.after)
            assert GAME.decisions(twin) == GAME.decisions(step.after)


def test_samples_differ_in_hidden_data() -> None:
    state = table(3)
    twins = [sampled(state, 0, seed) for seed in range(4)]
    assert len({twin.stacks for twin in twins}) == 4
    for seat in (1, 2):
        assert len({twin.seats[seat].hand for twin in twins}) == 4
    assert len({twin.seats[0].deck for twin in twins}) == 4
    assert {twin.seats[0].hand for twin in twins} == {state.seats[0].hand}


def test_a_sampled_seat_that_has_a_deck_holds_its_own_cards() -> None:
    state = with_holdings(table(3), 1, deck=())
    state = with_holdings(state, 1, hand=tuple(card for card in BOX.decks[1] if card not in state.seats[1].hand)[:35])
    for seed in range(4):
        twin = sampled(state, 0, seed)
        assert all(BOX.cards[card].seat == 2 for card in twin.seats[2].hand + twin.seats[2].deck)
        assert all(BOX.cards[card].seat == 1 for card in twin.seats[1].hand)


@pytest.mark.parametrize("drawer", [0, 1])
def test_a_player_without_a_deck_is_shown_the_cards_of_another_deck(drawer: Seat) -> None:
    """Seat 1 or the viewer itself drew three cards of seat 2 when its own deck was empty."""
    state = table(3)
    drawn = state.seats[2].deck[:3]
    state = with_holdings(state, drawer, deck=(), hand=drawn, discards=BOX.decks[drawer])
    state = with_holdings(state, 2, deck=state.seats[2].deck[3:])
    twin = sampled(state, 0)
    assert pieces(twin) == pieces(state)
    foreign = [card for card in twin.seats[drawer].hand + twin.seats[drawer].discards if BOX.cards[card].seat == 2]
    assert len(foreign) == 3
    assert all(BOX.cards[card].seat == 2 for card in twin.seats[2].hand + twin.seats[2].deck)


@pytest.mark.parametrize("visible", [True, False])
def test_a_sampled_table_has_the_deadline_even_if_it_is_not_seen(visible: bool) -> None:
    state = table(timer_visible=visible)
    assert sampled(state, 0).deadline == state.deadline


def test_checks_stay_visible_until_the_next_scoring() -> None:
    state = with_holdings(table(), 0, tiles=tiles("K10-1"))
    state = after(state, ring(state))
    assert state.round == 2
    assert [check.combo for check in GAME.observation(state, 1).checks] == ["K10-1"]
    assert GAME.observation(state, 1).smartest == (0, 1)
    state = after(state, ring(state, at=state.deadline))
    assert GAME.observation(state, 1).checks == ()
