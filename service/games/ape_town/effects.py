"""The effects of the game.

Each effect contains everything that it changes, so a client can fold effects without the rules.
"""

from typing import Final, Literal, TypeAlias, get_args

from service.games.ape_town.components import Clause, Colour, DistrictId, FieldId, Section, Segment, Tile
from service.games.visibility import Effect, Public, Seat, Secret

Step: TypeAlias = Literal["take_tile", "place_tile"]
Part: TypeAlias = Literal["placement", "boss", "neighbours"]


class TableSet(Effect, frozen=True, tag="table_set"):
    """The board is empty, and each seat has its money and discs. `turn_order` begins with the first seat (APE-2)."""

    turn_order: Public[tuple[Seat, ...]]
    money_each: Public[int]
    discs_each: Public[int]


class TilesShuffled(Effect, frozen=True, tag="tiles_shuffled"):
    """One tile lies face down at each segment from 0 on, and the other tiles are the supply (APE-1)."""

    at_segments: Public[int]
    in_supply: Public[int]
    tiles: Secret[tuple[Tile, ...]]


class SectionRevealed(Effect, frozen=True, tag="section_revealed"):
    """The tiles of a section were turned face up and added to the end of the display (APE-2, APE-17).

    `tiles` has the tile of each entry of `segments`.
    """

    section: Public[Section]
    segments: Public[tuple[Segment, ...]]
    tiles: Public[tuple[Tile, ...]]


class SectionRefilled(Effect, frozen=True, tag="section_refilled"):
    """The next tiles of the supply lie face down at these segments of an emptied section (APE-17)."""

    section: Public[Section]
    segments: Public[tuple[Segment, ...]]


class DecisionOpened(Effect, frozen=True, tag="decision_opened"):
    """The match waits for this seat and for no other. With `take_tile`, the seat's turn begins."""

    seat: Public[Seat]
    step: Public[Step]


class MoneyPaid(Effect, frozen=True, tag="money_paid"):
    """The seat put 1 money on each of these segments, whose tiles it skips (APE-10)."""

    seat: Public[Seat]
    segments: Public[tuple[Segment, ...]]


class TileTaken(Effect, frozen=True, tag="tile_taken"):
    """The seat took a tile from the display. It has to put the tile on a field of the segment's colour (APE-10)."""

    seat: Public[Seat]
    segment: Public[Segment]
    colour: Public[Colour]
    tile: Public[Tile]


class MoneyTaken(Effect, frozen=True, tag="money_taken"):
    """The seat took all the money on the segment (APE-11)."""

    seat: Public[Seat]
    segment: Public[Segment]
    count: Public[int]


class TilePlaced(Effect, frozen=True, tag="tile_placed"):
    """The seat put the tile that it had taken on a field (APE-12)."""

    seat: Public[Seat]
    field: Public[FieldId]
    tile: Public[Tile]


class DiscPlaced(Effect, frozen=True, tag="disc_placed"):
    """The seat put one of its discs on the tile of a field (APE-16)."""

    seat: Public[Seat]
    field: Public[FieldId]


class PointsScored(Effect, frozen=True, tag="points_scored"):
    """The seat scored `points`. `part` is the entry of the breakdown to which they are added."""

    seat: Public[Seat]
    points: Public[int]
    part: Public[Part]
    clause: Public[Clause]


class DistrictCompleted(Effect, frozen=True, tag="district_completed"):
    """The district has no free field left, and is scored (APE-20, APE-21)."""

    district: Public[DistrictId]
    lemurs: Public[int]


class BossFound(Effect, frozen=True, tag="boss_found"):
    """The seat is the boss of a completed district (APE-20).

    It has the most orangutans; or, if that is a tie or the district has no owned orangutan, the most lemurs. `points`
    is the sum of the values of the district's apes; a PointsScored adds them to the seat's score.
    """

    district: Public[DistrictId]
    seat: Public[Seat]
    by: Public[Literal["orangutan", "lemur"]]
    points: Public[int]


class BossMissing(Effect, frozen=True, tag="boss_missing"):
    """No seat has the most orangutans or the most lemurs, so the district has no boss (APE-20)."""

    district: Public[DistrictId]


class NeighbourInferior(Effect, frozen=True, tag="neighbour_inferior"):
    """A neighbour of a completed district has fewer lemurs than that district (APE-21).

    `worth` is the sum of the values of the neighbour's apes. `seats` are the seats with a lemur in the completed
    district. Each of them gets `share`, which is `worth` divided among them and rounded up; a PointsScored adds it to
    the seat's score.
    """

    district: Public[DistrictId]
    neighbour: Public[DistrictId]
    lemurs: Public[int]
    worth: Public[int]
    seats: Public[tuple[Seat, ...]]
    share: Public[int]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """The last free field was filled. The scores follow (APE-30)."""


AnyEffect: TypeAlias = (
    TableSet
    | TilesShuffled
    | SectionRevealed
    | SectionRefilled
    | DecisionOpened
    | MoneyPaid
    | TileTaken
    | MoneyTaken
    | TilePlaced
    | DiscPlaced
    | PointsScored
    | DistrictCompleted
    | BossFound
    | BossMissing
    | NeighbourInferior
    | MatchEnded
)

EFFECTS: Final[tuple[type[AnyEffect], ...]] = get_args(AnyEffect)
