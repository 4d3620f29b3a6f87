"""Turns an action into effects, or refuses it. After `setup`, only a tied interim scoring may make a draw."""

from service.games.kit.pending import PendingEffects
from service.games.monsters_on_the_moon import gifts, laying, turns
from service.games.monsters_on_the_moon.actions import (
    AnyAction,
    ChooseFirst,
    ChooseMission,
    EndTurn,
    GiveCard,
    PlaceCard,
    PlacePlate,
    PlaceSpaceship,
    PlaceWall,
)
from service.games.monsters_on_the_moon.apply import Pending, apply
from service.games.monsters_on_the_moon.components import MissionId
from service.games.monsters_on_the_moon.crystals import move_marker
from service.games.monsters_on_the_moon.effects import (
    AnyEffect,
    DecisionOpened,
    FirstChosen,
    MatchEnded,
    MissionChosen,
    MissionRevealed,
    PlatePlaced,
    SpaceshipPlaced,
    WallPlaced,
)
from service.games.monsters_on_the_moon.legal import (
    check_card,
    check_end,
    check_first,
    check_gift,
    check_mission,
    check_seat,
    check_step,
)
from service.games.monsters_on_the_moon.missions import points
from service.games.monsters_on_the_moon.pieces import check_plate, check_spaceship
from service.games.monsters_on_the_moon.state import State, awaited_seats, walled_edges
from service.games.monsters_on_the_moon.walls import MAX_WALLS, check_wall
from service.games.protocol import IllegalAction, Move, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects of a move, up to the next decision.

    Raises:
      IllegalAction: the rules refuse the action.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    pending: Pending = PendingEffects(apply, state)
    match action:
        case GiveCard():
            check_step(state, "give_card")
            check_gift(state, seat, action)
            gifts.give(pending, seat, action.card)
        case PlaceCard():
            check_step(state, "place_card")
            laying.lay(pending, seat, action, check_card(state, seat, action))
            turns.continue_turn(pending, rng)
        case PlaceWall():
            check_step(state, "place_card", "place_wall")
            check_wall(state, action)
            _build(pending, seat, action, rng)
        case PlaceSpaceship():
            check_step(state, "place_card", "place_spaceship")
            check_spaceship(state, action)
            _land(pending, seat, action, rng)
        case PlacePlate():
            check_step(state, "place_plate")
            check_plate(state, action)
            pending.emit(PlatePlaced(seat, action.x, action.y, state.seats[seat].monster))
            turns.continue_turn(pending, rng)
        case EndTurn():
            check_step(state, "place_spaceship", "place_wall")
            check_end(state)
            if state.turn.walls:
                turns.end_walls(pending, rng)
            else:
                turns.end(pending)
        case ChooseFirst():
            check_step(state, "choose_first")
            check_first(state, action)
            pending.emit(FirstChosen(seat, action.seat))
            turns.begin(pending, action.seat)
        case ChooseMission():
            check_step(state, "choose_mission")
            check_mission(state, seat, action)
            _choose_mission(pending, seat, action.mission)
        case _:
            raise IllegalAction("no-bell", "MON-10")
    return tuple(pending.effects)


def _build(pending: Pending, seat: Seat, action: PlaceWall, rng: Rng) -> None:
    """Lay a wall. The turn ends by itself after the last wall that it allows (MON-61)."""
    pending.emit(WallPlaced(seat, action.x, action.y, action.orientation, action.length))
    if pending.state.turn.walls == MAX_WALLS:
        turns.end_walls(pending, rng)
    else:
        pending.emit(DecisionOpened(seat, "place_wall"))


def _land(pending: Pending, seat: Seat, action: PlaceSpaceship, rng: Rng) -> None:
    """Place a spaceship.

    Before the card, the turn continues with the card; after it, with the rest of the turn (MON-23).
    """
    pending.emit(SpaceshipPlaced(seat, action.x, action.y))
    move_marker(pending, seat, 1, "MON-23")
    if pending.state.turn.card is None:
        pending.emit(DecisionOpened(seat, "place_card"))
    else:
        turns.continue_turn(pending, rng)


def _choose_mission(pending: Pending, seat: Seat, mission: MissionId) -> None:
    """Choose a mission in secret. Once all seats have chosen, reveal the missions and end the match (MON-71)."""
    pending.emit(MissionChosen(seat, mission))
    if awaited_seats(pending.state):
        return
    display, seats = pending.state.display, pending.state.seats
    monsters = [held.monster for held in seats]
    walled = walled_edges(pending.state)
    pending.emit(
        *[
            MissionRevealed(holder, held.mission, points(display, monsters, holder, held.mission, walled))
            for holder, held in enumerate(seats)
            if held.mission is not None
        ],
        MatchEnded(),
    )
