"""What can happen. Each effect changes the table by itself, so that whoever adds them up needs no rules."""

from typing import Final, Literal, TypeAlias, get_args

from service.games.monsters_on_the_moon.components import CardId, Clause, MissionId, Monster
from service.games.monsters_on_the_moon.edges import Length, Orientation
from service.games.monsters_on_the_moon.grid import Rotation
from service.games.monsters_on_the_moon.squares import Place, SquareAt
from service.games.monsters_on_the_moon.start_effects import (
    CardGiven,
    GiftChosen,
    MissionsDealt,
    MissionsOpened,
    PileShuffled,
    StartCardPlaced,
    StartCardsTaken,
    TableSet,
    WallsTaken,
)
from service.games.visibility import Effect, Private, Public, Seat

Step: TypeAlias = Literal[
    "give_card", "place_card", "place_wall", "place_plate", "place_spaceship", "choose_first", "choose_mission"
]
Part: TypeAlias = Literal["interim_singles", "interim_groups"]


class CardDrawn(Effect, frozen=True, tag="card_drawn"):
    """The top card of the draw pile is in the seat's hand (MON-3, MON-10, MON-80)."""

    seat: Public[Seat]
    card: Private[CardId]
    clause: Public[Clause]


class CardPlaced(Effect, frozen=True, tag="card_placed"):
    """A card of the seat's hand lies there (MON-10).

    `squares` are the six that it shows, row by row; `covered` are those that it hides from now on.
    """

    seat: Public[Seat]
    card: Public[CardId]
    x: Public[int]
    y: Public[int]
    rotation: Public[Rotation]
    squares: Public[tuple[SquareAt, ...]]
    covered: Public[tuple[SquareAt, ...]]


class MarkerMoved(Effect, frozen=True, tag="marker_moved"):
    """For so many crystals the seat's marker went on, to the last field at most (MON-20, MON-21, MON-23).

    `points` are those of `to_field`, which count at the end.
    """

    seat: Public[Seat]
    crystals: Public[int]
    from_field: Public[int]
    to_field: Public[int]
    points: Public[int]
    clause: Public[Clause]


class PlateTaken(Effect, frozen=True, tag="plate_taken"):
    """The seat took its monster's plate from a red-framed field, to put it on the card of this turn (MON-22)."""

    seat: Public[Seat]
    field: Public[int]


class PlatePlaced(Effect, frozen=True, tag="plate_placed"):
    """The seat's plate lies on a square, which shows one head of its monster from now on (MON-22)."""

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]
    shows: Public[Monster]


class PlateLost(Effect, frozen=True, tag="plate_lost"):
    """The card shows no opposing monster for the seat's plate, which is out of the match (MON-22)."""

    seat: Public[Seat]


class SpaceshipPlaced(Effect, frozen=True, tag="spaceship_placed"):
    """One of the seat's spaceships stands on a crystal, which can never be covered (MON-23)."""

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]


class WallPlaced(Effect, frozen=True, tag="wall_placed"):
    """A wall of the seat lies above the square at x, y and to the right, or left of it and down (MON-61, MON-62)."""

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]
    orientation: Public[Orientation]
    length: Public[Length]


class AreaEnclosed(Effect, frozen=True, tag="area_enclosed"):
    """The walls of this turn have enclosed an area: these squares, row by row, whether cards lie there or not (MON-63)."""

    squares: Public[tuple[Place, ...]]


class PointsScored(Effect, frozen=True, tag="points_scored", omit_defaults=True):
    """The seat has so many points more; `part` is what of the breakdown they count for (MON-30).

    With `factor` 2, left out where it is 1, the monsters are in enclosed areas and the points doubled (MON-66).
    """

    seat: Public[Seat]
    points: Public[int]
    part: Public[Part]
    clause: Public[Clause]
    factor: Public[int] = 1


class DeciderNamed(Effect, frozen=True, tag="decider_named"):
    """After the interim scoring, this seat says at the end of the turn who goes first from there (MON-31).

    `by` tells what decided: fewest interim points, then fewest crystal points, then a draw.
    """

    seat: Public[Seat]
    by: Public[Literal["points", "crystals", "draw"]]


class TurnOpened(Effect, frozen=True, tag="turn_opened"):
    """The seat's turn begins (MON-10)."""

    seat: Public[Seat]


class DecisionOpened(Effect, frozen=True, tag="decision_opened"):
    """The match waits for this seat and for nobody else, or, where `seat` is null, for all seats at once."""

    seat: Public[Seat | None]
    step: Public[Step]


class FirstChosen(Effect, frozen=True, tag="first_chosen"):
    """The seat said who goes first after the interim scoring (MON-31)."""

    seat: Public[Seat]
    first: Public[Seat]


class MissionChosen(Effect, frozen=True, tag="mission_chosen"):
    """The seat has chosen the mission that it scores (MON-71)."""

    seat: Public[Seat]
    mission: Private[MissionId]


class MissionRevealed(Effect, frozen=True, tag="mission_revealed"):
    """All seats have chosen; this was the seat's mission, and what it scores at the end (MON-71, MON-72)."""

    seat: Public[Seat]
    mission: Public[MissionId]
    points: Public[int]


class SoloRated(Effect, frozen=True, tag="solo_rated"):
    """What the points of a player alone are called: `rank` 1 is the least, 5 the most (MON-82)."""

    points: Public[int]
    rank: Public[int]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """Nothing is left to decide; the scores follow (MON-32, MON-80)."""


AnyEffect: TypeAlias = (
    TableSet
    | WallsTaken
    | PileShuffled
    | StartCardsTaken
    | MissionsDealt
    | MissionsOpened
    | GiftChosen
    | CardGiven
    | CardDrawn
    | StartCardPlaced
    | CardPlaced
    | MarkerMoved
    | PlateTaken
    | PlatePlaced
    | PlateLost
    | SpaceshipPlaced
    | WallPlaced
    | AreaEnclosed
    | PointsScored
    | DeciderNamed
    | TurnOpened
    | DecisionOpened
    | FirstChosen
    | MissionChosen
    | MissionRevealed
    | SoloRated
    | MatchEnded
)

EFFECTS: Final[tuple[type[AnyEffect], ...]] = get_args(AnyEffect)
