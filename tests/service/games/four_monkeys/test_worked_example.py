"""The rulebook's scoring example, from the deal to the points, with banana skins (FOU-20 to FOU-23, FOU-30)."""

from typing import Final

from service.games.four_monkeys.actions import AnyAction, Burn, Check, Grab, HandBanana
from service.games.four_monkeys.components import BOX, CardId
from service.games.four_monkeys.effects import (
    CheckOpened,
    ComboChecked,
    RepeatedSetAside,
    RoundEnded,
    RoundScored,
    SmartestNamed,
)
from service.games.four_monkeys.state import State, visible_value
from service.games.visibility import Seat
from tests.service.games.four_monkeys.builders import DEADLINE, after, cards, deal, decide, play, ring
from tests.service.games.rng import ScriptedRng

CLAIRE, TOM, IAN = 0, 1, 2

FOUR_OF_A_COLOUR = cards(IAN, "cs", "cs", "cs", "ct")
NO_PENTAGON = ("2:circle-triangle-2", "2:square-square-1")
A_CARD_TOO_MANY = cards(IAN, "tt", "cp", "tt")
PENTAGONS = cards(IAN, "pp", "pp", "pp", "pp")
CLAIRES = cards(CLAIRE, "ss", "pp")
FOUR_AND_FOUR = cards(TOM, "cc", "cc", "tt", "tt")
FOUR_AND_THREE = cards(TOM, "ss", "ss", "pp", "sp")
TWO_BUTTONS = ("1:circle-circle-3", "1:circle-circle-4")

STACKS: Final = (
    ("K01-1", "K02-1", "K03-1", "K07-1", "K08-1", "K05-1"),
    ("K05-2", "K08-2", "K04-1", "K09-1", "K06-1", "K05-3"),
)


def deck(seat: Seat, *first: CardId) -> tuple[CardId, ...]:
    """The seat's deck with these cards on top."""
    return (*first, *(card for card in BOX.decks[seat] if card not in first))


def example() -> State:
    first = [combo for stack in STACKS for combo in stack]
    combos = (*first, *(combo for combo in BOX.combos_of(3) if combo not in first))
    outcomes = {
        "seating": (CLAIRE, TOM, IAN),
        "deck:0": deck(CLAIRE, *CLAIRES),
        "deck:1": deck(TOM, *FOUR_AND_FOUR, *FOUR_AND_THREE, *TWO_BUTTONS),
        "deck:2": deck(IAN, *FOUR_OF_A_COLOUR, *NO_PENTAGON, *A_CARD_TOO_MANY, *PENTAGONS),
        "combos:0": combos,
    }
    return deal(3, ScriptedRng(0, outcomes), {"banana_skins": True})


PLAYED: Final[tuple[tuple[Seat, AnyAction], ...]] = (
    (IAN, Grab(0, "K01-1", FOUR_OF_A_COLOUR)),
    (IAN, Grab(0, "K02-1", NO_PENTAGON)),
    (IAN, Grab(0, "K03-1", A_CARD_TOO_MANY)),
    (IAN, Grab(0, "K07-1", PENTAGONS[:1])),
    (IAN, Grab(1, "K05-2", PENTAGONS[1:2])),
    (CLAIRE, Grab(1, "K08-2", CLAIRES[:1])),
    (CLAIRE, HandBanana(TOM)),
    (IAN, Grab(0, "K08-1", PENTAGONS[2:3])),
    (IAN, Grab(0, "K05-1", PENTAGONS[3:])),
    (IAN, HandBanana(CLAIRE)),
    (IAN, Burn("K02-1")),
    (CLAIRE, Grab(1, "K04-1", CLAIRES[1:])),
    (TOM, Grab(1, "K09-1", FOUR_AND_FOUR)),
    (TOM, Grab(1, "K06-1", FOUR_AND_THREE)),
    (TOM, Grab(1, "K05-3", TWO_BUTTONS)),
)


def test_fou_22_the_rulebooks_example_gives_the_printed_result() -> None:
    state = example()
    for seat, action in PLAYED:
        state = play(state, action, seat)

    effects = ring(state)
    assert effects == (
        RoundEnded(1, "deadline"),
        RepeatedSetAside(IAN, ("K05-2", "K05-1")),
        SmartestNamed((IAN,)),
        CheckOpened(IAN, ("K01-1", "K02-1"), DEADLINE, DEADLINE + 20_000),
    )
    state = after(state, effects)
    assert [sum(map(visible_value, held.tiles)) for held in state.seats] == [7, 11, 13]

    chosen = decide(state, Check("K01-1"), IAN, DEADLINE + 1_000)
    assert chosen == (
        ComboChecked(IAN, "K01-1", FOUR_OF_A_COLOUR, correct=True),
        ComboChecked(IAN, "K02-1", NO_PENTAGON, correct=False),
        SmartestNamed((IAN,)),
        ComboChecked(IAN, "K03-1", A_CARD_TOO_MANY, correct=False),
        SmartestNamed((TOM,)),
        CheckOpened(TOM, ("K06-1", "K05-3"), DEADLINE + 1_000, DEADLINE + 21_000),
    )
    state = after(state, chosen)
    assert [sum(map(visible_value, held.tiles)) for held in state.seats] == [7, 11, 10]

    effects = ring(state, "check", DEADLINE + 21_000)
    assert effects[:6] == (
        ComboChecked(TOM, "K06-1", FOUR_AND_THREE, correct=True),
        ComboChecked(TOM, "K05-3", TWO_BUTTONS, correct=True),
        ComboChecked(TOM, "K09-1", FOUR_AND_FOUR, correct=True),
        RoundScored(CLAIRE, tiles=7, set_aside=0, skins=-3, smartest=0, points=4, clause="FOU-23"),
        RoundScored(TOM, tiles=11, set_aside=0, skins=-3, smartest=0, points=8, clause="FOU-23"),
        RoundScored(IAN, tiles=10, set_aside=-8, skins=0, smartest=0, points=2, clause="FOU-23"),
    )
    state = after(state, effects)
    assert (state.round, state.points) == (2, ((4,), (8,), (2,)))
