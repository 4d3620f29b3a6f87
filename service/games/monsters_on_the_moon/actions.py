"""The actions of a seat."""

from typing import Annotated, Final, TypeAlias, get_args

import msgspec

from service.games.kit.box import Id
from service.games.monsters_on_the_moon.components import BOX, SEATS
from service.games.monsters_on_the_moon.edges import Length, Orientation
from service.games.monsters_on_the_moon.grid import COORDINATE_LIMIT, Rotation
from service.games.visibility import Action, Private, Public

Coordinate: TypeAlias = Annotated[int, msgspec.Meta(ge=-COORDINATE_LIMIT, le=COORDINATE_LIMIT)]
SeatNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=max(SEATS) - 1)]
MissionNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=min(BOX.missions), le=max(BOX.missions))]


class GiveCard(Action, frozen=True, tag="give_card"):
    """Give one of the two first cards to the seat on the right. All seats choose at once (MON-2)."""

    card: Private[Id]


class PlaceCard(Action, frozen=True, tag="place_card"):
    """Lay a card of the hand with its top left square at x, y. `rotation` is clockwise (MON-10 to MON-14)."""

    card: Public[Id]
    x: Public[Coordinate]
    y: Public[Coordinate]
    rotation: Public[Rotation]


class PlaceWall(Action, frozen=True, tag="place_wall"):
    """Lay a moon wall: with `h` above the square at x, y and to the right, with `v` left of it and down (MON-61,
    MON-62).
    """

    x: Public[Coordinate]
    y: Public[Coordinate]
    orientation: Public[Orientation]
    length: Public[Length]


class PlaceSpaceship(Action, frozen=True, tag="place_spaceship"):
    """Put a spaceship on a visible crystal, before or after laying the card (MON-23)."""

    x: Public[Coordinate]
    y: Public[Coordinate]


class PlacePlate(Action, frozen=True, tag="place_plate"):
    """Put the monster plate on an opposing monster of the card laid in this turn (MON-22)."""

    x: Public[Coordinate]
    y: Public[Coordinate]


class EndTurn(Action, frozen=True, tag="end_turn"):
    """End the turn without a spaceship, or without further walls (MON-23, MON-61)."""


class ChooseFirst(Action, frozen=True, tag="choose_first"):
    """Choose the seat that goes first after the interim scoring (MON-31)."""

    seat: Public[SeatNumber]


class ChooseMission(Action, frozen=True, tag="choose_mission"):
    """Choose the mission that is scored. All seats choose at once (MON-71)."""

    mission: Private[MissionNumber]


AnyAction: TypeAlias = (
    GiveCard | PlaceCard | PlaceWall | PlaceSpaceship | PlacePlate | EndTurn | ChooseFirst | ChooseMission
)

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
