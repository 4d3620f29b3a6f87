"""Builders of states and moves for the tests of Monsters on the Moon.

A picture is rows of symbols separated by spaces: W werewolf, H witch, V vampire, S skeleton, twice for a double head, c
crystal, e empty square, A Armstrong, B base camp, . bare table.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import AnyAction, GiveCard
from service.games.monsters_on_the_moon.components import _SYMBOLS, BOX, MONSTERS, CardId
from service.games.monsters_on_the_moon.effects import AnyEffect, DecisionOpened, Step, TurnOpened
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.grid import Cell, Rotation, cell_at
from service.games.monsters_on_the_moon.laying import start_card
from service.games.monsters_on_the_moon.squares import Square
from service.games.monsters_on_the_moon.state import State, Turn, awaited_seats
from service.games.protocol import IllegalAction, Move, Ring, fold
from service.games.visibility import Seat
from tests.service.games.rng import ScriptedRng

RED: Final[Mapping[int, tuple[int, ...]]] = {2: (5, 10), 3: (4, 8), 4: (4, 8)}
"""The red-framed fields by number of seats."""
NOTHING: Final[Mapping[str, object]] = {}


def deck(seats: int) -> tuple[CardId, ...]:
    """The draw pile before the shuffle: all cards except those that the seats take first."""
    taken = [card for held in before_gifts(seats).seats for card in held.hand]
    return tuple(card for card in BOX.decks[seats] if card not in taken)


def opening(
    seats: int = 2,
    *,
    seed: int = 0,
    first: Seat = 0,
    deck: Sequence[CardId] = (),
    missions: Sequence[int] = (),
    options: Mapping[str, object] = NOTHING,
) -> tuple[AnyEffect, ...]:
    """The effects of a setup. The deck or the missions have the given order, if there is one."""
    outcomes: dict[str, object] = {"first_seat": first}
    if deck:
        outcomes["deck"] = tuple(deck)
    if missions:
        outcomes["missions"] = tuple(missions)
    return GAME.setup(seats, GAME.options(seats, options), 0, ScriptedRng(seed, outcomes))


def before_gifts(
    seats: int = 2,
    *,
    seed: int = 0,
    first: Seat = 0,
    deck: Sequence[CardId] = (),
    missions: Sequence[int] = (),
    options: Mapping[str, object] = NOTHING,
) -> State:
    return after(None, opening(seats, seed=seed, first=first, deck=deck, missions=missions, options=options))


def table(
    seats: int = 2,
    *,
    seed: int = 0,
    first: Seat = 0,
    deck: Sequence[CardId] = (),
    missions: Sequence[int] = (),
    options: Mapping[str, object] = NOTHING,
) -> State:
    """The state at the first turn. Each seat gave away the first of its two cards."""
    state = before_gifts(seats, seed=seed, first=first, deck=deck, missions=missions, options=options)
    while state.step == "give_card":
        giver = awaited_seats(state)[0]
        state = after(state, decide(state, GiveCard(state.seats[giver].hand[0]), giver))
    return state


def after(state: State | None, effects: Iterable[AnyEffect]) -> State:
    folded = fold(GAME, state, effects)
    assert folded is not None
    return folded


def with_holdings(state: State, seat: Seat, **holdings: object) -> State:
    """The state with some of a seat's holdings replaced."""
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], **holdings)
    return replace(state, seats=tuple(seats))


def with_cards(state: State, *cards: tuple[CardId, int, int, Rotation]) -> State:
    """The state with only these cards on the table, later ones over earlier ones."""
    state = replace(state, laid=(), display={}, ships={})
    return after(state, [start_card(*card, from_pile=False) for card in cards])


def with_display(state: State, picture: str) -> State:
    """The state whose display is a picture. Each square belongs to a card of its own."""
    return replace(state, display=display_of(picture), ships={})


def display_of(picture: str) -> dict[Cell, Square]:
    """A picture as a display. Its first symbol is at (0, 0)."""
    display = {}
    for y, row in enumerate(picture.strip().splitlines()):
        for x, symbol in enumerate(row.split()):
            if symbol != ".":
                kind = _SYMBOLS[symbol[0]]
                heads = len(symbol) if kind in MONSTERS else 0
                display[cell_at(x, y)] = Square(f"card {x} {y}", kind, heads)
    return display


def at(state: State, x: int, y: int) -> Square:
    return state.display[cell_at(x, y)]


def turn_of(state: State, seat: Seat, *hand: CardId) -> State:
    """The state in which the seat has to lay one of these cards."""
    state = replace(state, active=seat, awaited=seat, step="place_card", turn=Turn())
    return with_holdings(state, seat, hand=hand)


def laying_on_picture(picture: str, card: CardId = "A07", *, seats: int = 2, field: int = 0, ships: int = 0) -> State:
    """The state in which seat 0 has to lay a card on a picture.

    Its marker is on `field`, and the plates from there on are left.
    """
    state = turn_of(with_display(table(seats), picture), 0, card)
    plates = sum(red > field for red in RED[seats])
    return with_holdings(state, 0, field=field, plates=plates, ships=ships)


def at_step(state: State, step: Step, seat: Seat | None) -> State:
    return replace(state, step=step, awaited=seat)


def decide(
    state: State, action: AnyAction | Ring, seat: Seat | None = None, *, rng: ScriptedRng | None = None
) -> tuple[AnyEffect, ...]:
    """The effects of an action of the first awaited seat, or of another one."""
    mover = awaited_seats(state)[0] if seat is None else seat
    return GAME.decide(state, Move(mover, action, 0), rng or ScriptedRng())


def effects_of(state: State, action: AnyAction) -> list[AnyEffect]:
    """The effects of an action, without the turns and decisions that it opens."""
    return [effect for effect in decide(state, action) if not isinstance(effect, TurnOpened | DecisionOpened)]


def play(state: State, *actions: AnyAction) -> State:
    """The state after actions, each of the first awaited seat."""
    for action in actions:
        state = after(state, decide(state, action))
    return state


def refusal_of(state: State, action: AnyAction) -> tuple[str, str]:
    with pytest.raises(IllegalAction) as refusal:
        decide(state, action)
    return refusal.value.code, refusal.value.clause


def legal(state: State, seat: Seat | None = None) -> list[AnyAction]:
    """All legal actions of the first awaited seat, or of another one."""
    mover = next(iter(awaited_seats(state)), 0) if seat is None else seat
    return list(GAME.legal_actions(state, mover))


def random_match(
    seats: int, seed: int, options: Mapping[str, object] = NOTHING
) -> Iterator[tuple[State, tuple[AnyEffect, ...]]]:
    """Each state of a match of random actions, with the effects that led to it."""
    rng = ScriptedRng(seed)
    effects = GAME.setup(seats, GAME.options(seats, options), 0, rng)
    state = after(None, effects)
    yield state, effects
    while movers := awaited_seats(state):
        seat = rng.pick("seat", movers)
        effects = decide(state, rng.pick("action", legal(state, seat)), seat, rng=rng)
        state = after(state, effects)
        yield state, effects


def pieces(state: State) -> Counter[str]:
    """Every card and spaceship by its kind, and the number of secret missions."""
    deck = BOX.decks[len(state.seats)]
    found = Counter(f"card {card}" for card in state.pile)
    found.update(f"card {laid.card}" for laid in state.laid if laid.card in deck)
    for seat, held in enumerate(state.seats):
        found.update(f"card {card}" for card in held.hand)
        if held.gift is not None and state.step == "give_card":
            found[f"card {held.gift}"] += 1
        for kind, left, length in (("long", held.long_walls, 2), ("short", held.short_walls, 1)):
            laid = sum(wall.seat == seat and wall.length == length for wall in state.walls)
            found[f"{kind} wall {seat}"] = left + laid
        found[f"ship {seat}"] = held.ships + list(state.ships.values()).count(seat)
    found["missions"] = len({mission for held in state.seats for mission in held.missions})
    return found
