"""The parts of a turn after a card or walls, the order of turns, and the end (MON-10, MON-31, MON-32, MON-65, MON-80)."""

from service.games.monsters_on_the_moon import interim, solo
from service.games.monsters_on_the_moon.apply import Pending
from service.games.monsters_on_the_moon.components import left_of
from service.games.monsters_on_the_moon.effects import (
    AreaEnclosed,
    CardDrawn,
    DecisionOpened,
    MatchEnded,
    PlateLost,
    TurnOpened,
)
from service.games.monsters_on_the_moon.grid import coordinates_of
from service.games.monsters_on_the_moon.pieces import landing_cells, plate_cells
from service.games.monsters_on_the_moon.squares import Place
from service.games.monsters_on_the_moon.state import State
from service.games.monsters_on_the_moon.walls import first_walls, new_areas
from service.games.protocol import Rng
from service.games.visibility import Seat


def begin(pending: Pending, seat: Seat) -> None:
    """Open the turn of this seat, or of the next one to the left that can act. If none can, the match ends (MON-65)."""
    seats = len(pending.state.seats)
    order = (*range(seat, seats), *range(seat))
    acting = next((each for each in order if _can_act(pending.state, each)), None)
    if acting is None:
        _finish(pending)
    else:
        pending.emit(TurnOpened(acting), DecisionOpened(acting, "place_card"))


def _can_act(state: State, seat: Seat) -> bool:
    """Whether the seat has a card, which always fits above the display, or can lay walls."""
    return bool(state.seats[seat].hand) or next(first_walls(state, seat), None) is not None


def continue_turn(pending: Pending, rng: Rng) -> None:
    """Continue the turn after a card was laid: plates, the draw and the interim scoring, a spaceship, the end of the
    turn.
    """
    seat = pending.state.active
    if pending.state.turn.plates:
        if plate_cells(pending.state):
            pending.emit(DecisionOpened(seat, "place_plate"))
            return
        pending.emit(*[PlateLost(seat) for _ in range(pending.state.turn.plates)])
    if not pending.state.turn.drew:
        _draw(pending, rng)
    if landing_cells(pending.state):
        pending.emit(DecisionOpened(seat, "place_spaceship"))
        return
    end(pending)


def end_walls(pending: Pending, rng: Rng) -> None:
    """End a turn with walls: find new areas, then draw (MON-10, MON-63)."""
    areas = new_areas(pending.state)
    pending.emit(*[AreaEnclosed(tuple([Place(*coordinates_of(cell)) for cell in area])) for area in areas])
    _draw(pending, rng)
    end(pending)


def _draw(pending: Pending, rng: Rng) -> None:
    if not pending.state.pile:
        return
    alone = len(pending.state.seats) == 1
    pending.emit(CardDrawn(pending.state.active, pending.state.pile[0], "MON-80" if alone else "MON-10"))
    if not pending.state.pile and not alone:
        interim.score(pending, rng)


def end(pending: Pending) -> None:
    """End the turn. After the interim scoring, one seat first chooses who goes next (MON-31)."""
    state = pending.state
    if state.decider is not None:
        pending.emit(DecisionOpened(state.decider, "choose_first"))
    else:
        begin(pending, left_of(state.active, len(state.seats)))


def _finish(pending: Pending) -> None:
    state = pending.state
    if state.options.missions is not None:
        pending.emit(DecisionOpened(None, "choose_mission"))
        return
    if len(state.seats) == 1:
        pending.emit(solo.rate(state.display))
    pending.emit(MatchEnded())
