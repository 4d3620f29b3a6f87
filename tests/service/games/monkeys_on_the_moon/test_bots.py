"""The greedy bot plays legally and reproducibly, and much better than random actions."""

import pytest
from msgspec.structs import replace

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
from service.games.monkeys_on_the_moon.bots import greedy
from service.games.monkeys_on_the_moon.game import GAME
from service.games.monkeys_on_the_moon.state import Options, State
from service.games.monkeys_on_the_moon.view import Observation
from service.games.protocol import Outcome, Task
from tests.length import LENGTH
from tests.service.games.monkeys_on_the_moon.builders import (
    after,
    auction_of,
    awaiting,
    bid_turn,
    civilization_turn,
    decide,
    legal,
    table,
    with_holdings,
    with_scorn_holders,
    with_stones,
    with_supply,
)
from tests.service.games.rng import ScriptedRng

MATCHES = min(50 * LENGTH, 200)


def choice(state: State) -> AnyAction:
    """The greedy bot's action for the awaited seat."""
    assert state.awaited is not None
    seat = state.awaited.seat
    task: Task[AnyAction, Observation] = Task(
        seat, state.awaited.step, GAME.observation(state, seat), tuple(legal(state))
    )
    return greedy(task, ScriptedRng())


def match(seats: int, seed: int, greedy: set[int], options: Options) -> Outcome:
    """The outcome of greedy bots at some seats against random bots at the others."""
    rng = ScriptedRng(seed)
    state = after(None, GAME.setup(seats, options, 0, rng))
    while state.awaited:
        actions = legal(state)
        action = choice(state) if state.awaited.seat in greedy else rng.pick("action", actions)
        assert action in actions
        state = after(state, decide(state, action))
    return GAME.score(state, rng)


@pytest.mark.long
def test_greedy_wins_four_of_five_two_seat_matches_against_a_random_bot() -> None:
    won = 0.0
    for seed in range(MATCHES):
        seat = seed % 2
        winners = match(2, seed, {seat}, Options()).winners
        won += (seat in winners) / len(winners)
    assert won >= 0.8 * MATCHES


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", [3, 4])
def test_greedy_plays_whole_matches_with_every_option_reproducibly(seats: int) -> None:
    options = Options(maximum_scorn=True, treachery=True)
    assert match(seats, 3, set(range(seats)), options) == match(seats, 3, set(range(seats)), options)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # two coins and no Scorn
        (
            with_supply(civilization_turn(table(), 0, "blue-3-1"), blue=0, brown=0, black=2),
            PlayCivilization("blue-3-1", "black"),
        ),
        # a Scorn returned
        (with_scorn_holders(civilization_turn(table(), 0, "blue-3-1"), brown=0), PlayCivilization("blue-3-1", "brown")),
        # a rival that can be paid, not one whose Scorn it would have to take
        (
            with_holdings(civilization_turn(table(), 0, "blue-3-1"), 0, coins={"blue": 1, "black": 1, "purple": 2}),
            PlayCivilization("blue-3-1", "black"),
        ),
        # a tribe whose Scorn it already holds, if that costs less than a new Scorn
        (
            with_scorn_holders(
                with_holdings(civilization_turn(table(), 0, "blue-3-1"), 0, coins={"blue": 1, "black": 1}), green=0
            ),
            PlayCivilization("blue-3-1", "blue"),
        ),
        # a stone of a tribe of which the seat has the most monkeys
        (
            with_holdings(civilization_turn(table(), 0, "blue-4-1"), 0, launched=("brown-5-1",)),
            PlayCivilization("blue-4-1", "brown"),
        ),
        # no step of a stone that has finished
        (
            with_holdings(with_stones(civilization_turn(table(), 0, "blue-4-1"), "brown"), 0, launched=("brown-5-1",)),
            PlayCivilization("blue-4-1", "blue"),
        ),
        (
            replace(
                awaiting(with_scorn_holders(with_holdings(table(), 0, coins={"red": 2}), green=0), 0, "appease"),
                advanced="blue",
            ),
            Appease("red", "coin"),
        ),
        (bid_turn(table(), 0, "red-3-1", "red-5-1", "red-4-1"), SelectMonkey("red-5-1")),
        (
            bid_turn(
                with_stones(with_holdings(table(), 0, ship="blue-4", aboard=("black-3-1",)), purple=2, green=1),
                0,
                "purple-4-1",
                "green-4-1",
            ),
            SelectMonkey("green-4-1"),
        ),
        (bid_turn(with_holdings(table(), 0, ship=None), 0, "red-4-1", "red-5-1"), SelectMonkey("red-5-1")),
        (with_holdings(auction_of(table(), "red-5-1", 0), 0, coins={"red": 2, "black": 1}), Bid({"red": 1})),
        (with_holdings(auction_of(table(), "red-3-1", 0, bidder=1, points=20), 0, coins={"red": 7}), Pass()),
        (awaiting(replace(table(), ship_pool=("red-2", "red-4")), 0, "choose_ship"), ChooseShip("red-4")),
        (
            with_scorn_holders(awaiting(replace(table(), ship_pool=("red-4", "blue-2")), 0, "choose_ship"), blue=0),
            ChooseShip("blue-2"),
        ),
        (
            awaiting(
                with_holdings(table(), 0, ship="red-4", aboard=("blue-3-1", "green-3-1", "blue-3-2")), 0, "leave_behind"
            ),
            LeaveBehind("green"),
        ),
    ],
)
def test_greedy_prefers(state: State, expected: AnyAction) -> None:
    assert choice(state) == expected
