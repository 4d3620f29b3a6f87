"""What a viewer may know, field by field; full states that agree with it are made in `sampling`.

Hidden are the hands, the draw pile, secret missions, who gave which card to whom, and choices until all have chosen.
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
    """A spaceship or a monster plate on a square, and whose it is."""

    x: int
    y: int
    seat: Seat


class SeatView(msgspec.Struct, frozen=True):
    """What a seat has; `hand` and `missions` are shown to that seat, and null to all others.

    `gift` is the card that the seat chose to give to its right, shown to it and, once all have chosen, to who got it.
    `field` is where the marker is, `crystals` the points of that field. `plates` are those still on the track.
    `mission` is shown to the seat once it has chosen, and to all at the end.
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
    """All that lies open, and what the viewer holds.

    `step` is what the match waits for, null at the end, and `awaited` who is asked, or null where all are who have not
    chosen yet. `active` is the seat whose turn it is; `decider` says who goes first after this turn, if not null. `pile`
    counts the cards to be drawn. `display` are the visible squares row by row, under any spaceship of `ships` and with
    the plates of `plates` in them, which stand row by row too; `laid` are all cards, in the order in which they were laid,
    as are `walls`; `areas` are the squares that they enclose, each area row by row. `rating` is what a player alone has
    reached at the end.
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
