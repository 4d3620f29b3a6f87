"""Actions in a round other than grabbing (FOU-12 to FOU-16)."""

import pytest

from service.games.four_monkeys.actions import Burn, Grab, Reveal, Stop, UseReplenish
from service.games.four_monkeys.effects import (
    AnyEffect,
    CardsDrawn,
    FalseStopCharged,
    HandDiscarded,
    ReplenishUsed,
    RoundEnded,
    RoundOpened,
    StopCalled,
    TileBurned,
    TileRevealed,
)
from service.games.four_monkeys.game import GAME
from service.games.protocol import CLOCK
from service.games.visibility import Seat
from tests.service.games.four_monkeys.builders import (
    AT,
    BELL,
    DEADLINE,
    DECK,
    HAND,
    START,
    after,
    decide,
    legal,
    play,
    ready,
    refusal,
    ring,
    table,
    ten,
    tile,
    tiles,
    with_holdings,
    with_stacks,
)


def test_fou_12_a_burned_combo_turns_orange_and_gives_three_cards_with_any_hand() -> None:
    state = with_holdings(ready(), 0, tiles=tiles("K01-1", "K02-2"))
    assert Burn("K01-1") in legal(state)
    assert decide(state, Burn("K01-1")) == (TileBurned(0, "K01-1"), CardsDrawn(0, 0, 3, DECK[:3]))
    state = play(state, Burn("K01-1"))
    assert [one.burned for one in state.seats[0].tiles] == [True, False]
    assert len(state.seats[0].hand) == 8
    assert refusal(state, Burn("K01-1")) == ("already-burned", "FOU-12")
    assert [one for one in legal(state) if isinstance(one, Burn)] == [Burn("K02-2")]
    assert refusal(state, Burn("K02-1")) == ("not-your-tile", "FOU-12")


def test_fou_12_a_short_deck_gives_its_remaining_cards() -> None:
    state = with_holdings(with_holdings(ready(), 1, deck=()), 0, tiles=tiles("K01-1"), deck=DECK[:2])
    assert decide(state, Burn("K01-1"))[1] == CardsDrawn(0, 0, 2, DECK[:2])


def test_fou_13_a_redraw_discards_the_whole_hand_and_draws_five() -> None:
    state = ready()
    assert decide(state, UseReplenish("redraw")) == (
        ReplenishUsed(0, "redraw"),
        HandDiscarded(0, 5),
        CardsDrawn(0, 0, 5, DECK[:5]),
    )
    held = play(state, UseReplenish("redraw")).seats[0]
    assert (held.hand, held.discards, held.replenish_used) == (DECK[:5], HAND, True)


def test_fou_13_an_extra_draw_brings_three_cards_and_the_tile_turns_once_a_round() -> None:
    state = ready()
    assert decide(state, UseReplenish("extra")) == (ReplenishUsed(0, "extra"), CardsDrawn(0, 0, 3, DECK[:3]))
    state = play(state, UseReplenish("extra"))
    assert state.seats[0].hand == (*HAND, *DECK[:3])
    for mode in (UseReplenish("extra"), UseReplenish("redraw")):
        assert refusal(state, mode) == ("replenish-used", "FOU-13")
        assert mode not in legal(state)
        assert mode in legal(ready())


def test_fou_14_a_seat_that_owns_every_combo_that_lies_open_may_reveal_another_one() -> None:
    state = with_stacks(
        with_holdings(table(), 0, tiles=tiles("K02-2", "K04-3")), ("K02-1", "K03-1", "K04-2"), ("K04-1",)
    )
    assert [one for one in legal(state) if isinstance(one, Reveal)] == [Reveal(0)]
    assert decide(state, Reveal(0)) == (TileRevealed(0, 0, "K02-1", "K03-1"),)
    revealed = play(state, Reveal(0))
    assert revealed.stacks == ((("K03-1", "K04-2"), ("K04-1",), ("K02-1",)),)
    assert refusal(revealed, Reveal(0)) == ("combo-missing", "FOU-14")
    assert refusal(state, Reveal(1)) == ("stack-too-small", "FOU-14")
    assert refusal(state, Reveal(2)) == ("no-such-stack", "FOU-3")


def test_fou_14_revealing_may_be_repeated_while_all_open_combos_are_owned() -> None:
    state = with_stacks(with_holdings(table(), 0, tiles=tiles("K02-2")), ("K02-1", "K02-3", "K02-4"))
    state = play(play(state, Reveal(0)), Reveal(0))
    assert state.stacks == ((("K02-4",), ("K02-1",), ("K02-3",)),)
    assert not [one for one in legal(state) if isinstance(one, Reveal)]


@pytest.mark.parametrize("owned", [(), ("K02-2",)])
def test_fou_14_a_combo_that_lies_open_and_is_not_owned_forbids_it(owned: tuple[str, ...]) -> None:
    state = with_holdings(ready(), 0, tiles=tiles(*owned))
    assert refusal(state, Reveal(0)) == ("combo-missing", "FOU-14")
    assert not [one for one in legal(state) if isinstance(one, Reveal)]


def test_fou_14_without_stacks_nothing_can_be_revealed() -> None:
    state = with_stacks(table(), (), ())
    assert refusal(state, Reveal(0)) == ("stack-too-small", "FOU-14")
    assert not [one for one in legal(state) if isinstance(one, Reveal)]


def test_fou_14_the_new_stack_has_the_next_number_and_old_ones_keep_theirs() -> None:
    state = with_stacks(with_holdings(table(), 0, tiles=tiles("K02-2", "K03-2")), (), ("K02-1", "K03-1"))
    state = play(state, Reveal(1))
    grabs = [(one.stack, one.combo) for one in legal(state) if isinstance(one, Grab)]
    assert grabs == [(1, "K03-1"), (2, "K02-1")]
    assert refusal(state, Grab(1, "K02-1", state.seats[0].hand)) == ("tile-elsewhere", "FOU-10")


def test_fou_15_a_true_stop_ends_the_round_with_any_cards_under_the_tiles() -> None:
    effects = decide(with_holdings(table(), 0, tiles=(*ten(), tile("K01-2"))), Stop())
    assert effects[:2] == (StopCalled(0, 10), RoundEnded(1, "stop"))
    assert not any(isinstance(effect, FalseStopCharged) for effect in effects)


@pytest.mark.parametrize("owned", [(), ten()[:9], (*ten()[:9], *ten(2)[:9])])
def test_fou_15_a_false_stop_costs_ten_points_and_the_round_is_played_again(owned: tuple[AnyEffect, ...]) -> None:
    state = with_holdings(table(3, banana_skins=True), 1, tiles=owned, replenish_used=True, own_skin=False)
    effects = decide(state, Stop(), 1, START + 7_000)
    assert effects[:2] == (StopCalled(1, min(9, len(owned))), FalseStopCharged(1, -10))
    again = after(state, effects)
    assert (again.round, again.false_stops, again.points) == (1, (0, 1, 0), ((), (), ()))
    assert (again.starts_at, again.deadline) == (START + 12_000, START + 252_000)
    assert again.areas == state.areas
    for held in again.seats:
        fresh = (held.tiles, held.discards, held.replenish_used, held.own_skin, held.received_skins)
        assert fresh == ((), (), False, True, 0)
        assert (len(held.hand), len(held.deck)) == (5, 35)


def test_fou_15_seats_keep_their_areas_when_a_round_is_played_again() -> None:
    state = table(8)
    state = after(state, ring(state))
    areas = state.areas
    assert areas == ((0, 1, 2, 3), (4, 5, 6, 7))
    state = play(state, Stop(), 0, state.starts_at)
    assert state.areas == areas
    opened = [effect for effect in ring(state, at=state.deadline) if isinstance(effect, RoundOpened)]
    assert opened[0].areas == ((1, 2, 3, 4), (0, 5, 6, 7))


def test_fou_15_the_third_false_stop_of_a_round_is_refused_and_a_true_one_is_not() -> None:
    state = table()
    for _ in range(2):
        assert Stop() in legal(state)
        state = play(state, Stop(), at=state.starts_at)
    assert state.false_stops == (2, 0)
    assert refusal(state, Stop(), at=state.starts_at) == ("stops-used-up", "FOU-15")
    assert Stop() not in legal(state)
    assert Stop() in legal(state, 1)
    assert Stop() in legal(with_holdings(state, 0, tiles=ten()))
    assert decide(with_holdings(state, 0, tiles=ten()), Stop(), at=state.starts_at)[1] == RoundEnded(1, "stop")
    following = after(state, ring(state, at=state.deadline))
    assert following.round == 2
    assert Stop() in legal(following)


def test_fou_16_the_timer_ends_the_round_and_hands_are_discarded() -> None:
    state = table()
    effects = ring(state)
    assert effects[0] == RoundEnded(1, "deadline")
    ended = after(state, effects[:1])
    assert [(held.hand, held.discards) for held in ended.seats] == [((), held.hand) for held in state.seats]


def test_fou_16_an_action_at_the_deadline_is_refused_also_before_the_timer_rings() -> None:
    state = ready()
    assert decide(state, Stop(), at=DEADLINE - 1)
    assert refusal(state, Stop(), at=DEADLINE) == ("round-over", "FOU-16")
    assert refusal(state, Grab(0, "K02-1", HAND), at=DEADLINE + 50) == ("round-over", "FOU-16")


@pytest.mark.parametrize("countdown", [0, 5])
def test_fou_16_an_action_from_before_a_round_was_dealt_belongs_to_the_previous_round(countdown: int) -> None:
    state = table(countdown_seconds=countdown)
    assert refusal(state, Stop(), at=AT - 1) == ("round-over", "FOU-16")
    if countdown:
        assert refusal(state, Stop(), at=AT) == ("too-early", "FOU-4")
    else:
        assert decide(state, Stop(), at=AT)


@pytest.mark.parametrize(("seat", "at"), [(CLOCK, DEADLINE - 1), (0, DEADLINE)])
def test_fou_16_the_timer_rings_only_when_it_is_due_and_only_for_the_clock(seat: Seat, at: int) -> None:
    assert refusal(table(), BELL, seat, at) == ("no-such-bell", "FOU-16")


def test_a_seat_without_a_legal_action_has_no_open_decision() -> None:
    state = with_holdings(table(), 0, hand=(), replenish_used=True)
    state = after(state, [FalseStopCharged(0, -10)] * 2)
    assert legal(state) == []
    assert [one.seat for one in GAME.decisions(state)] == [1, CLOCK]
