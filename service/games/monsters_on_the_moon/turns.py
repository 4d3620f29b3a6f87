"""The parts of a turn after a card or walls, whose turn comes next, and the end (MON-10, MON-31, MON-32, MON-65, MON-80)."""

from service.games.monsters_on_the_moon import interim, solo
from service.games.monsters_on_the_moon.apply import Told
from service.games.monsters_on_the_moon.components import left_of
from service.games.monsters_on_the_moon.effects import (
    AreaEnclosed,
    CardDrawn,
    DecisionOpened,
    MatchEnded,
    PlateLost,
    TurnOpened,
)
from service.games.monsters_on_the_moon.grid import place_of
from service.games.monsters_on_the_moon.pieces import landing_cells, plate_cells
from service.games.monsters_on_the_moon.squares import Place
from service.games.monsters_on_the_moon.state import State
from service.games.monsters_on_the_moon.walls import first_walls, new_areas
from service.games.protocol import Rng
from service.games.visibility import Seat


def begin(told: Told, seat: Seat) -> None:
    """Open the turn of a seat, or of the next one to the left that can act; with none the match is over (MON-65)."""
    seats = len(told.state.seats)
    order = (*range(seat, seats), *range(seat))
    acting = next((each for each in order if _can_act(told.state, each)), None)
    if acting is None:
        _finish(told)
    else:
        told.tell(TurnOpened(acting), DecisionOpened(acting, "place_card"))


def _can_act(state: State, seat: Seat) -> bool:
    """Whether the seat has a card, for which there is always room above the display, or can lay walls."""
    return bool(state.seats[seat].hand) or next(first_walls(state, seat), None) is not None


def go_on(told: Told, rng: Rng) -> None:
    """Open what comes next once a card is laid: plates, the draw and what it brings, a spaceship, the end of the turn."""
    seat = told.state.active
    if told.state.turn.plates:
        if plate_cells(told.state):
            told.tell(DecisionOpened(seat, "place_plate"))
            return
        told.tell(*[PlateLost(seat) for _ in range(told.state.turn.plates)])
    if not told.state.turn.drew:
        _draw(told, rng)
    if landing_cells(told.state):
        told.tell(DecisionOpened(seat, "place_spaceship"))
        return
    end(told)


def end_walls(told: Told, rng: Rng) -> None:
    """End a turn in which walls were laid: judge areas, then draw (MON-10, MON-63)."""
    areas = new_areas(told.state)
    told.tell(*[AreaEnclosed(tuple([Place(*place_of(cell)) for cell in area])) for area in areas])
    _draw(told, rng)
    end(told)


def _draw(told: Told, rng: Rng) -> None:
    if not told.state.pile:
        return
    alone = len(told.state.seats) == 1
    told.tell(CardDrawn(told.state.active, told.state.pile[0], "MON-80" if alone else "MON-10"))
    if not told.state.pile and not alone:
        interim.score(told, rng)


def end(told: Told) -> None:
    """End the turn: who goes first from here is asked once, after the interim scoring (MON-31)."""
    state = told.state
    if state.decider is not None:
        told.tell(DecisionOpened(state.decider, "choose_first"))
    else:
        begin(told, left_of(state.active, len(state.seats)))


def _finish(told: Told) -> None:
    state = told.state
    if state.options.missions is not None:
        told.tell(DecisionOpened(None, "choose_mission"))
        return
    if len(state.seats) == 1:
        told.tell(solo.rate(state.display))
    told.tell(MatchEnded())
