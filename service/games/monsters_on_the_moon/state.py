"""The state of a match. The display maps cells (see `grid`) to the visible squares."""

import msgspec

from service.games.monsters_on_the_moon.components import CardId, MissionId, Monster
from service.games.monsters_on_the_moon.edges import Edge, Length, Orientation, span_at
from service.games.monsters_on_the_moon.effects import Step
from service.games.monsters_on_the_moon.grid import Cell, Rotation
from service.games.monsters_on_the_moon.options import Options
from service.games.monsters_on_the_moon.squares import Square
from service.games.visibility import Seat


class Laid(msgspec.Struct, frozen=True):
    """A card, the coordinates of its top left square, and the seat that laid it; None for start cards."""

    card: CardId
    x: int
    y: int
    rotation: Rotation
    seat: Seat | None


class Wall(msgspec.Struct, frozen=True):
    """A moon wall and the seat that laid it: with `h` above the square at x, y and to the right, with `v` left of it
    and down.
    """

    x: int
    y: int
    orientation: Orientation
    length: Length
    seat: Seat


class Turn(msgspec.Struct, frozen=True):
    """The progress of a turn: the card laid, whether a spaceship was placed and a card drawn, plates still to be
    placed, and walls laid.

    The walls of this turn are the last `walls` entries of the state's `walls`.
    """

    card: CardId | None = None
    ship: bool = False
    drew: bool = False
    plates: int = 0
    walls: int = 0


class Holdings(msgspec.Struct, frozen=True):
    """What a seat has.

    `gift` is the card that it gave away or laid aside to give. `plates` counts the plates still on the track.

    `crystals` are the points of the marker's field. `mission` is chosen at the end.
    """

    monster: Monster
    hand: tuple[CardId, ...]
    gift: CardId | None
    ships: int
    field: int
    crystals: int
    plates: int
    plates_lost: int
    long_walls: int
    short_walls: int
    interim_singles: int
    interim_groups: int
    missions: tuple[MissionId, ...]
    mission: MissionId | None


class Rating(msgspec.Struct, frozen=True):
    """A single player's points and their rating, from 1 to 5 (MON-82)."""

    points: int
    rank: int


class State(msgspec.Struct, frozen=True):
    """The whole state. The first card of `pile` is drawn first. `laid` has all cards of the display, the latest last.

    `step` is what the match waits for; None at the end. `awaited` is the seat that must act, or None if all seats act
    at once. `active` is the seat whose turn it is. `decider` chooses the next seat when the turn ends (MON-31). The
    latest of `walls` is the last one. `areas` are the enclosed areas, each with its cells ascending (MON-63).
    """

    options: Options
    seats: tuple[Holdings, ...]
    step: Step | None
    awaited: Seat | None
    active: Seat
    turn: Turn
    decider: Seat | None
    pile: tuple[CardId, ...]
    laid: tuple[Laid, ...]
    display: dict[Cell, Square]
    ships: dict[Cell, Seat]
    walls: tuple[Wall, ...]
    areas: tuple[tuple[Cell, ...], ...]
    open_missions: tuple[MissionId, ...]
    rating: Rating | None


def awaited_seats(state: State) -> tuple[Seat, ...]:
    """The seats that may act, ascending."""
    if state.step is None:
        return ()
    if state.awaited is not None:
        return (state.awaited,)
    seats = enumerate(state.seats)
    if state.step == "give_card":
        return tuple([seat for seat, held in seats if held.gift is None])
    return tuple([seat for seat, held in seats if held.mission is None])


def selectable_missions(state: State, seat: Seat) -> tuple[MissionId, ...]:
    """The missions of which a seat scores one: its own, or the open ones (MON-71)."""
    return state.open_missions or state.seats[seat].missions


def walled_edges(state: State) -> frozenset[Edge]:
    """All edges with a wall."""
    if not state.walls:
        return frozenset()
    spans = [span_at(wall.x, wall.y, wall.orientation, wall.length) for wall in state.walls]
    return frozenset([edge for span in spans for edge in span.edges])


def enclosed_cells(state: State) -> frozenset[Cell]:
    """The cells of all enclosed areas."""
    return frozenset([cell for area in state.areas for cell in area])
