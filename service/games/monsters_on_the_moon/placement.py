"""The positions where a card may lie (MON-11 to MON-14, MON-62, MON-63). They do not depend on what the card shows."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.games.monsters_on_the_moon.actions import PlaceCard
from service.games.monsters_on_the_moon.components import CardId
from service.games.monsters_on_the_moon.edges import inner_edges
from service.games.monsters_on_the_moon.grid import (
    COORDINATE_LIMIT,
    ROTATIONS,
    Cell,
    cell_at,
    coordinates_of,
    footprint,
    is_portrait,
    shape,
    with_neighbours,
)
from service.games.monsters_on_the_moon.state import State, walled_edges
from service.games.protocol import IllegalAction

MAX_COVERED: Final = 2
"""Maximum number of visible squares that a card may lose to one laid card (MON-12)."""
_NEVER_COVERED: Final = ("armstrong", "base_camp")
_START_CARDS: Final = ("M1", "M2", "ARM")

_SHAPES: Final = (shape(portrait=False), shape(portrait=True))
_CORNERS: Final = tuple(
    [
        tuple([tuple(sorted({cell - step for cell in with_neighbours(laid) for step in new})) for new in _SHAPES])
        for laid in _SHAPES
    ]
)
"""By the shape of a card on the table and of a new one: the steps between their corners at which they touch or overlap
(MON-11).
"""


_INNER: Final = tuple([tuple(sorted(inner_edges(steps))) for steps in _SHAPES])
"""By shape: the edges between the squares of a card, relative to its corner."""


def check_placement(state: State, action: PlaceCard) -> tuple[Cell, ...]:
    """The cells of a legal placement, row by row.

    Raises:
      IllegalAction: the card may not lie there.
    """
    cells = footprint(action.x, action.y, action.rotation)
    display = state.display
    if max(abs(action.x), abs(action.y)) > COORDINATE_LIMIT or display.keys().isdisjoint(with_neighbours(cells)):
        raise IllegalAction("touches-nothing", "MON-11", x=action.x, y=action.y)
    for cell in sorted(never_covered(state).intersection(cells)):
        x, y = coordinates_of(cell)
        raise IllegalAction("never-covered", "MON-13", x=x, y=y)
    if not walled_edges(state).isdisjoint(inner_edges(cells)):
        raise IllegalAction("covers-a-wall", "MON-62", x=action.x, y=action.y)
    for cell in sorted(closed_cells(state).intersection(cells)):
        x, y = coordinates_of(cell)
        raise IllegalAction("closed-area", "MON-63", x=x, y=y)
    card = overcovered([display[cell].card for cell in cells if cell in display])
    if card is not None:
        clause = "MON-14" if card in _START_CARDS else "MON-12"
        raise IllegalAction("covers-too-much", clause, card=card, most=MAX_COVERED)
    return cells


def placements(state: State, hand: Sequence[CardId]) -> Iterator[PlaceCard]:
    """All legal placements: cards in the order of the hand, then rotations, then positions row by row."""
    coordinates: dict[bool, list[tuple[int, int]]] = {}
    for card in hand:
        for rotation in ROTATIONS:
            portrait = is_portrait(rotation)
            if portrait not in coordinates:
                coordinates[portrait] = [coordinates_of(corner) for corner in corners(state, portrait=portrait)]
            yield from [PlaceCard(card, x, y, rotation) for x, y in coordinates[portrait]]


def first_placement(state: State, hand: Sequence[CardId]) -> PlaceCard:
    """The first legal placement. Every event of a match needs it, so it is found without listing the others.

    The card lies above the display and touches the left end of its top row. No card, wall or area reaches there.
    """
    y, x = min([(laid.y, laid.x) for laid in state.laid])
    return PlaceCard(hand[0], x - 2, y - 2, ROTATIONS[0])


def corners(state: State, *, portrait: bool) -> Iterator[Cell]:
    """The cells where the top left square of a card of this shape may legally be, ascending."""
    near: set[Cell] = set()
    for laid in state.laid:
        corner = cell_at(laid.x, laid.y)
        near.update([corner + step for step in _CORNERS[is_portrait(laid.rotation)][portrait]])
    if state.walls:
        # without the corners at which a wall would lie on an inner edge of the card
        near -= {
            (edge - inner) // 2 for edge in walled_edges(state) for inner in _INNER[portrait] if not (edge - inner) % 2
        }
    barred = never_covered(state) | closed_cells(state)
    owners = {cell: square.card for cell, square in state.display.items()}
    steps = _SHAPES[portrait]
    for corner in sorted(near):
        cells = [corner + step for step in steps]
        if barred.isdisjoint(cells) and overcovered([owners[cell] for cell in cells if cell in owners]) is None:
            yield corner


def never_covered(state: State) -> set[Cell]:
    """The cells that no card may cover (MON-13)."""
    return {cell for cell, square in state.display.items() if square.shows in _NEVER_COVERED}.union(state.ships)


def closed_cells(state: State) -> set[Cell]:
    """The cells of enclosed areas in which no monster of the active seat is visible (MON-63)."""
    own, display = state.seats[state.active].monster, state.display
    closed: set[Cell] = set()
    for area in state.areas:
        if not any(cell in display and display[cell].shows == own for cell in area):
            closed.update(area)
    return closed


def overcovered(cards: Sequence[CardId]) -> CardId | None:
    """A card that would lose too many visible squares.

    `cards` names a card once for each square that it would lose (MON-12, MON-14).
    """
    if len(cards) > MAX_COVERED:
        for card in cards:
            if cards.count(card) > MAX_COVERED:
                return card
    return None
