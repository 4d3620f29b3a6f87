"""MOM-30 and MOM-40: the wrap-up of a round and the end of the match."""

import pytest
from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import Pass
from service.games.monkeys_on_the_moon.effects import (
    BidPassed,
    CivilizationDealt,
    CoinsTaken,
    DecisionOpened,
    MatchEnded,
    MonkeyDiscarded,
    MonkeysRevealed,
    MoonstonePassed,
    RoundOpened,
    ScornReturned,
    ShipLaunched,
    TurnOpened,
    WaitingMonkeysLaunched,
)
from service.games.monkeys_on_the_moon.state import Options, State
from tests.service.games.monkeys_on_the_moon.builders import (
    auction_of,
    decide,
    play,
    random_states,
    table,
    with_holdings,
    with_scorn_holders,
)

MONKEY = "green-3-1"


def last_pass(seats: int = 3, first: int = 1) -> State:
    """The last bid of round 1: seat 0 has put up a monkey, and all other seats except seat 2 have passed."""
    state = auction_of(table(seats, first=first), MONKEY, 0)
    state = replace(state, active=0, monkey_pool=state.monkey_pool[:1])
    return play(state, Pass(), Pass())


def at_the_end(seats: int = 2) -> State:
    """The same in the last round, with empty Civilization deck and hands."""
    state = auction_of(table(seats), MONKEY, 0)
    state = replace(state, active=seats - 1, civilization_deck=())
    for seat in range(seats):
        state = with_holdings(state, seat, hand=())
    return play(state, *(Pass() for _ in range(seats - 1)))


def test_mom_30_the_pool_is_filled_cards_are_dealt_and_the_moonstone_goes_to_the_left() -> None:
    state = last_pass()
    deck = state.civilization_deck
    assert decide(state, Pass()) == (
        BidPassed(2),
        MonkeyDiscarded(MONKEY),
        MonkeysRevealed(state.monkey_deck[:3]),
        CivilizationDealt(1, deck[0]),
        CivilizationDealt(2, deck[1]),
        CivilizationDealt(0, deck[2]),
        MoonstonePassed((2, 0, 1)),
        RoundOpened(2),
        TurnOpened(2, "civilization"),
        DecisionOpened(2, "play_civilization"),
    )
    after = play(state, Pass())
    assert len(after.monkey_pool) == 4
    assert after.civilization_deck == deck[3:]
    assert after.seats[1].hand[-1] == deck[0]


def test_mom_30_nothing_is_dealt_from_an_empty_deck() -> None:
    effects = decide(replace(last_pass(), civilization_deck=()), Pass())
    assert not [effect for effect in effects if isinstance(effect, CivilizationDealt)]
    assert MoonstonePassed((2, 0, 1)) in effects


@pytest.mark.parametrize("left", [0, 2])
def test_mom_30_the_pool_is_filled_as_far_as_the_deck_goes(left: int) -> None:
    state = last_pass()
    deck = state.monkey_deck[:left]
    effects = decide(replace(state, monkey_deck=deck), Pass())
    assert [effect.cards for effect in effects if isinstance(effect, MonkeysRevealed)] == [deck] * bool(deck)


@pytest.mark.parametrize(("seats", "rounds"), [(2, 12), (3, 9), (4, 8)])
def test_mom_40_a_match_has_as_many_rounds_as_the_civilization_cards_last(seats: int, rounds: int) -> None:
    opened, dealt_in = [], set()
    for state, effects in random_states(seats, seed=seats, options=Options()):
        opened += [effect.round for effect in effects if isinstance(effect, RoundOpened)]
        dealt_in |= {state.round for effect in effects if isinstance(effect, CivilizationDealt)}
    assert opened == list(range(1, rounds + 1))
    assert dealt_in == set(range(1, rounds))
    assert state.round == state.rounds
    assert not any(held.hand for held in state.seats)


def test_mom_40_all_ships_with_a_monkey_launch_unfilled_and_there_is_no_wrap_up() -> None:
    state = with_holdings(at_the_end(), 0, ship="red-4", aboard=("red-3-1", "black-3-1"))
    state = with_holdings(state, 1, ship="blue-3", aboard=())
    assert decide(state, Pass()) == (
        BidPassed(1),
        MonkeyDiscarded(MONKEY),
        ShipLaunched(0, "red-4", ("red-3-1", "black-3-1"), "discard", 0, "MOM-40"),
        MatchEnded(),
    )
    after = play(state, Pass())
    assert after.awaited is None
    assert after.seats[0].launched == ("red-3-1", "black-3-1")
    assert after.seats[0].full_ships == ()
    assert after.ship_discard == ("red-4",)


def test_mom_40_the_last_launch_returns_a_scorn_of_the_ships_colour_and_gives_no_coin() -> None:
    state = with_scorn_holders(with_holdings(at_the_end(), 0, ship="red-4", aboard=("black-3-1",)), red=0, blue=0)
    effects = decide(state, Pass())
    assert effects[3:] == (ScornReturned(0, "red", "MOM-40"), MatchEnded())
    assert not [effect for effect in effects if isinstance(effect, CoinsTaken)]
    other = with_scorn_holders(with_holdings(at_the_end(), 0, ship="red-4", aboard=("black-3-1",)), red=1)
    assert decide(other, Pass())[3:] == (MatchEnded(),)


def test_mom_40_monkeys_that_wait_without_a_ship_are_launched_and_return_no_scorn() -> None:
    state = with_scorn_holders(with_holdings(at_the_end(), 1, ship=None, aboard=("red-3-1", "green-3-2")), red=1)
    state = with_holdings(state, 0, aboard=())
    assert decide(state, Pass())[2:] == (
        WaitingMonkeysLaunched(1, ("red-3-1", "green-3-2"), "MOM-40"),
        MatchEnded(),
    )
    assert play(state, Pass()).seats[1].launched == ("red-3-1", "green-3-2")
