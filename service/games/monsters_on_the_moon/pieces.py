"""The squares where a spaceship or a monster plate may go (MON-22, MON-23)."""

from collections.abc import Iterator

from service.games.monsters_on_the_moon.actions import PlacePlate, PlaceSpaceship
from service.games.monsters_on_the_moon.components import MONSTERS
from service.games.monsters_on_the_moon.grid import Cell, coordinates_of, footprint
from service.games.monsters_on_the_moon.state import State
from service.games.protocol import IllegalAction


def landing_cells(state: State) -> list[Cell]:
    """The visible crystals on which the active seat may now put a spaceship, ascending (MON-23).

    Before the card, a spaceship requires a card in hand, which has to be laid in the same turn (MON-61).
    """
    held = state.seats[state.active]
    if state.turn.ship or not held.ships or not (held.hand or state.turn.card):
        return []
    display, ships = state.display, state.ships
    return sorted([cell for cell, square in display.items() if square.shows == "crystal" and cell not in ships])


def spaceships(state: State) -> Iterator[PlaceSpaceship]:
    for cell in landing_cells(state):
        yield PlaceSpaceship(*coordinates_of(cell))


def check_spaceship(state: State, action: PlaceSpaceship) -> None:
    if state.turn.ship:
        raise IllegalAction("one-spaceship-a-turn", "MON-23")
    if not state.seats[state.active].ships:
        raise IllegalAction("no-spaceship-left", "MON-23")
    if not (state.seats[state.active].hand or state.turn.card):
        raise IllegalAction("no-card-to-lay", "MON-61")
    if PlaceSpaceship(action.x, action.y) not in spaceships(state):
        raise IllegalAction("no-free-crystal", "MON-23", x=action.x, y=action.y)


def plate_cells(state: State) -> list[Cell]:
    """The opposing monsters of the card laid in this turn, ascending (MON-22)."""
    own = state.seats[state.active].monster
    last = state.laid[-1]
    cells = footprint(last.x, last.y, last.rotation)
    return [cell for cell in cells if state.display[cell].shows in MONSTERS and state.display[cell].shows != own]


def plates(state: State) -> Iterator[PlacePlate]:
    for cell in plate_cells(state):
        yield PlacePlate(*coordinates_of(cell))


def check_plate(state: State, action: PlacePlate) -> None:
    if action not in plates(state):
        raise IllegalAction("no-opposing-monster", "MON-22", x=action.x, y=action.y)
