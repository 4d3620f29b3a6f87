"""Checks actions, and lists the legal ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.games.ape_town.actions import AnyAction, PlaceTile, TakeTile
from service.games.ape_town.components import BOX, FIELD_INDEX, FIELDS, Colour, Segment, Tile
from service.games.ape_town.effects import Step
from service.games.ape_town.state import State, Taken
from service.games.protocol import Decision, IllegalAction
from service.games.visibility import Seat

_TAKES: Final = tuple([TakeTile(segment) for segment in range(len(BOX.track))])
_PLACES: Final = tuple([PlaceTile(field.id) for field in FIELDS])
_OF_COLOUR: Final[Mapping[Colour, tuple[int, ...]]] = {
    colour: tuple([index for index, field in enumerate(FIELDS) if field.colour == colour]) for colour in BOX.track
}
_CLAUSES: Final[Mapping[Step, str]] = {"take_tile": "APE-10", "place_tile": "APE-12"}


class Offer(NamedTuple):
    """A tile of the display and its price in money."""

    segment: Segment
    tile: Tile
    price: int


def decisions(state: State) -> tuple[Decision[AnyAction], ...]:
    """The open decision; empty at the end. A seat that does not answer in time takes its first legal action."""
    if state.step is None:
        return ()
    return (Decision(state.active, state.step, next(legal_actions(state, state.active))),)


def legal_actions(state: State, seat: Seat) -> Iterator[AnyAction]:
    """All legal actions: the tiles that the seat can pay, in display order, or the fields in the order of the component
    file.
    """
    if state.step is None or state.active != seat:
        return
    if state.taken is None:
        for segment in takeable(state):
            yield _TAKES[segment]
    else:
        for index in free_fields(state.board, state.taken.colour):
            yield _PLACES[index]


def takeable(state: State) -> tuple[Segment, ...]:
    """The segments whose tiles the active seat can pay. Each further tile costs 1 more (APE-10)."""
    return state.display[: state.seats[state.active].money + 1]


def free_fields(board: Sequence[Tile | None], colour: Colour) -> list[int]:
    """The indices of the fields where a tile of this colour may go: free fields of the colour, or all free fields if it
    has none (APE-12).
    """
    return [index for index in _OF_COLOUR[colour] if board[index] is None] or [
        index for index, tile in enumerate(board) if tile is None
    ]


def check_seat(state: State, seat: Seat) -> None:
    if state.step is None:
        raise IllegalAction("game-over", "APE-30")
    if state.active != seat:
        raise IllegalAction("not-your-turn", _CLAUSES[state.step], active=state.active)


def check_take(state: State, action: TakeTile) -> Offer:
    """The tile and the price of a legal take."""
    if state.step != "take_tile":
        raise IllegalAction("wrong-step", "APE-12")
    segment = action.segment
    tile = state.track[segment] if segment in state.display else None
    if tile is None:
        raise IllegalAction("no-open-tile", "APE-10", segment=segment)
    price = state.display.index(segment)
    money = state.seats[state.active].money
    if price > money:
        raise IllegalAction("too-little-money", "APE-10", price=price, money=money)
    return Offer(segment, tile, price)


def check_place(state: State, action: PlaceTile) -> Taken:
    """The tile that a legal placement puts on the board."""
    if state.taken is None:
        raise IllegalAction("wrong-step", "APE-10")
    index = FIELD_INDEX.get(action.field)
    if index is None:
        raise IllegalAction("no-such-field", "APE-12", field=action.field)
    if state.board[index] is not None:
        raise IllegalAction("field-taken", "APE-12", field=action.field)
    if index not in free_fields(state.board, state.taken.colour):
        raise IllegalAction("wrong-colour", "APE-12", colour=state.taken.colour, field=action.field)
    return state.taken
