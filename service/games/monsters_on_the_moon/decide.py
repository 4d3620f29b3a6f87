"""The judge: an action becomes effects, or is refused. Who decides after a tied interim scoring may be drawn."""

from service.games.kit.telling import Telling
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
from service.games.monsters_on_the_moon.apply import Told, apply
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
from service.games.monsters_on_the_moon.state import State, asked, walled_edges
from service.games.monsters_on_the_moon.walls import MOST, check_wall
from service.games.protocol import IllegalAction, Move, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], rng: Rng) -> tuple[AnyEffect, ...]:
    """What follows from a move, up to the next decision.

    Raises:
        IllegalAction: the rules refuse it.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    told: Told = Telling(apply, state)
    match action:
        case GiveCard():
            check_step(state, "give_card")
            check_gift(state, seat, action)
            gifts.give(told, seat, action.card)
        case PlaceCard():
            check_step(state, "place_card")
            laying.lay(told, seat, action, check_card(state, seat, action))
            turns.go_on(told, rng)
        case PlaceWall():
            check_step(state, "place_card", "place_wall")
            check_wall(state, action)
            _build(told, seat, action, rng)
        case PlaceSpaceship():
            check_step(state, "place_card", "place_spaceship")
            check_spaceship(state, action)
            _land(told, seat, action, rng)
        case PlacePlate():
            check_step(state, "place_plate")
            check_plate(state, action)
            told.tell(PlatePlaced(seat, action.x, action.y, state.seats[seat].monster))
            turns.go_on(told, rng)
        case EndTurn():
            check_step(state, "place_spaceship", "place_wall")
            check_end(state)
            if state.turn.walls:
                turns.end_walls(told, rng)
            else:
                turns.end(told)
        case ChooseFirst():
            check_step(state, "choose_first")
            check_first(state, action)
            told.tell(FirstChosen(seat, action.seat))
            turns.begin(told, action.seat)
        case ChooseMission():
            check_step(state, "choose_mission")
            check_mission(state, seat, action)
            _choose_mission(told, seat, action.mission)
        case _:
            raise IllegalAction("no-bell", "MON-10")
    return tuple(told.effects)


def _build(told: Told, seat: Seat, action: PlaceWall, rng: Rng) -> None:
    """After the last wall that a turn allows it ends by itself (MON-61)."""
    told.tell(WallPlaced(seat, action.x, action.y, action.orientation, action.length))
    if told.state.turn.walls == MOST:
        turns.end_walls(told, rng)
    else:
        told.tell(DecisionOpened(seat, "place_wall"))


def _land(told: Told, seat: Seat, action: PlaceSpaceship, rng: Rng) -> None:
    """Before the card, the turn goes on with the card; after it, with what is left of the turn (MON-23)."""
    told.tell(SpaceshipPlaced(seat, action.x, action.y))
    move_marker(told, seat, 1, "MON-23")
    if told.state.turn.card is None:
        told.tell(DecisionOpened(seat, "place_card"))
    else:
        turns.go_on(told, rng)


def _choose_mission(told: Told, seat: Seat, mission: MissionId) -> None:
    """Choose unseen; once all seats have, their missions are shown, and the match is over (MON-71)."""
    told.tell(MissionChosen(seat, mission))
    if asked(told.state):
        return
    display, seats = told.state.display, told.state.seats
    monsters = [held.monster for held in seats]
    walled = walled_edges(told.state)
    told.tell(
        *[
            MissionRevealed(holder, held.mission, points(display, monsters, holder, held.mission, walled))
            for holder, held in enumerate(seats)
            if held.mission is not None
        ],
        MatchEnded(),
    )
