"""MON-1 to MON-5: the setup."""

from collections import Counter
from collections.abc import Mapping

import pytest

from service.games.monsters_on_the_moon.actions import GiveCard
from service.games.monsters_on_the_moon.components import BOX, MONSTERS
from service.games.monsters_on_the_moon.effects import CardDrawn, DecisionOpened, TurnOpened
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.start_effects import (
    CardGiven,
    GiftChosen,
    PileShuffled,
    StartCardPlaced,
    StartCardsTaken,
    TableSet,
)
from service.games.monsters_on_the_moon.state import State, awaited_seats
from service.games.protocol import BadOptions, Decision
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    before_gifts,
    decide,
    deck,
    legal,
    opening,
    play,
    table,
)
from tests.service.games.rng import ScriptedRng

FIRST_CARDS = {0: ("A01", "A02"), 1: ("A03", "A04"), 2: ("A05", "A06")}


def first_seats(seats: int) -> set[object]:
    tables = [GAME.setup(seats, GAME.options(seats, {}), 0, ScriptedRng(seed))[0] for seed in range(30)]
    return {effect.turn_order[0] for effect in tables if isinstance(effect, TableSet)}


@pytest.mark.parametrize(
    ("seats", "options", "labels"),
    [
        (1, {}, ["deck"]),
        (2, {}, ["deck", "first_seat"]),
        (3, {"missions": "secret"}, ["deck", "first_seat", "missions"]),
        (4, {"missions": "open"}, ["deck", "first_seat", "missions"]),
    ],
)
def test_the_draws_of_the_start_are_made_in_the_public_order(
    seats: int, options: Mapping[str, object], labels: list[str]
) -> None:
    rng = ScriptedRng()
    GAME.setup(seats, GAME.options(seats, options), 0, rng)
    assert rng.drawn == labels


def test_a_whole_setup() -> None:
    shuffled = tuple(reversed(deck(2)))
    assert opening(2, first=1, deck=shuffled) == (
        TableSet(
            options=GAME.options(2, {}),
            turn_order=(1, 0),
            monsters=("werewolf", "witch"),
            ships_each=2,
            plates_each=2,
            crystal_track=(0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 10, 12),
            red_fields=(5, 10),
        ),
        PileShuffled(16, shuffled),
        StartCardsTaken(0, ("A01", "A02")),
        StartCardsTaken(1, ("A03", "A04")),
        DecisionOpened(None, "give_card"),
    )


def test_a_whole_start_after_the_last_gift() -> None:
    state = play(before_gifts(2, first=1, deck=deck(2)), GiveCard("A02"))
    effects = decide(state, GiveCard("A03"))
    assert effects[:9] == (
        GiftChosen(1, "A03"),
        CardGiven(0, 1, "A02"),
        CardGiven(1, 0, "A03"),
        CardDrawn(0, "A05", "MON-3"),
        CardDrawn(0, "A06", "MON-3"),
        CardDrawn(0, "A07", "MON-3"),
        CardDrawn(1, "A08", "MON-3"),
        CardDrawn(1, "A09", "MON-3"),
        CardDrawn(1, "A10", "MON-3"),
    )
    laid = [effect for effect in effects if isinstance(effect, StartCardPlaced)]
    assert [(one.card, one.x, one.y, one.rotation, one.from_pile) for one in laid] == [
        ("M1", 0, 0, 0, False),
        ("ARM", 3, 0, 0, False),
        ("M2", 6, 0, 0, False),
        ("A11", 1, 2, 0, True),
        ("A12", 4, 2, 0, True),
    ]
    assert effects[14:] == (TurnOpened(1), DecisionOpened(1, "place_card"))


@pytest.mark.parametrize(
    ("seats", "given", "monsters"),
    [
        (2, {}, ("werewolf", "witch")),
        (3, {}, ("werewolf", "witch", "vampire")),
        (4, {}, ("werewolf", "witch", "vampire", "skeleton")),
        (2, {"monsters": ["vampire", "werewolf"]}, ("vampire", "werewolf")),
        (2, {"monsters": list(MONSTERS)}, MONSTERS[:2]),
        (4, {"monsters": ["skeleton", "witch", "vampire", "werewolf"]}, ("skeleton", "witch", "vampire", "werewolf")),
    ],
)
def test_mon_1_each_seat_has_a_monster_of_its_own(
    seats: int, given: Mapping[str, object], monsters: tuple[str, ...]
) -> None:
    state = before_gifts(seats, options=given)
    assert tuple(held.monster for held in state.seats) == monsters


@pytest.mark.parametrize(
    ("seats", "monsters", "fault"),
    [
        (2, ["witch", "witch"], "different one for each seat"),
        (2, ["witch"], "for each of the 2 seats"),
        (2, ["witch", "vampire", "werewolf"], "for each of the 2 seats"),
        (3, ["witch", "vampire", "skeleton"], "four seats only"),
        (4, ["witch", "vampire", "skeleton", "ghost"], "monsters.3 must be skeleton, vampire, werewolf or witch"),
        (4, "witch", "monsters"),
    ],
)
def test_mon_1_other_monsters_are_refused(seats: int, monsters: object, fault: str) -> None:
    with pytest.raises(BadOptions, match=fault):
        GAME.options(seats, {"monsters": monsters})


def test_mon_1_two_and_three_seats_use_20_cards_and_four_use_26() -> None:
    for seats, size, prefix in ((2, 20, "A"), (3, 20, "A"), (4, 26, "B")):
        cards = BOX.decks[seats]
        assert len(cards) == size
        assert {card[0] for card in cards} == {prefix}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mon_2_each_seat_takes_the_two_cards_with_its_double_head(seats: int) -> None:
    for held in before_gifts(seats).seats:
        assert len(held.hand) == 2
        for card in held.hand:
            assert [face.kind for face in BOX.faces[card, 0] if face.heads == 2] == [held.monster]


def test_mon_2_all_seats_decide_at_once_and_each_gives_one_of_its_two_cards() -> None:
    state = before_gifts(3)
    assert GAME.decisions(state) == tuple(
        Decision(seat, "give_card", GiveCard(FIRST_CARDS[seat][0])) for seat in range(3)
    )
    for seat, cards in FIRST_CARDS.items():
        assert legal(state, seat) == [GiveCard(card) for card in cards]
    state = after(state, decide(state, GiveCard("A06"), 2))
    assert awaited_seats(state) == (0, 1)
    assert legal(state, 2) == []


def test_mon_2_the_gifts_go_to_the_right_and_each_seat_holds_two_again() -> None:
    state = before_gifts(3)
    for seat, card in ((1, "A04"), (0, "A01")):
        state = after(state, decide(state, GiveCard(card), seat))
    effects = decide(state, GiveCard("A06"), 2)
    assert [effect for effect in effects if isinstance(effect, CardGiven)] == [
        CardGiven(0, 2, "A01"),
        CardGiven(1, 0, "A04"),
        CardGiven(2, 1, "A06"),
    ]
    assert [held.hand[:2] for held in after(state, effects).seats] == [("A02", "A04"), ("A03", "A06"), ("A05", "A01")]


def test_mon_2_a_gift_is_unseen_until_all_have_chosen_and_then_seen_by_giver_and_receiver() -> None:
    state = before_gifts(4)
    for seat in range(3):
        state = after(state, decide(state, GiveCard(state.seats[seat].hand[1]), seat))
    gift = state.seats[1].gift
    assert gift == "B04"
    seen = {viewer: GAME.observation(state, viewer).seats[1] for viewer in (None, 0, 1, 2, 3)}
    assert {viewer: held.gift for viewer, held in seen.items()} == {None: None, 0: None, 1: gift, 2: None, 3: None}
    assert all(held.gift_chosen for held in seen.values())
    state = play(state, GiveCard("B07"))
    shown = {viewer: GAME.observation(state, viewer).seats[1].gift for viewer in (None, 0, 1, 2, 3)}
    assert shown == {None: None, 0: gift, 1: gift, 2: None, 3: None}


@pytest.mark.parametrize(("seats", "hand", "pile"), [(2, 5, 8), (3, 3, 9), (4, 3, 12)])
def test_mon_3_the_hands_are_filled_from_the_shuffled_pile_seat_by_seat(seats: int, hand: int, pile: int) -> None:
    cards = deck(seats)
    state = table(seats, deck=cards)
    more = hand - 2
    assert [held.hand[2:] for held in state.seats] == [cards[seat * more : (seat + 1) * more] for seat in range(seats)]
    assert state.pile == cards[seats * more + 2 :]
    assert len(state.pile) == pile


def test_mon_3_the_pile_is_all_cards_but_those_with_the_double_heads_of_the_monsters_that_play() -> None:
    pile = opening(2)[1]
    assert isinstance(pile, PileShuffled)
    assert Counter(pile.cards) == Counter(f"A{number:02}" for number in range(5, 21))
    others = {tuple(before_gifts(2, seed=seed).pile) for seed in range(5)}
    assert len(others) == 5


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mon_5_the_first_player_is_drawn(seats: int) -> None:
    assert first_seats(seats) == set(range(seats))
    state: State = table(seats, first=seats - 1)
    assert awaited_seats(state) == (seats - 1,)
    assert state.active == seats - 1


def test_mon_5_the_turn_order_begins_with_the_first_player() -> None:
    effect = opening(4, first=2)[0]
    assert isinstance(effect, TableSet)
    assert effect.turn_order == (2, 3, 0, 1)
