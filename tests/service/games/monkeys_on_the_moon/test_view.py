"""Observations, clients that fold effects, and sampled states."""

import msgspec
import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import ChooseShip
from service.games.monkeys_on_the_moon.components import TRIBE_INDEX, TRIBES
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Options, State
from service.games.visibility import Viewer
from tests.service.games.following import as_json
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    awaiting,
    decide,
    legal,
    pieces,
    play,
    random_states,
    table,
    with_holdings,
    with_scorn_holders,
    with_supply,
)
from tests.service.games.monkeys_on_the_moon.follower import Follower
from tests.service.games.rng import ScriptedRng

MATCHES = [
    (2, Options()),
    (3, Options(treachery=True)),
    (4, Options(maximum_scorn=True)),
    (4, Options(maximum_scorn=True, treachery=True)),
]


def sampled(state: State, viewer: Viewer, seed: int = 0) -> State:
    return GAME.sample_state(GAME.observation(state, viewer), ScriptedRng(seed))


def test_a_seat_sees_its_own_hand_and_coins_and_only_counts_of_others() -> None:
    state = with_holdings(table(), 1, coins={"red": 2, "blue": 1})
    own = GAME.observation(state, 1).seats[1]
    assert own.hand == state.seats[1].hand
    assert own.coins == {"brown": 0, "black": 0, "green": 0, "blue": 1, "red": 2, "purple": 0}
    for viewer in (0, None):
        other = GAME.observation(state, viewer).seats[1]
        assert (other.hand, other.hand_count, other.coins, other.coin_count) == (None, 2, None, 3)


@pytest.mark.parametrize("viewer", [None, 0])
def test_hidden_cards_and_colours_do_not_affect_observations(viewer: Viewer) -> None:
    state = with_holdings(table(3), 1, coins={"red": 2, "blue": 1})
    other = replace(
        state,
        monkey_deck=state.monkey_deck[::-1],
        civilization_deck=state.seats[1].hand + state.civilization_deck[2:],
        civilization_removed=state.civilization_removed[::-1],
        ship_deck=state.ship_deck[::-1],
    )
    other = with_holdings(other, 1, hand=state.civilization_deck[:2], coins={"green": 3})
    here, there = GAME.observation(state, viewer), GAME.observation(other, viewer)
    assert msgspec.json.encode(here) == msgspec.json.encode(there)
    assert GAME.observation(state, 1) != GAME.observation(other, 1)


def test_a_standing_bid_is_open() -> None:
    seen = GAME.observation(auction_of(table(), "purple-4-1", 0, bidder=1, points=5, purple=1, brown=1), 0)
    assert seen.auction is not None
    assert (seen.auction.bidder, seen.auction.points, seen.auction.coins) == (1, 5, {"brown": 1, "purple": 1})


@pytest.mark.unmeasured
@pytest.mark.parametrize(("seats", "options"), MATCHES)
def test_an_observation_can_be_kept_up_to_date_from_effects_only(seats: int, options: Options) -> None:
    followers = {viewer: Follower(viewer) for viewer in (None, *range(seats))}
    for state, effects in random_states(seats, seed=seats, options=options):
        for viewer, follower in followers.items():
            follower.follow(effects)
            assert follower.table == as_json(GAME.observation(state, viewer))


def test_an_observation_is_kept_up_to_date_when_ships_run_out() -> None:
    state = awaiting(with_holdings(table(), 0, ship=None, aboard=(), hand=()), 0, "choose_ship")
    state = replace(with_holdings(state, 1, hand=()), turn="bid", active=1, civilization_deck=(), ship_deck=())
    state = replace(state, ship_pool=("red-2",), boarding=("red-3-1", "red-3-2", "red-4-1"))
    follower = Follower(0)
    follower.table = as_json(GAME.observation(state, 0))
    effects = decide(state, ChooseShip("red-2"))
    follower.follow(effects)
    assert [type(effect).__name__ for effect in effects] == [
        "ShipChosen",
        "MonkeyBoarded",
        "MonkeyBoarded",
        "ShipLaunched",
        "CoinsTaken",
        "MonkeyKeptWaiting",
        "WaitingMonkeysLaunched",
        "MatchEnded",
    ]
    assert follower.table == as_json(GAME.observation(play(state, ChooseShip("red-2")), 0))


@pytest.mark.unmeasured
@pytest.mark.parametrize(("seats", "options"), MATCHES)
def test_a_sampled_state_has_the_same_observation_and_pieces(seats: int, options: Options) -> None:
    for ply, (state, _) in enumerate(random_states(seats, seed=seats + 10, options=options)):
        if ply % 5 and state.awaited and state.awaited.step not in {"appease", "leave_behind", "choose_ship"}:
            continue
        for viewer in (None, *range(seats)):
            twin = sampled(state, viewer, ply)
            assert GAME.observation(twin, viewer) == GAME.observation(state, viewer)
            assert pieces(twin) == pieces(state)
            assert bool(legal(twin)) == bool(legal(state))
            assert all(count >= 0 for held in twin.seats for count in held.coins)


def test_samples_differ_in_hidden_data() -> None:
    state = table(3)
    twins = [sampled(state, 0, seed) for seed in range(4)]
    for field in ("monkey_deck", "civilization_deck", "civilization_removed", "ship_deck", "seats"):
        assert len({repr(getattr(twin, field)) for twin in twins}) == 4
    assert {twin.seats[0] for twin in twins} == {state.seats[0]}
    assert {twin.seats[1].coins for twin in twins} != {state.seats[1].coins}


def test_a_sampled_bidder_holds_the_coins_of_the_standing_bid() -> None:
    state = auction_of(table(4), "purple-4-1", 0, bidder=1, points=8, purple=2, brown=1)
    state = with_supply(
        with_holdings(state, 1, coins={"purple": 2, "brown": 1}), black=4, green=4, blue=4, red=4, purple=2
    )
    for seed in range(10):
        assert sampled(state, 0, seed).seats[1].coins[TRIBE_INDEX["purple"]] == 2
        assert sampled(state, None, seed).seats[1].coins[TRIBE_INDEX["brown"]] == 1


def test_a_sampled_seat_that_must_appease_has_no_coin_of_the_angered_tribe() -> None:
    state = replace(awaiting(with_scorn_holders(table(4), green=1), 1, "appease"), advanced="blue")
    state = with_supply(with_holdings(state, 1, coins=dict.fromkeys((*TRIBES[:2], *TRIBES[3:]), 1)), green=4)
    for seed in range(20):
        assert sampled(state, 0, seed).seats[1].coins[TRIBE_INDEX["green"]] == 0


def test_a_sampled_seat_that_can_take_no_scorn_has_a_coin_to_appease_with() -> None:
    state = replace(awaiting(with_scorn_holders(table(4), green=1, red=1, purple=1), 1, "appease"), advanced="blue")
    state = with_holdings(state, 1, coins={"red": 1})
    state = with_supply(state, green=4, blue=4, purple=4, brown=4, black=4)
    for seed in range(20):
        assert legal(sampled(state, 0, seed))
