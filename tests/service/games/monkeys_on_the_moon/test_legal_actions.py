"""Legal lists are complete, sound, lazy and in a fixed order. Every kind of decision occurs and has a default action."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.games.monkeys_on_the_moon.actions import (
    AnyAction,
    Appease,
    Bid,
    ChooseShip,
    LeaveBehind,
    Pass,
    PlayCivilization,
    SelectMonkey,
)
from service.games.monkeys_on_the_moon.components import BOX, TRIBES
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Options, State
from service.games.protocol import IllegalAction
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    decide,
    legal,
    play,
    random_states,
    table,
    with_holdings,
    with_stones,
)


def candidates() -> Iterator[AnyAction]:
    """Every possible action, except for bids with more than two coins of a tribe."""
    yield Pass()
    yield from (PlayCivilization(card, tribe) for card in BOX.civilization for tribe in TRIBES)
    yield from (Appease(tribe, "coin") for tribe in TRIBES)
    yield from (Appease(tribe, "scorn") for tribe in TRIBES)
    yield from map(SelectMonkey, BOX.monkeys)
    yield from map(ChooseShip, BOX.ships)
    yield from map(LeaveBehind, TRIBES)
    for counts in product(range(3), repeat=len(TRIBES)):
        yield Bid({tribe: count for tribe, count in zip(TRIBES, counts, strict=True) if count})


CANDIDATES = list(candidates())


def accepted(state: State, seat: int, action: AnyAction) -> bool:
    try:
        decide(state, action, seat)
    except IllegalAction:
        return False
    return True


def small(action: AnyAction) -> bool:
    return not isinstance(action, Bid) or max(action.coins.values()) < 3


def key(action: AnyAction) -> str:
    if isinstance(action, Bid):
        return repr(sorted(action.coins.items()))
    return repr(action)


@pytest.mark.unmeasured
@pytest.mark.parametrize(("seats", "treachery"), [(2, True), (3, False), (4, True)])
def test_legal_lists_equal_those_of_brute_force(seats: int, treachery: bool) -> None:
    for ply, (state, _) in enumerate(random_states(seats, seed=seats, options=Options(treachery=treachery))):
        if ply % 23 == 0:
            for seat in range(seats):
                listed = list(GAME.legal_actions(state, seat))
                assert all(accepted(state, seat, action) for action in listed)
                found = {key(action) for action in CANDIDATES if accepted(state, seat, action)}
                assert found == {key(action) for action in listed if small(action)}
                assert len({key(action) for action in listed}) == len(listed)


@given(st.lists(st.integers(0, 7), min_size=6, max_size=6), st.integers(0, 30))
def test_bids_are_all_sets_of_coins_that_beat_the_standing_bid(held: list[int], standing: int) -> None:
    state = auction_of(table(), "purple-4-1", 0, bidder=1 if standing else None, points=standing)
    state = with_holdings(state, 0, coins=dict(zip(TRIBES, held, strict=True)))
    coins = dict(zip(TRIBES, held, strict=True))
    expected = {
        (purple, green, brown)
        for purple in range(coins["purple"] + 1)
        for green in range(coins["green"] + 1)
        for brown in range(coins["brown"] + 1)
        if 3 * purple + 2 * green + 2 * brown > max(standing, 1)
    }
    bids = [action.coins for action in legal(state) if isinstance(action, Bid)]
    assert {(bid.get("purple", 0), bid.get("green", 0), bid.get("brown", 0)) for bid in bids} == expected
    assert len(bids) == len(expected)
    assert all(min(bid.values()) > 0 for bid in bids)


def test_only_the_awaited_seat_has_actions_and_at_the_end_no_seat() -> None:
    *_, (end, _) = random_states(3, seed=1, options=Options())
    for seat in range(3):
        assert list(GAME.legal_actions(end, seat)) == []
        assert bool(list(GAME.legal_actions(table(3, first=1), seat))) == (seat == 1)
    assert GAME.decisions(end) == ()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_default_is_to_pass_or_the_first_legal_action_and_a_table_of_absent_players_ends(seats: int) -> None:
    state = table(seats, treachery=True)
    while decisions := GAME.decisions(state):
        (decision,) = decisions
        assert decision.on_timeout == next(GAME.legal_actions(state, decision.seat))
        assert (decision.step == "bid") == (decision.on_timeout == Pass())
        assert decision.on_timeout is not None
        state = play(state, decision.on_timeout)
    assert state.round == state.rounds


@pytest.mark.unmeasured
def test_every_decision_comes_up_in_random_play() -> None:
    steps = {
        decision.step
        for seed in range(12)
        for state, _ in random_states(2 + seed % 3, seed, Options(treachery=True))
        for decision in GAME.decisions(state)
    }
    assert steps == {"play_civilization", "appease", "select_monkey", "bid", "choose_ship", "leave_behind"}


def test_stones_at_the_end_of_the_track_leave_cards_to_play() -> None:
    assert len(legal(with_stones(table(), *TRIBES))) == len(legal(table()))
