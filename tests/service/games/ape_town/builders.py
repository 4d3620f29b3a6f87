"""Builders of states and moves for the tests of Ape Town.

A tile on the board is written as its kind, followed by the owner of its disc if it has one: "banana", "lemur 0".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec.structs import replace

from service.games.ape_town.actions import AnyAction
from service.games.ape_town.components import (
    BOX,
    DISTRICTS,
    FIELD_INDEX,
    FIELDS,
    Colour,
    DistrictId,
    FieldId,
    Segment,
    Tile,
)
from service.games.ape_town.effects import AnyEffect, DecisionOpened
from service.games.ape_town.game import GAME
from service.games.ape_town.state import Options, State, Taken
from service.games.protocol import Move, Ring, fold
from service.games.visibility import Seat
from tests.service.games.rng import ScriptedRng

DEAL: Final[tuple[Tile, ...]] = tuple(BOX.tiles[7 * index % 80] for index in range(80))
"""A fixed, well mixed order of all tiles."""


def opening(seats: int = 2, *, first: Seat = 0, tiles: Sequence[Tile] = DEAL) -> tuple[AnyEffect, ...]:
    rng = ScriptedRng(outcomes={"tiles": tuple(tiles), "first_seat": first})
    return GAME.setup(seats, Options(), 0, rng)


def table(seats: int = 2, *, first: Seat = 0, tiles: Sequence[Tile] = DEAL) -> State:
    return after(None, opening(seats, first=first, tiles=tiles))


def after(state: State | None, effects: Iterable[AnyEffect]) -> State:
    folded = fold(GAME, state, effects)
    assert folded is not None
    return folded


def deal_starting_with(*tiles: Tile) -> tuple[Tile, ...]:
    """A deal that begins with these tiles."""
    return tiles + tuple((Counter(BOX.tiles) - Counter(tiles)).elements())


def with_holdings(state: State, seat: Seat, **holdings: int) -> State:
    """The state with some of a seat's holdings replaced."""
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], **holdings)
    return replace(state, seats=tuple(seats))


def with_money(state: State, **counts: int) -> State:
    """The state with money on segments: `with_money(state, at_3=2)`."""
    money = list(state.track_money)
    for name, count in counts.items():
        money[int(name.removeprefix("at_"))] = count
    return replace(state, track_money=tuple(money))


def with_tiles(state: State, tiles: Mapping[FieldId, str]) -> State:
    """The state with these tiles added to the board."""
    board, discs = list(state.board), list(state.discs)
    for field, written in tiles.items():
        tile, *owner = written.split()
        board[FIELD_INDEX[field]] = cast("Tile", tile)
        discs[FIELD_INDEX[field]] = int(owner[0]) if owner else None
    return replace(state, board=tuple(board), discs=tuple(discs))


def fields_of(district: DistrictId) -> list[FieldId]:
    return [FIELDS[index].id for found in DISTRICTS if found.id == district for index in found.fields]


def district_tiles(district: DistrictId, *tiles: str, free: int = 0) -> dict[FieldId, str]:
    """Tiles for a district: these from its first field on, and bananas on the others, except for the last `free`
    fields.
    """
    fields = fields_of(district)
    fields = fields[: len(fields) - free]
    return dict(zip(fields, (*tiles, *["banana"] * (len(fields) - len(tiles))), strict=True))


def full_except(*free: FieldId) -> dict[FieldId, str]:
    """A board full of bananas, except for these fields."""
    return {field.id: "banana" for field in FIELDS if field.id not in free}


def with_tile_to_place(state: State, tile: Tile, colour: Colour) -> State:
    """The state in which the active seat has to put this tile on a field of this colour."""
    return replace(state, step="place_tile", taken=Taken(BOX.track.index(colour), colour, tile))


def without_tiles(state: State, *segments: Segment) -> State:
    """The state without the tiles at these segments."""
    track = [None if segment in segments else tile for segment, tile in enumerate(state.track)]
    display = [segment for segment in state.display if segment not in segments]
    return replace(state, track=tuple(track), display=tuple(display))


def decide(state: State, action: AnyAction | Ring, seat: Seat | None = None) -> tuple[AnyEffect, ...]:
    """The effects of an action of the active seat, or of another one."""
    return GAME.decide(state, Move(state.active if seat is None else seat, action, 0), ScriptedRng())


def effects_of(state: State, action: AnyAction) -> list[AnyEffect]:
    """The effects of an action, without the decision that it opens."""
    return [effect for effect in decide(state, action) if not isinstance(effect, DecisionOpened)]


def play(state: State, *actions: AnyAction) -> State:
    """The state after actions of the active seats."""
    for action in actions:
        state = after(state, decide(state, action))
    return state


def legal(state: State) -> list[AnyAction]:
    """All legal actions of the active seat."""
    return list(GAME.legal_actions(state, state.active))


def default_line(state: State) -> Iterator[State]:
    """The state, and each later one while every seat takes its first legal action."""
    yield state
    while actions := legal(state):
        state = play(state, actions[0])
        yield state


def random_match(seats: int, seed: int) -> Iterator[tuple[State, tuple[AnyEffect, ...]]]:
    """Each state of a match of random actions, with the effects that led to it."""
    rng = ScriptedRng(seed)
    effects = GAME.setup(seats, Options(), 0, rng)
    state = after(None, effects)
    yield state, effects
    while actions := legal(state):
        effects = decide(state, rng.pick("action", actions))
        state = after(state, effects)
        yield state, effects


def pieces(state: State) -> Counter[str]:
    """The number of pieces of each kind."""
    found: Counter[str] = Counter(tile for tile in (*state.track, *state.supply, *state.board) if tile)
    if state.taken:
        found[state.taken.tile] += 1
    for seat, held in enumerate(state.seats):
        found[f"disc {seat}"] = held.discs + state.discs.count(seat)
    found["money"] = sum(state.track_money) + sum(held.money for held in state.seats)
    return found
