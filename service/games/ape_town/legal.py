"""What a seat may do: the checks that judge an action, and the lists of what they let pass."""

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
    """A tile of the display, and the money to pay for it."""

    segment: Segment
    tile: Tile
    price: int


def decisions(state: State) -> tuple[Decision[AnyAction], ...]:
    """The one decision that is open, or none at the end; who does not answer takes the first legal action."""
    if state.step is None:
        return ()
    return (Decision(state.active, state.step, next(legal_actions(state, state.active))),)


def legal_actions(state: State, seat: Seat) -> Iterator[AnyAction]:
    """All legal actions: the display from its first tile as far as the money goes, or the fields as the board lists them."""
    if state.step is None or state.active != seat:
        return
    if state.taken is None:
        for segment in takeable(state):
            yield _TAKES[segment]
    else:
        for index in free_fields(state.board, state.taken.colour):
            yield _PLACES[index]


def takeable(state: State) -> tuple[Segment, ...]:
    """The segments whose tile the active seat can take: each one further costs 1 more (APE-10)."""
    return state.display[: state.seats[state.active].money + 1]


def free_fields(board: Sequence[Tile | None], colour: Colour) -> list[int]:
    """Where a tile of that colour may go: the free fields of the colour, or all of them if it has none (APE-12)."""
    return [index for index in _OF_COLOUR[colour] if board[index] is None] or [
        index for index, tile in enumerate(board) if tile is None
    ]


def check_seat(state: State, seat: Seat) -> None:
    if state.step is None:
        raise IllegalAction("game-over", "APE-30")
    if state.active != seat:
        raise IllegalAction("not-your-turn", _CLAUSES[state.step], active=state.active)


def check_take(state: State, action: TakeTile) -> Offer:
    """What a legal take gets, and for how much."""
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
    """The tile that a legal placement puts down."""
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
