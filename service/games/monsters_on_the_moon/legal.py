"""Checks actions, and lists the legal ones."""

from collections.abc import Iterator, Mapping
from typing import Final

from service.games.monsters_on_the_moon.actions import (
    AnyAction,
    ChooseFirst,
    ChooseMission,
    EndTurn,
    GiveCard,
    PlaceCard,
)
from service.games.monsters_on_the_moon.components import Clause
from service.games.monsters_on_the_moon.effects import Step
from service.games.monsters_on_the_moon.grid import Cell
from service.games.monsters_on_the_moon.pieces import plates, spaceships
from service.games.monsters_on_the_moon.placement import check_placement, first_placement, placements
from service.games.monsters_on_the_moon.state import State, awaited_seats, selectable_missions
from service.games.monsters_on_the_moon.walls import MIN_WALLS, first_walls, next_walls
from service.games.protocol import Decision, IllegalAction
from service.games.visibility import Seat

_CLAUSES: Final[Mapping[Step, Clause]] = {
    "give_card": "MON-2",
    "place_card": "MON-10",
    "place_wall": "MON-61",
    "place_plate": "MON-22",
    "place_spaceship": "MON-23",
    "choose_first": "MON-31",
    "choose_mission": "MON-71",
}


def decisions(state: State) -> tuple[Decision[AnyAction], ...]:
    """The open decisions; empty at the end. A seat that does not answer in time takes its first legal action."""
    step = state.step
    if step is None:
        return ()
    if step == "place_card" and state.seats[state.active].hand:
        return (Decision(state.active, step, first_placement(state, state.seats[state.active].hand)),)
    return tuple([Decision(seat, step, next(legal_actions(state, seat))) for seat in awaited_seats(state)])


def legal_actions(state: State, seat: Seat) -> Iterator[AnyAction]:
    """All legal actions: cards in the order of the hand, by rotation and row by row; then spaceships; then walls."""
    if seat not in awaited_seats(state):
        return
    match state.step:
        case "give_card":
            yield from map(GiveCard, state.seats[seat].hand)
        case "place_card":
            yield from placements(state, state.seats[seat].hand)
            yield from spaceships(state)
            if not state.turn.ship:
                yield from first_walls(state, seat)
        case "place_wall":
            if state.turn.walls >= MIN_WALLS:
                yield EndTurn()
            yield from next_walls(state)
        case "place_plate":
            yield from plates(state)
        case "place_spaceship":
            yield EndTurn()
            yield from spaceships(state)
        case "choose_first":
            yield from map(ChooseFirst, range(len(state.seats)))
        case _:
            yield from map(ChooseMission, selectable_missions(state, seat))


def check_seat(state: State, seat: Seat) -> None:
    if state.step is None:
        raise IllegalAction("game-over", "MON-32")
    if seat not in awaited_seats(state):
        raise IllegalAction("not-your-turn", _CLAUSES[state.step])


def check_step(state: State, *steps: Step) -> None:
    if state.step is not None and state.step not in steps:
        raise IllegalAction("wrong-step", _CLAUSES[state.step])


def check_gift(state: State, seat: Seat, action: GiveCard) -> None:
    if action.card not in state.seats[seat].hand:
        raise IllegalAction("card-not-in-hand", "MON-2", card=action.card)


def check_card(state: State, seat: Seat, action: PlaceCard) -> tuple[Cell, ...]:
    """The cells of a card that may be laid."""
    if action.card not in state.seats[seat].hand:
        raise IllegalAction("card-not-in-hand", "MON-10", card=action.card)
    return check_placement(state, action)


def check_end(state: State) -> None:
    if 0 < state.turn.walls < MIN_WALLS:
        raise IllegalAction("three-walls-at-least", "MON-61", missing=MIN_WALLS - state.turn.walls)


def check_first(state: State, action: ChooseFirst) -> None:
    if action.seat not in range(len(state.seats)):
        raise IllegalAction("no-such-seat", "MON-31", seat=action.seat)


def check_mission(state: State, seat: Seat, action: ChooseMission) -> None:
    if action.mission not in selectable_missions(state, seat):
        raise IllegalAction("mission-not-yours", "MON-71", mission=action.mission)
