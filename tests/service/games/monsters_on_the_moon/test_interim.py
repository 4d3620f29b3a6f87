"""MON-30 to MON-32: the interim scoring, who goes first after it, and the last turns."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import ChooseFirst, EndTurn, PlaceCard, PlacePlate, PlaceSpaceship
from service.games.monsters_on_the_moon.effects import (
    CardDrawn,
    DeciderNamed,
    DecisionOpened,
    FirstChosen,
    MarkerMoved,
    MatchEnded,
    PointsScored,
    SpaceshipPlaced,
    TurnOpened,
)
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from service.games.protocol import IllegalAction
from tests.length import LONG
from tests.service.games.monsters_on_the_moon.builders import (
    decide,
    effects_of,
    legal,
    play,
    random_match,
    table,
    turn_of,
    with_display,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng

LAY = PlaceCard("A07", 0, -2, 0)
"""W H V over W H V, laid above the picture: a group of two for each monster."""


def last_draw(picture: str, *, seats: int = 2, crystals: Sequence[int] = (), ships: int = 0, active: int = 0) -> State:
    """A seat has to lay A07, and then draws the last card."""
    state = with_display(table(seats), picture)
    for seat in range(seats):
        state = with_holdings(state, seat, crystals=crystals[seat] if crystals else 0, ships=ships)
    return replace(turn_of(state, active, "A07"), pile=("A20",))


def scored(state: State) -> list[PointsScored]:
    return [effect for effect in effects_of(state, LAY) if isinstance(effect, PointsScored)]


def decider_of(state: State) -> DeciderNamed:
    (found,) = [effect for effect in effects_of(state, LAY) if isinstance(effect, DeciderNamed)]
    return found


def test_mon_30_the_moment_the_pile_is_empty_each_seat_scores_its_monsters() -> None:
    state = last_draw("e . . . W . W\n. . . . W HH .")
    assert scored(state) == [
        PointsScored(0, 1, "interim_singles", "MON-30"),
        PointsScored(0, 8, "interim_groups", "MON-30"),
        PointsScored(1, 8, "interim_groups", "MON-30"),
    ]
    held = play(state, LAY).seats
    assert [(one.interim_singles, one.interim_groups) for one in held] == [(1, 8), (0, 8)]


def test_mon_30_nothing_is_scored_while_cards_are_left() -> None:
    state = replace(last_draw("e"), pile=("A19", "A20"))
    assert scored(state) == []
    assert play(state, LAY).decider is None


def test_mon_30_it_comes_after_the_draw_and_before_a_spaceship() -> None:
    state = last_draw("c", ships=1)
    effects = decide(state, LAY)
    assert effects[1] == CardDrawn(0, "A20", "MON-10")
    assert isinstance(effects[2], PointsScored)
    assert effects[-1] == DecisionOpened(0, "place_spaceship")


def test_mon_30_a_plate_is_put_before_it() -> None:
    state = with_holdings(last_draw("c"), 0, field=4)
    over = PlaceCard("A07", 0, 0, 0)
    assert not [effect for effect in effects_of(state, over) if isinstance(effect, PointsScored | CardDrawn)]
    effects = effects_of(play(state, over), PlacePlate(1, 0))
    # the plate connects the two werewolves of the card, and leaves one witch single
    assert PointsScored(0, 6, "interim_groups", "MON-30") in effects
    assert PointsScored(1, 1, "interim_singles", "MON-30") in effects


@pytest.mark.long
def test_mon_30_it_happens_once() -> None:
    for seats in (2, 3, 4):
        for seed in range(5 if LONG else 1):
            events = [effects for _, effects in random_match(seats, seed)]
            assert sum(isinstance(effect, DeciderNamed) for effects in events for effect in effects) == 1


@pytest.mark.parametrize(
    ("picture", "crystals", "decider"),
    [
        ("e . . . HH", (9, 0), DeciderNamed(0, "points")),
        ("e . . . WW", (0, 9), DeciderNamed(1, "points")),
        ("e . . . H", (9, 0), DeciderNamed(0, "points")),
        ("e", (3, 5), DeciderNamed(0, "crystals")),
        ("e", (5, 3), DeciderNamed(1, "crystals")),
        ("e . . . W H", (2, 1), DeciderNamed(1, "crystals")),
    ],
)
def test_mon_31_fewest_points_then_fewest_crystal_points_decide(
    picture: str, crystals: tuple[int, int], decider: DeciderNamed
) -> None:
    assert decider_of(last_draw(picture, crystals=crystals)) == decider


def test_mon_31_crystal_points_count_and_not_fields() -> None:
    state = last_draw("e", crystals=(1, 1))
    state = with_holdings(with_holdings(state, 0, field=1), 1, field=2)
    assert decider_of(state).by == "draw"


def test_mon_31_only_seats_that_are_tied_for_the_fewest_points_are_compared() -> None:
    state = last_draw("e . . . HH", seats=3, crystals=(4, 0, 3))
    assert decider_of(state) == DeciderNamed(2, "crystals")
    assert decider_of(last_draw("e . . . HH", seats=3, crystals=(4, 0, 4))).seat in {0, 2}


def test_mon_31_a_tie_to_the_last_is_drawn_among_the_tied_in_the_event_that_empties_the_pile() -> None:
    state = last_draw("e . . . HH", seats=3)
    deciders = set()
    for seed in range(20):
        rng = ScriptedRng(seed)
        effects = decide(state, LAY, rng=rng)
        assert rng.drawn == ["first_after_interim"]
        deciders |= {effect.seat for effect in effects if isinstance(effect, DeciderNamed) and effect.by == "draw"}
    assert deciders == {0, 2}


def test_mon_31_nothing_is_drawn_without_a_tie() -> None:
    rng = ScriptedRng()
    decide(last_draw("e . . . HH"), LAY, rng=rng)
    decide(last_draw("e", crystals=(1, 2)), LAY, rng=rng)
    assert rng.drawn == []


def test_mon_31_the_decider_chooses_at_the_end_of_the_turn_and_may_name_any_seat() -> None:
    state = last_draw("e", seats=3, crystals=(1, 0, 2))
    effects = decide(state, LAY)
    assert effects[-2:] == (DeciderNamed(1, "crystals"), DecisionOpened(1, "choose_first"))
    state = play(state, LAY)
    assert legal(state) == [ChooseFirst(0), ChooseFirst(1), ChooseFirst(2)]
    for first in range(3):
        assert decide(state, ChooseFirst(first)) == (
            FirstChosen(1, first),
            TurnOpened(first),
            DecisionOpened(first, "place_card"),
        )
    with pytest.raises(IllegalAction, match="no-such-seat"):
        decide(state, ChooseFirst(3))
    with pytest.raises(IllegalAction, match="not-your-turn"):
        decide(state, ChooseFirst(0), 0)


def test_mon_31_a_spaceship_after_the_interim_scoring_comes_before_the_choice_and_changes_no_decider() -> None:
    state = play(last_draw("c", ships=1, crystals=(0, 1)), LAY)
    assert state.decider == 0
    effects = decide(state, PlaceSpaceship(0, 0))
    assert effects == (
        SpaceshipPlaced(0, 0, 0),
        MarkerMoved(0, 1, 0, 1, 1, "MON-23"),
        DecisionOpened(0, "choose_first"),
    )
    assert decide(state, EndTurn()) == (DecisionOpened(0, "choose_first"),)


def test_mon_31_the_choice_is_made_once() -> None:
    state = play(last_draw("e"), LAY, ChooseFirst(1))
    assert state.decider is None
    state = play(turn_of(state, 1, "A08", "A09"), PlaceCard("A08", 0, -4, 0))
    assert (state.step, state.active) == ("place_card", 0)


def test_mon_32_no_card_is_drawn_any_more() -> None:
    state = play(last_draw("e"), LAY, ChooseFirst(1))
    held = state.seats[1].hand
    state = play(state, PlaceCard(held[0], 0, -4, 0))
    assert state.seats[1].hand == held[1:]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_mon_32_play_goes_on_to_the_left_until_nobody_holds_a_card(first: int) -> None:
    state = play(last_draw("e", seats=3, crystals=(1, 0, 1)), LAY, ChooseFirst(first))
    for seat, cards in enumerate((("A08", "A09"), ("A10", "A11"), ("A12", "A13"))):
        state = with_holdings(state, seat, hand=cards)
    order = []
    y = -4
    while state.step == "place_card":
        order.append(state.active)
        state = play(state, PlaceCard(state.seats[state.active].hand[0], 0, y, 0))
        y -= 2
    assert order == [(first + turn) % 3 for turn in range(6)]
    assert GAME.decisions(state) == ()


@pytest.mark.long
@pytest.mark.parametrize(("seats", "turns"), [(2, 9), (3, 6), (4, 6)])
def test_mon_32_each_seat_lays_as_many_cards(seats: int, turns: int) -> None:
    for seed in range(3 if LONG else 1):
        *_, (state, last) = random_match(seats, seed)
        assert last[-1] == MatchEnded()
        assert [sum(laid.seat == seat for laid in state.laid) for seat in range(seats)] == [turns] * seats
        assert all(not held.hand for held in state.seats)


def test_mon_32_nobody_may_act_after_the_end() -> None:
    *_, (state, _) = random_match(3, 1)
    for seat in range(3):
        assert legal(state, seat) == []
        with pytest.raises(IllegalAction, match="game-over"):
            decide(state, EndTurn(), seat)
