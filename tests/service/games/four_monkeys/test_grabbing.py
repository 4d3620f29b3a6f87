"""Taking combos, and drawing cards (FOU-10, FOU-11)."""

import pytest

from service.games.four_monkeys.actions import Burn, Grab, UseReplenish
from service.games.four_monkeys.effects import (
    CardsDrawn,
    TileGrabbed,
)
from service.games.four_monkeys.state import State
from service.games.kit.patterns import AnyOf
from service.games.protocol import IllegalAction
from service.games.visibility import Seat, redact
from tests.service.games.four_monkeys.builders import (
    DECK,
    HAND,
    after,
    cards,
    deal,
    decide,
    legal,
    play,
    ready,
    refusal,
    tile,
    tiles,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng


def facts(state: State, grab: Grab, seat: Seat = 0) -> tuple[str, dict[str, str | int]]:
    with pytest.raises(IllegalAction) as refused:
        decide(state, grab, seat)
    assert refused.value.clause == "FOU-10"
    return refused.value.code, refused.value.facts


def test_fou_10_a_grab_takes_the_top_tile_and_puts_cards_under_it_and_fills_the_hand_up() -> None:
    grab = Grab(0, "K02-1", (HAND[3], HAND[0]))
    assert decide(ready(), grab) == (
        TileGrabbed(0, 0, "K02-1", 2, (HAND[0], HAND[3]), "K03-1"),
        CardsDrawn(0, 0, 2, DECK[:2]),
    )
    state = play(ready(), grab)
    assert state.seats[0].hand == (*HAND[1:3], HAND[4], *DECK[:2])
    assert state.seats[0].tiles == (tile("K02-1", HAND[0], HAND[3]),)
    assert state.stacks == ((("K03-1",), ("K04-1",)),)
    assert state.seats[0].deck == DECK[2:]


def test_fou_10_any_cards_may_lie_under_a_combo_and_others_see_only_how_many() -> None:
    (grabbed, *_) = decide(ready(), Grab(1, "K04-1", HAND))
    assert redact(grabbed, 1) == {
        "type": "tile_grabbed",
        "seat": 0,
        "stack": 1,
        "combo": "K04-1",
        "count": 5,
        "uncovered": None,
    }
    assert redact(grabbed, 0) is grabbed
    assert play(ready(), Grab(1, "K04-1", HAND)).stacks == ((("K02-1", "K03-1"), ()),)


def test_fou_10_a_hand_that_still_has_five_cards_draws_nothing() -> None:
    state = with_holdings(ready(), 0, hand=(*HAND, *DECK[:2]))
    assert len(decide(state, Grab(0, "K02-1", HAND[:2]))) == 1
    assert len(decide(state, Grab(0, "K02-1", HAND[:3]))) == 2


def test_fou_10_the_list_has_a_pattern_for_each_stack() -> None:
    pattern = AnyOf(HAND, 1, 5)
    assert [one for one in legal(ready()) if isinstance(one, Grab)] == [
        Grab(0, "K02-1", pattern),
        Grab(1, "K04-1", pattern),
    ]
    after_grab = play(ready(), Grab(1, "K04-1", HAND[:1]), 0)
    assert [one.stack for one in legal(after_grab) if isinstance(one, Grab)] == [0]
    assert not [one for one in legal(with_holdings(ready(), 0, hand=())) if isinstance(one, Grab)]


def test_fou_10_one_card_at_least_goes_under_a_combo() -> None:
    assert facts(ready(), Grab(0, "K02-1", ())) == ("no-cards", {"least": 1})


def test_fou_10_the_pattern_of_the_legal_list_is_no_choice_of_cards() -> None:
    for pattern in (AnyOf(HAND, 1, 5), AnyOf((), -9, 2**60)):
        assert facts(ready(), Grab(0, "K02-1", pattern)) == ("cards-not-chosen", {"least": 1, "most": len(HAND)})


@pytest.mark.parametrize("under", [(HAND[0], HAND[0]), (HAND[0], DECK[0])])
def test_fou_10_the_cards_are_of_the_hand_and_each_is_named_once(under: tuple[str, ...]) -> None:
    assert refusal(ready(), Grab(0, "K02-1", under))[1] == "FOU-10"


def test_fou_10_the_refusal_of_a_taken_tile_names_its_owner_and_the_tile_there_now() -> None:
    state = play(ready(), Grab(0, "K02-1", HAND[:1]))
    grab = Grab(0, "K02-1", state.seats[1].hand[:1])
    assert facts(state, grab, 1) == ("tile-gone", {"combo": "K02-1", "holder": 0, "stack": 0, "now": "K03-1"})
    state = play(state, Grab(0, "K03-1", HAND[1:2]))
    assert facts(state, grab, 1) == ("stack-gone", {"combo": "K02-1", "holder": 0, "stack": 0})


def test_fou_10_a_tile_on_another_stack_is_refused_with_its_stack() -> None:
    assert facts(ready(), Grab(1, "K02-1", HAND)) == ("tile-elsewhere", {"combo": "K02-1", "stack": 0})


@pytest.mark.parametrize("combo", ["K03-1", "K10-3", "K99-1"])
def test_fou_10_the_refusal_of_a_hidden_tile_does_not_reveal_its_stack(combo: str) -> None:
    assert facts(ready(), Grab(0, combo, HAND)) == ("tile-not-seen", {"combo": combo})


def test_fou_11_the_own_deck_comes_first_then_the_one_wished_for_then_those_to_the_right() -> None:
    def drawn(state: State, wish: Seat | None) -> list[tuple[Seat, int]]:
        effects = decide(state, Grab(0, "K02-1", HAND, draw_from=wish))
        return [(effect.deck, effect.count) for effect in effects if isinstance(effect, CardsDrawn)]

    state = with_holdings(ready(4), 0, deck=DECK[:1])
    assert drawn(ready(4), 2) == [(0, 5)]
    assert drawn(state, None) == [(0, 1), (3, 4)]
    assert drawn(state, 1) == [(0, 1), (1, 4)]
    assert drawn(state, 0) == [(0, 1), (3, 4)]
    assert drawn(state, 7) == [(0, 1), (3, 4)]
    assert drawn(with_holdings(state, 1, deck=()), 1) == [(0, 1), (3, 4)]
    short = with_holdings(with_holdings(state, 1, deck=cards(1, "cc")), 3, deck=cards(3, "cc"))
    assert drawn(short, 1) == [(0, 1), (1, 1), (3, 1), (2, 2)]
    assert drawn(short, None) == [(0, 1), (3, 1), (2, 3)]


def test_fou_11_right_is_the_entry_before_in_the_seating() -> None:
    state = deal(3, ScriptedRng(0, {"seating": (2, 0, 1)}))
    state = with_holdings(state, 0, deck=(), tiles=tiles("K01-1"))
    (_, drawn) = decide(state, Burn("K01-1"))
    assert isinstance(drawn, CardsDrawn)
    assert (drawn.deck, drawn.cards) == (2, state.seats[2].deck[:3])
    assert after(state, [drawn]).seats[2].deck == state.seats[2].deck[3:]


@pytest.mark.parametrize("action", [Burn("K01-1"), UseReplenish("extra"), UseReplenish("redraw")])
def test_fou_11_drawing_stops_when_all_decks_are_empty(action: Burn | UseReplenish) -> None:
    state = with_holdings(with_holdings(ready(), 1, deck=cards(1, "cc")), 0, deck=(), tiles=tiles("K01-1"))
    drawn = [effect for effect in decide(state, action) if isinstance(effect, CardsDrawn)]
    assert [(effect.deck, effect.cards) for effect in drawn] == [(1, cards(1, "cc"))]
    assert not [one for one in decide(with_holdings(state, 1, deck=()), action) if isinstance(one, CardsDrawn)]
