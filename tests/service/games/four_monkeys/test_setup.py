"""The setup of matches and rounds (FOU-1 to FOU-4, FOU-31, FOU-32)."""

from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from service.games.four_monkeys.actions import Burn, Stop
from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.dealing import cut
from service.games.four_monkeys.effects import CheckOpened, CombosStacked, DeckShuffled, RoundOpened, TableSet
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import Options
from service.games.protocol import CLOCK, BadOptions
from service.games.visibility import redact
from tests.service.games.four_monkeys.builders import (
    AT,
    DEADLINE,
    START,
    after,
    deal,
    decide,
    legal,
    opening,
    refusal,
    ring,
    table,
    ten,
    tiles,
    with_check,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng


def test_the_draws_of_a_round_have_their_public_labels_in_order() -> None:
    rng = ScriptedRng()
    deal(8, rng)
    round_labels = [*(f"deck:{seat}" for seat in range(8)), "combos:0", "combos:1"]
    assert rng.drawn == ["seating", *round_labels]
    rng = ScriptedRng()
    decide(table(3), Stop(), rng=rng)
    assert rng.drawn == ["deck:0", "deck:1", "deck:2", "combos:0"]


def test_fou_01_all_shuffle_their_own_decks_of_40() -> None:
    effects = opening(3)
    shuffled = {effect.seat: effect for effect in effects if isinstance(effect, DeckShuffled)}
    assert {seat: sorted(effect.cards) for seat, effect in shuffled.items()} == {
        seat: sorted(BOX.decks[seat]) for seat in range(3)
    }
    assert all(effect.cards != BOX.decks[seat] for seat, effect in shuffled.items())
    assert after(None, effects).seats[1].hand == shuffled[1].cards[:5]
    assert after(None, effects).seats[1].deck == shuffled[1].cards[5:]


@pytest.mark.parametrize(
    ("seats", "sets"), [(2, [3]), (3, [3]), (4, [4]), (5, [5]), (6, [6]), (7, [4, 3]), (8, [4, 4])]
)
def test_fou_01_there_is_a_set_of_combos_for_each_player_and_three_for_two(seats: int, sets: list[int]) -> None:
    found = [[combo for stack in stacks for combo in stack] for stacks in table(seats).stacks]
    assert [sorted(combos) for combos in found] == [
        sorted(f"{kind}-{n}" for kind in BOX.kinds for n in range(1, count + 1)) for count in sets
    ]


def test_fou_02_everybody_has_an_unused_hand_replenish_tile() -> None:
    assert not any(held.replenish_used for held in table(4).seats)


@pytest.mark.parametrize(
    ("seats", "sizes"),
    [
        (2, [[8, 8, 7, 7]]),
        (3, [[6, 6, 6, 6, 6]]),
        (4, [[7, 7, 7, 7, 6, 6]]),
        (5, [[8, 7, 7, 7, 7, 7, 7]]),
        (6, [[8, 8, 8, 8, 7, 7, 7, 7]]),
        (7, [[7, 7, 7, 7, 6, 6], [6, 6, 6, 6, 6]]),
    ],
)
def test_fou_03_combos_lie_in_two_stacks_more_than_players(seats: int, sizes: list[list[int]]) -> None:
    rng = ScriptedRng(0, {"combos:0": BOX.combos_of(min(seats, 6) if seats < 7 else 4)})
    effects = opening(seats, rng)
    stacked = [effect for effect in effects if isinstance(effect, CombosStacked)]
    assert [list(effect.sizes) for effect in stacked] == sizes
    assert stacked[0].stacks[0][:2] == ("K01-1", "K02-1")
    for effect in stacked:
        assert effect.tops == tuple(stack[0] for stack in effect.stacks)
        assert effect.sizes == tuple(map(len, effect.stacks))


def test_fou_03_the_combos_of_each_area_are_shuffled_from_the_order_of_the_box() -> None:
    ordered = [BOX.combos_of(4), BOX.combos_of(3)]
    turned = {f"combos:{area}": tuple(reversed(combos)) for area, combos in enumerate(ordered)}
    for outcomes, expected in ((turned, [combos[::-1] for combos in ordered]), ({}, None)):
        state = deal(7, ScriptedRng(0, {"seating": tuple(range(7)), **outcomes}))
        found = [tuple(combo for stack in stacks for combo in stack) for stacks in state.stacks]
        assert list(map(sorted, found)) == list(map(sorted, ordered))
        assert found == expected if expected else all(one != other for one, other in zip(found, ordered, strict=True))


def test_fou_03_the_list_is_cut_in_order_larger_stacks_first() -> None:
    assert cut("abcdefgh", 3) == (tuple("abc"), tuple("def"), tuple("gh"))


def test_fou_04_all_draw_five_cards_and_the_round_starts_after_the_countdown() -> None:
    effects = opening(2)
    opened = next(effect for effect in effects if isinstance(effect, RoundOpened))
    assert (opened.round, opened.starts_at, opened.deadline) == (1, START, DEADLINE)
    state = after(None, effects)
    assert [len(held.hand) for held in state.seats] == [5, 5]
    assert [(one.seat, one.step, one.opens_at, one.deadline) for one in GAME.decisions(state)] == [
        (0, "play", START, DEADLINE),
        (1, "play", START, DEADLINE),
        (CLOCK, "round", START, DEADLINE),
    ]
    assert refusal(state, Stop(), at=START - 1) == ("too-early", "FOU-4")


@pytest.mark.parametrize(("seconds", "countdown"), [(30, 0), (600, 60)])
def test_fou_04_the_options_set_the_time(seconds: int, countdown: int) -> None:
    state = table(2, round_seconds=seconds, countdown_seconds=countdown)
    assert (state.starts_at, state.deadline) == (AT + countdown * 1000, AT + (countdown + seconds) * 1000)


@pytest.mark.parametrize(
    "bad",
    [
        {"round_seconds": 29},
        {"round_seconds": 601},
        {"round_seconds": 60.5},
        {"round_seconds": None},
        {"countdown_seconds": 61},
        {"countdown_seconds": -1},
        {"timer_visible": 1},
    ],
)
def test_fou_04_times_have_their_limits(bad: dict[str, object]) -> None:
    with pytest.raises(BadOptions):
        GAME.options(2, bad)


@pytest.mark.parametrize("bad", [{"family": "yes"}, {"banana_skin": True}])
def test_options_are_strict(bad: dict[str, object]) -> None:
    with pytest.raises(BadOptions):
        GAME.options(2, bad)


@pytest.mark.parametrize("seats", [1, 9])
def test_the_game_is_for_two_to_eight(seats: int) -> None:
    with pytest.raises(BadOptions, match="2 to 8"):
        GAME.options(seats, {})


def test_fou_33_the_family_version_lasts_300_seconds_unless_set_otherwise() -> None:
    assert GAME.options(2, {}) == Options(round_seconds=240)
    assert GAME.options(2, {"family": True}) == Options(family=True, round_seconds=300)
    assert GAME.options(2, {"family": True, "round_seconds": 240}) == Options(family=True, round_seconds=240)
    assert GAME.options(2, {"family": False}).round_seconds == 240


@pytest.mark.parametrize("visible", [True, False])
def test_fou_04_a_hidden_timer_shows_no_deadline(visible: bool) -> None:
    state = table(2, timer_visible=visible)
    for viewer in (None, 0, 1):
        assert GAME.observation(state, viewer).deadline == (DEADLINE if visible else None)
    assert {one.deadline_shown for one in GAME.decisions(state)} == {visible}
    assert {one.deadline for one in GAME.decisions(state)} == {DEADLINE}
    scoring = with_check(with_holdings(state, 0, tiles=tiles("K02-1", "K03-1")), 0)
    for viewer in (None, 0, 1):
        shown = GAME.observation(scoring, viewer).checking
        assert shown is not None
        assert (shown.opens_at, shown.deadline) == (DEADLINE, DEADLINE + 20_000 if visible else None)
    assert {(one.deadline, one.deadline_shown) for one in GAME.decisions(scoring)} == {(DEADLINE + 20_000, visible)}
    for effect in (RoundOpened(1, (), (), START, DEADLINE), CheckOpened(0, (), DEADLINE, DEADLINE + 20_000)):
        assert "deadline" not in msgspec.to_builtins(redact(effect, 0))


@pytest.mark.parametrize(
    ("seats", "colours"), [(2, "yg"), (3, "ygr"), (4, "ygrb"), (5, "ygrbg"), (6, "ygrbyg"), (7, "ygrbygr")]
)
def test_fou_31_neighbours_never_have_the_same_deck_colour(seats: int, colours: str) -> None:
    state = table(seats)
    assert "".join(colour[0] for colour in state.colours) == colours
    for seated in state.areas:
        around = [state.colours[seat] for seat in seated]
        assert all(around[index] != around[index - 1] for index in range(len(around)))


def test_fou_31_colours_follow_the_seating_and_not_the_seats() -> None:
    state = deal(5, ScriptedRng(0, {"seating": (4, 2, 0, 1, 3)}))
    assert state.colours == ("red", "blue", "green", "green", "yellow")


@pytest.mark.parametrize("seats", [7, 8])
def test_fou_32_seven_and_eight_players_sit_in_two_areas_the_first_four_in_the_first(seats: int) -> None:
    seating = tuple(range(seats))[::-1]
    effects = opening(seats, ScriptedRng(0, {"seating": seating}))
    assert isinstance(effects[0], TableSet)
    assert (effects[0].seating, effects[0].rounds) == (seating, 4)
    state = after(None, effects)
    assert state.areas == (seating[:4], seating[4:])
    assert state.colours[seating[0]] == state.colours[seating[4]] == "yellow"


def test_fou_32_six_players_sit_in_one_area_for_three_rounds() -> None:
    state = table(6)
    assert state.areas == ((0, 1, 2, 3, 4, 5),)
    assert state.rounds == 3


def test_fou_32_after_each_round_the_four_highest_totals_sit_in_the_first_area() -> None:
    state = replace(
        deal(8, ScriptedRng(0, {"seating": (3, 1, 2, 0, 7, 6, 5, 4)})),
        points=((9,), (0,), (0,), (0,), (8,), (3,), (7,), (0,)),
        false_stops=(1, 0, 0, 0, 0, 0, 0, 0),
        round=2,
    )
    state = after(state, ring(state))
    assert state.areas == ((3, 7 - 1, 5, 4), (1, 2, 0, 7))
    assert [state.colours[seat] for seat in state.areas[0]] == list(BOX.colours)
    assert Counter(len(stacks) for stacks in state.stacks) == {6: 2}


def test_fou_32_a_stop_ends_the_round_in_both_areas_and_the_scoring_is_one() -> None:
    state = with_holdings(table(8), 0, tiles=[replace(combo, checked=True) for combo in ten()])
    state = with_holdings(state, 7, tiles=tiles("K10-1"))
    state = with_holdings(state, 6, tiles=tiles("K09-1", "K09-2", "K02-1"))
    state = after(state, decide(state, Stop(), 0))
    assert [rounds[-1] for rounds in state.points[5:]] == [0, 2 - 4, 6]
    assert state.round == 2


def test_fou_32_cards_are_drawn_within_the_own_area() -> None:
    state = table(7)
    for seat in (4, 5, 6):
        state = with_holdings(state, seat, deck=())
    state = with_holdings(state, 4, tiles=tiles("K10-1"))
    assert len(decide(state, Burn("K10-1", draw_from=0), 4)) == 1
    assert Burn("K10-1") in legal(state, 4)
