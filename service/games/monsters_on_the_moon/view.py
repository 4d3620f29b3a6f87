"""What a viewer may know, field by field. `sampling` makes full states that agree with it.

Hidden are hands, the draw pile, secret missions, gifts of other seats, and missions chosen before all seats have
chosen.
"""

import msgspec

from service.games.monsters_on_the_moon.components import CardId, MissionId, Monster, right_of
from service.games.monsters_on_the_moon.effects import Step
from service.games.monsters_on_the_moon.grid import coordinates_of
from service.games.monsters_on_the_moon.options import Options
from service.games.monsters_on_the_moon.squares import Place, SquareAt, square_at
from service.games.monsters_on_the_moon.state import Holdings, Laid, Rating, State, Turn, Wall
from service.games.visibility import Seat, Viewer


class PieceAt(msgspec.Struct, frozen=True):
    """A spaceship or a monster plate on a square, and its owner."""

    x: int
    y: int
    seat: Seat


class SeatView(msgspec.Struct, frozen=True):
    """What a seat has. `hand` and `missions` are visible to that seat, and null for all others.

    `gift` is the card that the seat chose to give to its right. It is visible to the seat, and to the receiver once all
    seats have chosen. `field` is the position of the marker, and `crystals` are the points of that field. `plates`
    counts the plates still on the track. `mission` is visible to the seat once it has chosen, and to all at the end.
    """

    monster: Monster
    hand_count: int
    hand: tuple[CardId, ...] | None
    gift_chosen: bool
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
    mission_count: int
    missions: tuple[MissionId, ...] | None
    mission_chosen: bool
    mission: MissionId | None


class Observation(msgspec.Struct, frozen=True, tag_field="game", tag="monsters_on_the_moon"):
    """Everything that is public, and what the viewer owns.

    `step` is what the match waits for; null at the end. `awaited` is the seat that must act; null if all seats that
    have not chosen yet must act. `active` is the seat whose turn it is. `decider`, if not null, chooses who goes first
    after this turn. `pile` is the number of cards in the draw pile. `display` has the visible squares row by row, with
    plates, and without spaceships. `ships` and `plates` are row by row too. `laid` and `walls` are in the order in
    which they were laid. `areas` are the enclosed areas, each with its squares row by row. `rating` is the rating of a
    single player at the end.
    """

    options: Options
    step: Step | None
    awaited: Seat | None
    active: Seat
    turn: Turn
    decider: Seat | None
    seats: tuple[SeatView, ...]
    pile: int
    laid: tuple[Laid, ...]
    display: tuple[SquareAt, ...]
    ships: tuple[PieceAt, ...]
    plates: tuple[PieceAt, ...]
    walls: tuple[Wall, ...]
    areas: tuple[tuple[Place, ...], ...]
    open_missions: tuple[MissionId, ...]
    rating: Rating | None


def observation(state: State, viewer: Viewer) -> Observation:
    """What a seat, or a spectator (None), may know."""
    squares = sorted(state.display.items())
    return Observation(
        options=state.options,
        step=state.step,
        awaited=state.awaited,
        active=state.active,
        turn=state.turn,
        decider=state.decider,
        seats=tuple([_seat_view(state, seat, held, viewer) for seat, held in enumerate(state.seats)]),
        pile=len(state.pile),
        laid=state.laid,
        display=tuple([square_at(cell, square) for cell, square in squares]),
        ships=tuple([PieceAt(*coordinates_of(cell), seat) for cell, seat in sorted(state.ships.items())]),
        plates=tuple(
            [PieceAt(*coordinates_of(cell), square.plate) for cell, square in squares if square.plate is not None]
        ),
        walls=state.walls,
        areas=tuple([tuple([Place(*coordinates_of(cell)) for cell in area]) for area in state.areas]),
        open_missions=state.open_missions,
        rating=state.rating,
    )


def _seat_view(state: State, seat: Seat, held: Holdings, viewer: Viewer) -> SeatView:
    own = viewer == seat
    received = state.step != "give_card" and viewer == right_of(seat, len(state.seats))
    return SeatView(
        monster=held.monster,
        hand_count=len(held.hand),
        hand=held.hand if own else None,
        gift_chosen=held.gift is not None,
        gift=held.gift if own or received else None,
        ships=held.ships,
        field=held.field,
        crystals=held.crystals,
        plates=held.plates,
        plates_lost=held.plates_lost,
        long_walls=held.long_walls,
        short_walls=held.short_walls,
        interim_singles=held.interim_singles,
        interim_groups=held.interim_groups,
        mission_count=len(held.missions),
        missions=held.missions if own else None,
        mission_chosen=held.mission is not None,
        mission=held.mission if own or state.step is None else None,
    )
