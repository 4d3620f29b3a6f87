"""Public and hidden information, and sampled states."""

from collections.abc import Mapping
from typing import Final

import msgspec
import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import GiveCard, PlaceCard, PlacePlate, PlaceSpaceship
from service.games.monsters_on_the_moon.effects import AnyEffect, CardDrawn, MissionChosen
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.squares import SquareAt
from service.games.monsters_on_the_moon.start_effects import CardGiven, GiftChosen, MissionsDealt, PileShuffled
from service.games.monsters_on_the_moon.state import Laid, State, Turn
from service.games.monsters_on_the_moon.view import PieceAt
from service.games.visibility import Viewer, redact
from tests.length import LONG
from tests.service.games.following import as_json
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    at_step,
    before_gifts,
    decide,
    legal,
    pieces,
    play,
    random_match,
    table,
    turn_of,
    with_cards,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.follower import Follower
from tests.service.games.rng import ScriptedRng

MATCHES: Final[list[tuple[int, Mapping[str, object]]]] = [
    (1, {}),
    (2, {}),
    (2, {"missions": "open", "layout": "long_ways"}),
    (3, {"missions": "secret", "monsters": ["vampire", "werewolf", "witch"]}),
    (4, {"missions": "secret"}),
    (4, {"layout": "new_settlement"}),
    (2, {"walls": True}),
    (4, {"walls": True, "missions": "secret"}),
]


def sampled(state: State, viewer: Viewer, seed: int = 0) -> State:
    return GAME.sample_state(GAME.observation(state, viewer), ScriptedRng(seed))


def test_public_information_is_shown() -> None:
    state = with_cards(table(), ("A09", 0, 0, 0), ("A20", 2, 1, 0))  # H c W over V V H; V V c over H c W
    state = turn_of(with_holdings(state, 1, field=4, plates=2), 1, "A08")
    state = play(state, PlaceSpaceship(4, 1), PlaceCard("A08", 0, -2, 0), PlacePlate(2, -1))
    seen = GAME.observation(state, None)
    assert seen.laid[0] == Laid("A09", 0, 0, 0, None)
    assert seen.laid[2] == Laid("A08", 0, -2, 0, 1)
    assert seen.display[:3] == (
        SquareAt(0, -2, "A08", "werewolf", 1),
        SquareAt(1, -2, "A08", "vampire", 1),
        SquareAt(2, -2, "A08", "werewolf", 1),
    )
    assert SquareAt(2, 1, "A20", "vampire", 1) in seen.display
    assert len(seen.display) == 17
    assert seen.ships == (PieceAt(4, 1, 1),)
    assert seen.plates == (PieceAt(2, -1, 1),)
    assert (seen.step, seen.awaited, seen.active, seen.pile) == ("place_card", 0, 0, 6)
    assert seen.turn == Turn()
    assert (seen.seats[1].field, seen.seats[1].crystals, seen.seats[1].ships, seen.seats[1].plates) == (5, 3, 1, 1)


def test_a_seat_sees_its_own_hand_and_only_counts_of_others() -> None:
    state = table(3)
    for viewer in (None, 0, 1, 2):
        for seat, held in enumerate(GAME.observation(state, viewer).seats):
            assert held.hand_count == 3
            assert held.hand == (state.seats[seat].hand if seat == viewer else None)


@pytest.mark.parametrize(
    ("effect", "seen_by"),
    [
        pytest.param(GiftChosen(1, "A03"), {1}, id="mon_2_gift"),
        pytest.param(CardGiven(1, 0, "A03"), {0, 1}, id="mon_2_given"),
        pytest.param(PileShuffled(1, ("A20",)), set(), id="mon_3_pile"),
        pytest.param(CardDrawn(1, "A20", "MON-3"), {1}, id="mon_3_mon_10_hand"),
        pytest.param(MissionsDealt(1, 2, (3, 8)), {1}, id="mon_70_missions"),
        pytest.param(MissionChosen(1, 3), {1}, id="mon_71_choice"),
    ],
)
def test_hidden_fields_are_shown_only_to_their_audience(effect: AnyEffect, seen_by: set[Viewer]) -> None:
    viewers: tuple[Viewer, ...] = (None, 0, 1, 2)
    assert {viewer for viewer in viewers if redact(effect, viewer) is effect} == seen_by


@pytest.mark.parametrize("viewer", [None, 0])
def test_hidden_cards_do_not_affect_observations(viewer: Viewer) -> None:
    state = table(3, seed=1)
    other = replace(state, pile=(state.seats[1].hand[2], *reversed(state.pile[1:])))
    other = with_holdings(other, 1, hand=(*state.seats[1].hand[:2], state.pile[0]))
    assert other != state
    assert msgspec.json.encode(GAME.observation(other, viewer)) == msgspec.json.encode(GAME.observation(state, viewer))
    assert GAME.observation(other, 1) != GAME.observation(state, 1)


@pytest.mark.long
@pytest.mark.parametrize(("seats", "options"), MATCHES)
def test_an_observation_can_be_kept_up_to_date_from_effects_only(seats: int, options: Mapping[str, object]) -> None:
    for seed in range(3 if LONG else 1):
        followers = {viewer: Follower(viewer) for viewer in (None, *range(seats))}
        for number, (state, effects) in enumerate(random_match(seats, seed, options)):
            for viewer, follower in followers.items():
                follower.follow(effects)
                assert (number % 3 and not LONG) or follower.table == as_json(GAME.observation(state, viewer))


def test_an_observation_is_kept_up_to_date_when_a_plate_is_lost() -> None:
    state = turn_of(with_cards(table(), ("A09", 0, 0, 0)), 0, "A08")
    state = replace(play(state, PlaceCard("A08", 0, -2, 0)), step="place_plate", awaited=0)
    state = replace(state, turn=replace(state.turn, plates=6))
    follower = Follower(1)
    follower.table = as_json(GAME.observation(state, 1))
    follower._top = {(square["x"], square["y"]): square for square in follower.table["display"]}
    for action in [*legal(state)]:
        effects = decide(state, action)
        follower.follow(effects)
        state = after(state, effects)
        assert follower.table == as_json(GAME.observation(state, 1))
    assert state.seats[0].plates_lost == 2


@pytest.mark.long
@pytest.mark.parametrize(("seats", "options"), MATCHES)
def test_a_sampled_state_has_the_same_observation_and_pieces(seats: int, options: Mapping[str, object]) -> None:
    """In the short form, every third state."""
    for ply, (state, _) in enumerate(random_match(seats, seats + 10, options)):
        if ply % 3 and not LONG:
            continue
        for viewer in (None, *range(seats)):
            twin = sampled(state, viewer, ply)
            assert GAME.observation(twin, viewer) == GAME.observation(state, viewer)
            assert pieces(twin) == pieces(state)
            assert [len(held.hand) for held in twin.seats] == [len(held.hand) for held in state.seats]


def test_sampled_states_differ_in_hidden_data() -> None:
    state = table(3, options={"missions": "secret"})
    twins = [sampled(state, 0, seed) for seed in range(12)]
    assert len({twin.pile for twin in twins}) == 12
    assert {twin.seats[0] for twin in twins} == {state.seats[0]}
    assert len({twin.seats[1].missions for twin in twins}) > 3
    # the only gift that seat 0 does not know is that of seat 2 to seat 1
    assert {twin.seats[2].gift for twin in twins} == {"A05", "A06"}
    assert {twin.seats[1].gift for twin in twins} == {"A03"}


def test_a_sampled_seat_that_has_chosen_its_mission_chose_one_of_its_own() -> None:
    state = at_step(table(3, options={"missions": "secret"}), "choose_mission", None)
    state = with_holdings(state, 1, mission=state.seats[1].missions[0])
    twins = [sampled(state, 0, seed).seats for seed in range(8)]
    assert all(seats[1].mission in seats[1].missions for seats in twins)
    assert len({seats[1].mission for seats in twins}) > 1
    assert {seats[2].mission for seats in twins} == {None}


def test_sampled_hands_contain_the_first_cards_that_were_kept_or_given() -> None:
    state = table(4)
    for seed in range(10):
        twin = sampled(state, None, seed)
        for seat in range(4):
            held = twin.seats[seat]
            own = {f"B{2 * seat + 1:02}", f"B{2 * seat + 2:02}"}
            assert set(held.hand) & own == own - {held.gift}
            assert held.gift in twin.seats[(seat - 1) % 4].hand


@pytest.mark.parametrize(("layer", "gift"), [(1, "A06"), (0, "A05")])
def test_the_seat_that_laid_a_first_card_reveals_which_one_was_given(layer: int, gift: str) -> None:
    # of the vampire's A05 and A06, seat 1 keeps one and gives one to seat 0
    state = table(2, options={"monsters": ["witch", "vampire"]}, seed=2)
    assert state.seats[1].gift == "A05"
    card = "A05"
    state = turn_of(state, layer, card, *(one for one in state.seats[layer].hand if one != card))
    state = play(state, PlaceCard(card, -3, 0, 0))
    for seed in range(8):
        assert sampled(with_holdings(state, 1, gift=gift), None, seed).seats[1].gift == gift


def test_a_gift_laid_aside_may_be_either_card() -> None:
    state = before_gifts(2)
    state = after(state, decide(state, GiveCard("A04"), 1))
    gifts = {(twin.seats[1].gift, twin.seats[1].hand) for twin in (sampled(state, 0, seed) for seed in range(12))}
    assert gifts == {("A03", ("A04",)), ("A04", ("A03",))}
    assert {sampled(state, 1, seed).seats[1].gift for seed in range(12)} == {"A04"}
    assert {sampled(state, 0, seed).seats[0].gift for seed in range(3)} == {None}
