"""From the end of a round to the last check (FOU-20 to FOU-22)."""

import pytest

from service.games.four_monkeys.actions import Check
from service.games.four_monkeys.effects import (
    CheckOpened,
    ComboChecked,
    RepeatedSetAside,
    SmartestNamed,
)
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.scoring import smartest
from service.games.four_monkeys.state import State
from service.games.protocol import CLOCK
from service.games.visibility import Seat, redact
from tests.service.games.four_monkeys.builders import (
    DEADLINE,
    FIVE,
    GOLD,
    SIX,
    after,
    cards,
    decide,
    legal,
    of_type,
    points,
    refusal,
    ring,
    state_with_tiles,
    tile,
    tiles,
    with_check,
    with_holdings,
)


def checked(state: State) -> list[tuple[Seat, str, bool]]:
    """The checks of the latest scoring, in order."""
    return [(check.seat, check.combo, check.correct) for check in state.checks]


def test_fou_20_all_copies_of_a_repeated_combo_are_set_aside_with_their_cards() -> None:
    state = state_with_tiles(
        (tile("K05-1", *GOLD), tile("K10-1", *SIX), tile("K05-2", *FIVE, burned=True)), tiles("K01-1", "K01-2", "K01-3")
    )
    effects = ring(state)
    aside = of_type(effects, RepeatedSetAside)
    assert aside == [
        RepeatedSetAside(0, ("K05-1", "K05-2")),
        RepeatedSetAside(1, ("K01-1", "K01-2", "K01-3")),
    ]
    scoring = after(state, effects[: effects.index(aside[1]) + 1])
    assert [one.combo for one in scoring.seats[0].tiles] == ["K10-1"]
    assert [one.cards for one in scoring.seats[0].repeated] == [GOLD, FIVE]
    assert [one.cards for one in GAME.observation(scoring, 1).seats[0].repeated] == [None, None]
    assert points(after(state, effects)) == [6 - 4, -6]


def test_fou_20_repeated_combos_are_never_checked() -> None:
    state = state_with_tiles((tile("K05-1", *GOLD), tile("K05-2", *GOLD), tile("K10-1", *SIX)))
    assert checked(after(state, ring(state))) == [(0, "K10-1", True)]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (state_with_tiles(tiles("K10-1"), tiles("K08-1", "K01-1", "K02-1")), (1,)),
        (state_with_tiles((tile("K10-1", burned=True),), tiles("K08-1")), (0,)),
        (state_with_tiles((tile("K10-1", burned=True),), (tile("K08-1", burned=True), tile("K01-1"))), (0, 1)),
        (state_with_tiles((), (), ()), (0, 1, 2)),
        (with_holdings(state_with_tiles(tiles("K02-1"), tiles("K02-2")), 0, replenish_used=True), (1,)),
        (with_holdings(state_with_tiles(tiles("K02-1"), tiles("K01-2")), 0, replenish_used=True), (0,)),
    ],
)
def test_fou_21_the_smartest_monkey_shows_most_points_then_has_burned_most_tiles(
    state: State, expected: tuple[Seat, ...]
) -> None:
    assert smartest(state) == expected
    assert of_type(ring(state), SmartestNamed)[0] == SmartestNamed(expected)


def test_fou_22_combos_are_checked_from_the_lowest_visible_value_and_shown_to_all() -> None:
    # the burned K07 shows 3
    state = state_with_tiles(
        (tile("K10-1", *SIX), tile("K07-1", *FIVE, burned=True), tile("K02-1", *cards(0, "ct", "sp")))
    )
    effects = ring(state)
    shown = of_type(effects, ComboChecked)
    assert shown == [
        ComboChecked(0, "K02-1", cards(0, "ct", "sp"), correct=True),
        ComboChecked(0, "K07-1", FIVE, correct=True),
        ComboChecked(0, "K10-1", SIX, correct=True),
    ]
    assert all(redact(effect, None) is effect for effect in shown)
    state = after(state, effects)
    assert [check.cards for check in GAME.observation(state, 1).checks] == [cards(0, "ct", "sp"), FIVE, SIX]
    assert points(state) == [11, 0]


def test_fou_22_a_wrong_combo_is_set_aside_with_its_cards_and_the_smartest_monkey_is_named_anew() -> None:
    state = state_with_tiles((tile("K02-1", *GOLD), tile("K05-1", *GOLD)), tiles("K07-1"))
    effects = ring(state)
    assert [effect for effect in effects if isinstance(effect, SmartestNamed | ComboChecked)] == [
        SmartestNamed((0,)),
        ComboChecked(0, "K02-1", GOLD, correct=False),
        SmartestNamed((1,)),
        ComboChecked(1, "K07-1", (), correct=False),
        SmartestNamed((0,)),
        ComboChecked(0, "K05-1", GOLD, correct=True),
    ]
    assert points(after(state, effects)) == [3 - 2, -2]
    set_aside = after(state, effects[: effects.index(SmartestNamed((1,)))])
    assert set_aside.seats[0].wrong == (tile("K02-1", *GOLD, checked=True),)
    assert GAME.observation(set_aside, None).seats[0].wrong[0].cards == GOLD


def test_fou_22_checks_count_and_combos_of_other_seats_stay_unchecked() -> None:
    state = state_with_tiles((tile("K05-1", *GOLD), tile("K07-1", *GOLD)), (tile("K10-2", *SIX[:1]),), tiles("K02-1"))
    state = after(state, ring(state))
    assert checked(state) == [(0, "K05-1", True), (0, "K07-1", False), (1, "K10-2", False)]
    assert points(state) == [3 - 2, -2, 2]


EQUAL = state_with_tiles(
    (tile("K08-1", *SIX), tile("K02-1", *cards(0, "ct", "sp")), tile("K03-1", *SIX), tile("K04-1", *SIX))
)


def test_fou_22_among_equal_values_the_owner_chooses_within_20_seconds() -> None:
    effects = ring(EQUAL, at=DEADLINE + 70)
    opened = CheckOpened(0, ("K02-1", "K03-1", "K04-1"), DEADLINE + 70, DEADLINE + 20_070)
    assert effects[-1] == opened
    state = after(EQUAL, effects)
    assert legal(state) == [Check("K02-1"), Check("K03-1"), Check("K04-1")]
    assert legal(state, 1) == []
    times = (DEADLINE + 70, DEADLINE + 20_070)
    decisions = [(one.seat, one.step, one.opens_at, one.deadline, one.on_timeout) for one in GAME.decisions(state)]
    assert decisions == [(0, "check", *times, None), (CLOCK, "check", *times, None)]
    chosen = decide(state, Check("K03-1"), at=DEADLINE + 9_000)
    assert chosen == (
        ComboChecked(0, "K03-1", SIX, correct=False),
        SmartestNamed((0,)),
        CheckOpened(0, ("K02-1", "K04-1"), DEADLINE + 9_000, DEADLINE + 29_000),
    )
    state = after(state, chosen)
    state = after(state, decide(state, Check("K04-1"), at=DEADLINE + 9_500))
    assert checked(state) == [
        (0, "K03-1", False),
        (0, "K04-1", False),
        (0, "K02-1", True),
        (0, "K08-1", False),
    ]
    assert state.round == 2


def test_fou_22_a_seat_that_does_not_choose_has_the_combo_owned_longest_checked() -> None:
    state = after(EQUAL, ring(EQUAL))
    effects = ring(state, "check", DEADLINE + 20_000)
    assert effects[0] == ComboChecked(0, "K02-1", cards(0, "ct", "sp"), correct=True)
    assert effects[1] == CheckOpened(0, ("K03-1", "K04-1"), DEADLINE + 20_000, DEADLINE + 40_000)
    assert refusal(state, Check("K03-1"), at=DEADLINE + 20_000) == ("check-over", "FOU-22")


def test_fou_22_the_choice_is_the_owners_and_among_the_lowest() -> None:
    state = after(EQUAL, ring(EQUAL))
    assert refusal(state, Check("K02-1"), 1, DEADLINE) == ("not-your-check", "FOU-22")
    assert refusal(state, Check("K08-1"), at=DEADLINE) == ("not-the-lowest", "FOU-22")
    assert refusal(state, Check("K10-1"), at=DEADLINE) == ("not-your-tile", "FOU-22")
    assert refusal(EQUAL, Check("K02-1")) == ("nothing-to-check", "FOU-22")
    chosen = after(state, decide(state, Check("K02-1"), at=DEADLINE))
    assert refusal(chosen, Check("K02-1"), at=DEADLINE) == ("not-the-lowest", "FOU-22")


def test_fou_22_several_smartest_monkeys_take_turns_on_from_the_seat_checked_last() -> None:
    six, five = (cards(seat, "cc", "cc", "cc") for seat in (1, 2))
    state = state_with_tiles(
        (),
        (tile("K01-1", *SIX), tile("K10-1", *six), tile("K05-1", *GOLD)),
        (tile("K02-1", *SIX), tile("K08-1"), tile("K05-2", *GOLD)),
        (tile("K01-2", *cards(3, "cc", "cc", "ct", "tt")), tile("K10-2", *five), tile("K05-3", *GOLD)),
    )
    state = after(state, ring(state))
    assert checked(state) == [
        (1, "K01-1", False),
        # now seats 2 and 3 are the Smartest Monkey, with 10 points each
        (2, "K02-1", False),
        # only seat 3 is left, with 10
        (3, "K01-2", True),
        (3, "K05-3", True),
        (3, "K10-2", True),
    ]
    assert points(state) == [0, 9 - 2, 8 - 2, 10]


def test_fou_22_a_seat_that_has_nothing_left_to_check_is_skipped() -> None:
    state = state_with_tiles(
        (tile("K10-1", *SIX),), (tile("K05-1", *GOLD), tile("K03-1", *cards(0, "ct", "cs", "cc")), tile("K01-1"))
    )
    effects = ring(state)
    assert of_type(effects, SmartestNamed)[0] == SmartestNamed((0, 1))
    assert checked(after(state, effects)) == [(0, "K10-1", True), (1, "K01-1", False)]
    equal = with_holdings(state, 1, tiles=(tile("K05-1", *GOLD), tile("K06-1", *GOLD)))
    equal = after(equal, ring(equal))
    assert equal.checking is not None
    assert equal.checking.seat == 1
    equal = after(equal, decide(equal, Check("K05-1"), 1, DEADLINE))
    assert checked(equal) == [(0, "K10-1", True), (1, "K05-1", True), (1, "K06-1", False)]


def test_fou_22_turns_go_by_ascending_seat_from_the_lowest() -> None:
    two = (tile("K02-1", *cards(0, "ct", "sp")), tile("K05-1", *GOLD))
    state = state_with_tiles((), two, two, two)
    assert checked(after(state, ring(state))) == [
        (seat, combo, True) for combo in ("K02-1", "K05-1") for seat in (1, 2, 3)
    ]


def test_the_scoring_waits_for_no_other_seat() -> None:
    state = with_check(state_with_tiles(tiles("K02-1", "K03-1"), ()), 0)
    assert refusal(state, Check("K02-1"), at=DEADLINE - 1) == ("too-early", "FOU-22")
