"""Builders of states, cards and moves for the tests of 4 Monkeys.

A card is written as the first letters of its figures: `cards(0, "ct", "ct")` are the first two circle-triangles of seat
0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.games.four_monkeys.actions import AnyAction
from service.games.four_monkeys.components import FIGURES, CardId, ComboId
from service.games.four_monkeys.effects import AnyEffect
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import Checking, State, Tile
from service.games.protocol import CLOCK, IllegalAction, Move, Ring, fold
from service.games.visibility import Effect, Seat
from tests.service.games.rng import ScriptedRng

AT: Final = 100_000
"""The match time (ms) of the setup."""
START: Final = AT + 5_000
DEADLINE: Final = START + 240_000
BELL: Final = Ring("round")
NO_OPTIONS: Final[Mapping[str, object]] = {}

_NAMES: Final[Mapping[str, str]] = {figure[0]: figure for figure in FIGURES}


def cards(seat: Seat, *figures: str) -> tuple[CardId, ...]:
    """Cards of a seat's deck. Equal cards are numbered from 1."""
    seen: Counter[str] = Counter()
    found = []
    for pair in figures:
        seen[pair] += 1
        found.append(f"{seat}:{_NAMES[pair[0]]}-{_NAMES[pair[1]]}-{seen[pair]}")
    return tuple(found)


def opening(
    seats: int = 2, rng: ScriptedRng | None = None, options: Mapping[str, object] = NO_OPTIONS
) -> tuple[AnyEffect, ...]:
    """The effects of a setup in which seats sit in ascending order."""
    rng = rng or ScriptedRng(0, {"seating": tuple(range(seats))})
    return GAME.setup(seats, GAME.options(seats, options), AT, rng)


def table(seats: int = 2, **options: object) -> State:
    return after(None, opening(seats, None, options))


def deal(seats: int, rng: ScriptedRng, options: Mapping[str, object] = NO_OPTIONS) -> State:
    """A state set up with these draws."""
    return after(None, opening(seats, rng, options))


def after(state: State | None, effects: Iterable[AnyEffect]) -> State:
    folded = fold(GAME, state, effects)
    assert folded is not None
    return folded


def with_holdings(state: State, seat: Seat, **holdings: object) -> State:
    """The state with some of a seat's holdings replaced."""
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], **holdings)
    return replace(state, seats=tuple(seats))


def tile(combo: ComboId, *under: CardId, burned: bool = False, checked: bool = False) -> Tile:
    return Tile(combo, burned, under, checked)


def tiles(*combos: ComboId) -> tuple[Tile, ...]:
    """Green tiles with no cards under them."""
    return tuple(map(tile, combos))


def ten(n: int = 1) -> tuple[Tile, ...]:
    """All ten combos of a set."""
    return tiles(*(f"K{number:02}-{n}" for number in range(1, 11)))


def with_stacks(state: State, *stacks: tuple[ComboId, ...], area: int = 0) -> State:
    """The state with these stacks in an area."""
    return replace(state, stacks=(*state.stacks[:area], stacks, *state.stacks[area + 1 :]))


def with_check(state: State, seat: Seat, opens_at: int = DEADLINE) -> State:
    """The state in which the scoring waits for the seat to choose."""
    checking = Checking(seat, opens_at, opens_at + 20_000)
    return replace(state, phase="scoring", checking=checking, smartest=(seat,))


def decide(
    state: State, action: AnyAction | Ring, seat: Seat = 0, at: int = START, rng: ScriptedRng | None = None
) -> tuple[AnyEffect, ...]:
    return GAME.decide(state, Move(seat, action, at), rng or ScriptedRng())


def play(state: State, action: AnyAction | Ring, seat: Seat = 0, at: int = START) -> State:
    return after(state, decide(state, action, seat, at))


def ring(state: State, label: str = "round", at: int = DEADLINE) -> tuple[AnyEffect, ...]:
    return decide(state, Ring(label), CLOCK, at)


def refusal(state: State, action: AnyAction | Ring, seat: Seat = 0, at: int = START) -> tuple[str, str]:
    """The code and the clause of an action's refusal."""
    try:
        decide(state, action, seat, at)
    except IllegalAction as refused:
        return refused.code, refused.clause
    raise AssertionError(f"{action} is accepted")


def legal(state: State, seat: Seat = 0) -> list[AnyAction]:
    return list(GAME.legal_actions(state, seat))


def of_type(effects: Iterable[Effect], *kinds: type[Effect]) -> list[Effect]:
    return [effect for effect in effects if isinstance(effect, kinds)]


def points(state: State) -> list[int]:
    """The points of each seat in the latest round."""
    return [rounds[-1] for rounds in state.points]


HAND: Final = cards(0, "ct", "cs", "cp", "ts", "tp")
DECK: Final = cards(0, "ss", "ss", "pp", "pp", "cc", "cc", "tt")


def ready(seats: int = 2, **options: object) -> State:
    """A state with two stacks, in which seat 0 has the hand and deck above."""
    state = with_holdings(table(seats, **options), 0, hand=HAND, deck=DECK)
    return with_stacks(state, ("K02-1", "K03-1"), ("K04-1",))


SIX: Final = cards(0, "cc", "cc", "cc")
"""Six circles, which fulfil K10."""
FIVE: Final = cards(0, "tt", "tt", "tp")
"""Five triangles, which fulfil K07."""
GOLD: Final = cards(0, "ss", "pp")
"""Two golden buttons, which fulfil K05."""


def state_with_tiles(*owned: Sequence[Tile], **options: object) -> State:
    """A state in which each seat has these tiles."""
    state = table(max(2, len(owned)), **options)
    for seat, those in enumerate(owned):
        state = with_holdings(state, seat, tiles=tuple(those))
    return state
