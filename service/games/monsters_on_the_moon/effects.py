"""The effects of the game.

Each effect contains everything that it changes, so a client can fold effects without the rules.
"""

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
    """The seat drew the top card of the draw pile (MON-3, MON-10, MON-80)."""

    seat: Public[Seat]
    card: Private[CardId]
    clause: Public[Clause]


class CardPlaced(Effect, frozen=True, tag="card_placed"):
    """The seat laid a card of its hand (MON-10).

    `squares` are the six squares of the card, row by row. `covered` are the squares that it covers.
    """

    seat: Public[Seat]
    card: Public[CardId]
    x: Public[int]
    y: Public[int]
    rotation: Public[Rotation]
    squares: Public[tuple[SquareAt, ...]]
    covered: Public[tuple[SquareAt, ...]]


class MarkerMoved(Effect, frozen=True, tag="marker_moved"):
    """The seat's marker moved for this number of crystals, at most to the last field (MON-20, MON-21, MON-23).

    `points` are the points of `to_field`, which count at the end.
    """

    seat: Public[Seat]
    crystals: Public[int]
    from_field: Public[int]
    to_field: Public[int]
    points: Public[int]
    clause: Public[Clause]


class PlateTaken(Effect, frozen=True, tag="plate_taken"):
    """The seat took its plate from a red-framed field, to put it on the card of this turn (MON-22)."""

    seat: Public[Seat]
    field: Public[int]


class PlatePlaced(Effect, frozen=True, tag="plate_placed"):
    """The seat put its plate on a square, which now shows one head of its monster (MON-22)."""

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]
    shows: Public[Monster]


class PlateLost(Effect, frozen=True, tag="plate_lost"):
    """The card shows no opposing monster, so the seat's plate is removed from the match (MON-22)."""

    seat: Public[Seat]


class SpaceshipPlaced(Effect, frozen=True, tag="spaceship_placed"):
    """The seat put one of its spaceships on a crystal. The square can never be covered (MON-23)."""

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]


class WallPlaced(Effect, frozen=True, tag="wall_placed"):
    """The seat laid a wall: with `h` above the square at x, y and to the right, with `v` left of it and down (MON-61,
    MON-62).
    """

    seat: Public[Seat]
    x: Public[int]
    y: Public[int]
    orientation: Public[Orientation]
    length: Public[Length]


class AreaEnclosed(Effect, frozen=True, tag="area_enclosed"):
    """The walls of this turn enclosed an area.

    `squares` are all its squares, row by row, with or without cards (MON-63).
    """

    squares: Public[tuple[Place, ...]]


class PointsScored(Effect, frozen=True, tag="points_scored", omit_defaults=True):
    """The seat scored `points`. `part` is the entry of the breakdown to which they are added (MON-30).

    `factor` is 2 for monsters in enclosed areas, whose points are doubled; it is omitted if it is 1 (MON-66).
    """

    seat: Public[Seat]
    points: Public[int]
    part: Public[Part]
    clause: Public[Clause]
    factor: Public[int] = 1


class DeciderNamed(Effect, frozen=True, tag="decider_named"):
    """After the interim scoring, this seat chooses at the end of the turn who goes first (MON-31).

    `by` is the criterion that decided: the fewest interim points, then the fewest crystal points, then a draw.
    """

    seat: Public[Seat]
    by: Public[Literal["points", "crystals", "draw"]]


class TurnOpened(Effect, frozen=True, tag="turn_opened"):
    """The seat's turn begins (MON-10)."""

    seat: Public[Seat]


class DecisionOpened(Effect, frozen=True, tag="decision_opened"):
    """The match waits for this seat and for no other. If `seat` is null, it waits for all seats at once."""

    seat: Public[Seat | None]
    step: Public[Step]


class FirstChosen(Effect, frozen=True, tag="first_chosen"):
    """The seat chose who goes first after the interim scoring (MON-31)."""

    seat: Public[Seat]
    first: Public[Seat]


class MissionChosen(Effect, frozen=True, tag="mission_chosen"):
    """The seat chose the mission that it scores (MON-71)."""

    seat: Public[Seat]
    mission: Private[MissionId]


class MissionRevealed(Effect, frozen=True, tag="mission_revealed"):
    """All seats have chosen.

    `mission` is the seat's choice, and `points` is what it scores at the end (MON-71, MON-72).
    """

    seat: Public[Seat]
    mission: Public[MissionId]
    points: Public[int]


class SoloRated(Effect, frozen=True, tag="solo_rated"):
    """The rating of a single player's points. `rank` 1 is the lowest, 5 the highest (MON-82)."""

    points: Public[int]
    rank: Public[int]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """No decision is left. The scores follow (MON-32, MON-80)."""


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
