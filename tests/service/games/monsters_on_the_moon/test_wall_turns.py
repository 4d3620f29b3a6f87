"""MON-10, MON-31 and MON-65: turns in matches with walls, seats that are skipped, and the end."""

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import ChooseFirst, EndTurn, PlaceCard
from service.games.monsters_on_the_moon.effects import (
    AreaEnclosed,
    CardDrawn,
    DeciderNamed,
    DecisionOpened,
    MatchEnded,
    PointsScored,
    TurnOpened,
    WallPlaced,
)
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from service.games.protocol import Decision
from service.games.visibility import Seat
from tests.service.games.monsters_on_the_moon.builders import decide, legal, play, with_holdings
from tests.service.games.monsters_on_the_moon.wall_tables import builder, built, listed, ring, wall, walls

FOUR_WALLS = walls("h 0 0", "v 1 0", "h 0 1", "v 0 0")


def held(state: State, *seats: tuple[int, int]) -> State:
    """The state in which the seats, from 0 on, have these numbers of cards and short walls, and no long walls."""
    names = iter(f"A{number:02}" for number in range(7, 21))
    for seat, (cards, short) in enumerate(seats):
        hand = tuple(next(names) for _ in range(cards))
        state = with_holdings(state, seat, hand=hand, long_walls=0, short_walls=short)
    return state


def next_seat(state: State) -> Seat | None:
    """The next seat after seat 0 has laid its first card right of a square; None at the end."""
    state = play(state, PlaceCard(state.seats[0].hand[0], 1, 0, 0))
    return None if state.step is None else state.active


def test_mon_10_a_turn_with_walls_ends_with_areas_then_the_draw_then_the_interim_scoring() -> None:
    state = play(replace(builder("W H"), pile=("A20",)), *FOUR_WALLS)
    effects = decide(state, EndTurn())
    assert [type(effect) for effect in effects] == [
        AreaEnclosed,
        CardDrawn,
        PointsScored,
        PointsScored,
        DeciderNamed,
        DecisionOpened,
    ]
    assert [effect.clause for effect in effects if isinstance(effect, PointsScored)] == ["MON-66", "MON-30"]
    assert effects[-1] == DecisionOpened(1, "choose_first")


def test_mon_10_the_fifth_wall_ends_the_turn_in_the_same_way() -> None:
    state = play(replace(builder("W H"), pile=("A20", "A19")), *FOUR_WALLS)
    effects = decide(state, wall("h 1 0"))
    assert [type(effect) for effect in effects] == [WallPlaced, AreaEnclosed, CardDrawn, TurnOpened, DecisionOpened]


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ([(1, 0), (1, 0), (1, 0)], 1),
        ([(1, 0), (0, 3), (1, 0)], 1),
        ([(1, 0), (0, 2), (1, 0)], 2),
        ([(1, 0), (0, 2), (0, 3)], 2),
        ([(2, 0), (0, 2), (0, 0)], 0),
        ([(1, 3), (0, 2), (0, 0)], 0),
        ([(1, 2), (0, 2), (0, 1)], None),
        ([(1, 0), (0, 0), (0, 0)], None),
    ],
)
def test_mon_65_a_seat_that_has_no_card_and_cannot_lay_three_walls_is_skipped(
    seats: list[tuple[int, int]], expected: Seat | None
) -> None:
    assert next_seat(held(builder("W", seats=3), *seats)) == expected


@pytest.mark.parametrize(("long", "expected"), [(2, None), (3, 1)])
def test_mon_65_a_seat_that_has_nothing_but_three_long_walls_is_not_skipped(long: int, expected: Seat | None) -> None:
    state = held(builder("W W\nW W"), (1, 0), (0, 0))
    assert next_seat(with_holdings(state, 1, long_walls=long)) == expected


def test_mon_65_a_skipped_seat_has_no_event_of_its_own() -> None:
    state = held(builder("W", seats=3), (2, 0), (0, 2), (0, 0))
    effects = decide(state, PlaceCard("A07", 1, 0, 0))
    assert effects[-2:] == (TurnOpened(0), DecisionOpened(0, "place_card"))
    assert {getattr(effect, "seat", 0) for effect in effects} == {0}


def test_mon_65_a_seat_without_room_is_skipped_and_comes_back_when_there_is_some() -> None:
    state = built(held(builder("W"), (1, 4), (0, 3)), *ring(0, 0, 1, 1))
    assert listed(legal(state)) == []
    assert next_seat(state) == 1


def test_mon_65_a_seat_that_has_no_card_must_lay_three_walls_if_that_is_possible() -> None:
    state = held(builder("W W"), (0, 4), (1, 0))
    assert legal(state) == listed(legal(state))
    assert len(legal(state)) == 7
    assert GAME.decisions(state) == (Decision(0, "place_card", wall("h 0 0")),)
    for _ in range(3):
        (decision,) = GAME.decisions(state)
        assert decision.on_timeout is not None
        state = play(state, decision.on_timeout)
    assert GAME.decisions(state)[0].on_timeout == EndTurn()
    assert play(state, EndTurn()).active == 1


@pytest.mark.parametrize(("options", "step"), [({}, None), ({"missions": "secret"}, "choose_mission")])
def test_mon_65_the_match_ends_when_nobody_can_act_and_walls_may_be_left(
    options: dict[str, object], step: str | None
) -> None:
    state = held(builder("W"), (1, 2), (0, 1))
    state = replace(state, options=GAME.options(2, {"walls": True, **options}))
    effects = decide(state, PlaceCard("A07", 1, 0, 0))
    assert effects[-1] == (MatchEnded() if step is None else DecisionOpened(None, "choose_mission"))
    later = play(state, PlaceCard("A07", 1, 0, 0))
    assert later.step == step
    assert [left.short_walls for left in later.seats] == [2, 1]


def test_mon_65_it_ends_after_walls_too() -> None:
    state = play(held(builder("W"), (0, 4), (0, 2)), *FOUR_WALLS)
    assert decide(state, EndTurn())[-1] == MatchEnded()


def test_mon_31_a_seat_named_first_that_cannot_act_is_skipped_too() -> None:
    state = held(builder("W", seats=3), (1, 0), (0, 1), (1, 0))
    state = replace(state, step="choose_first", awaited=2, decider=2)
    assert decide(state, ChooseFirst(1))[1:] == (TurnOpened(2), DecisionOpened(2, "place_card"))
