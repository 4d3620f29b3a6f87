"""Banana skins (FOU-30)."""

import pytest

from service.games.four_monkeys.actions import Burn, Grab, HandBanana, Reveal, Stop, UseReplenish
from service.games.four_monkeys.effects import (
    BananaHanded,
)
from service.games.four_monkeys.state import State
from service.games.visibility import Seat
from tests.service.games.four_monkeys.builders import (
    HAND,
    after,
    decide,
    legal,
    opening,
    play,
    points,
    ready,
    refusal,
    ring,
    table,
    with_holdings,
    with_stacks,
)


def skins(state: State) -> list[tuple[bool, int]]:
    return [(held.own_skin, held.received_skins) for held in state.seats]


def test_fou_30_a_skin_is_handed_over_right_after_a_grab_only() -> None:
    state = ready(3, banana_skins=True)
    assert refusal(state, HandBanana(1)) == ("not-after-a-grab", "FOU-30")
    state = play(state, Grab(0, "K02-1", HAND[:1]))
    assert [one for one in legal(state) if isinstance(one, HandBanana)] == [HandBanana(1), HandBanana(2)]
    assert decide(state, HandBanana(2)) == (BananaHanded(0, 2, "own"),)
    handed = play(state, HandBanana(2))
    assert skins(handed) == [(False, 0), (True, 0), (True, 1)]
    assert refusal(handed, HandBanana(1)) == ("not-after-a-grab", "FOU-30")
    assert not [one for one in legal(handed) if isinstance(one, HandBanana)]


@pytest.mark.parametrize("between", [UseReplenish("extra"), Burn("K02-1"), Reveal(0)])
def test_fou_30_the_hand_over_is_the_very_next_action_of_the_seat(between: Burn | Reveal | UseReplenish) -> None:
    state = play(ready(3, banana_skins=True), Grab(0, "K02-1", HAND[:1]))
    state = with_stacks(state, ("K02-2", "K03-1"))
    assert HandBanana(1) in legal(play(state, UseReplenish("extra"), 1))
    assert refusal(play(state, between), HandBanana(1)) == ("not-after-a-grab", "FOU-30")


def test_fou_30_a_received_skin_goes_first_and_an_own_one_that_comes_back_is_received() -> None:
    state = ready(3, banana_skins=True)
    state = with_holdings(with_holdings(state, 0, received_skins=1, just_grabbed=True), 1, just_grabbed=True)
    state = with_holdings(state, 2, just_grabbed=True)
    assert decide(state, HandBanana(1)) == (BananaHanded(0, 1, "received"),)
    state = play(state, HandBanana(1))
    assert skins(state) == [(True, 0), (True, 1), (True, 0)]
    state = play(state, HandBanana(0), 2)
    state = play(with_holdings(state, 0, just_grabbed=True), HandBanana(2))
    assert skins(state) == [(True, 0), (True, 1), (False, 1)]


def test_fou_30_each_grab_allows_one_skin_to_be_handed_over() -> None:
    state = play(with_holdings(ready(3, banana_skins=True), 0, received_skins=2), Grab(0, "K02-1", HAND[:1]))
    state = play(state, HandBanana(1))
    assert skins(state)[0] == (True, 1)
    assert refusal(state, HandBanana(1)) == ("not-after-a-grab", "FOU-30")
    assert not [one for one in legal(state) if isinstance(one, HandBanana)]


def test_fou_30_a_seat_without_a_skin_cannot_hand_one_over() -> None:
    state = play(with_holdings(ready(banana_skins=True), 0, own_skin=False), Grab(0, "K02-1", HAND[:1]))
    assert refusal(state, HandBanana(1)) == ("no-skin", "FOU-30")
    assert not [one for one in legal(state) if isinstance(one, HandBanana)]


@pytest.mark.parametrize("to", [0, 4, 7])
def test_fou_30_skins_stay_in_the_area_and_go_to_others(to: Seat) -> None:
    state = play(ready(8, banana_skins=True), Grab(0, "K02-1", HAND[:1]))
    assert refusal(state, HandBanana(to)) == ("not-in-your-area", "FOU-30")
    assert [one.to for one in legal(state) if isinstance(one, HandBanana)] == [1, 2, 3]


def test_fou_30_without_the_option_there_are_no_skins() -> None:
    state = play(ready(), Grab(0, "K02-1", HAND[:1]))
    assert refusal(state, HandBanana(1)) == ("skins-not-played", "FOU-30")
    assert skins(state) == [(False, 0), (False, 0)]
    assert not [one for one in legal(state) if isinstance(one, HandBanana)]


def test_fou_30_each_setup_gives_everybody_just_their_own_skin() -> None:
    state = play(with_holdings(ready(banana_skins=True), 0, received_skins=1, own_skin=False), Stop(), 1)
    assert skins(state) == [(True, 0), (True, 0)]
    state = with_holdings(state, 1, received_skins=1)
    assert skins(after(state, ring(state, at=state.deadline))) == [(True, 0), (True, 0)]
    assert skins(after(None, opening(3, None, {"banana_skins": True}))) == [(True, 0)] * 3


def test_fou_30_each_received_skin_costs_three_points_and_the_own_one_nothing() -> None:
    state = with_holdings(with_holdings(table(3, banana_skins=True), 1, received_skins=2), 2, own_skin=False)
    assert points(after(state, ring(state))) == [0, -6, 0]
