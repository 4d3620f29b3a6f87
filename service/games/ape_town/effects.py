"""What can happen. Each effect changes the table by itself, so that whoever adds them up needs no rules."""

from typing import Final, Literal, TypeAlias, get_args

from service.games.ape_town.components import Clause, Colour, DistrictId, FieldId, Section, Segment, Tile
from service.games.visibility import Effect, Public, Seat, Secret

Step: TypeAlias = Literal["take_tile", "place_tile"]
Part: TypeAlias = Literal["placement", "boss", "neighbours"]


class TableSet(Effect, frozen=True, tag="table_set"):
    """The board is empty, and each seat has its money and discs; `turn_order` begins with the first seat (APE-2)."""

    turn_order: Public[tuple[Seat, ...]]
    money_each: Public[int]
    discs_each: Public[int]


class TilesShuffled(Effect, frozen=True, tag="tiles_shuffled"):
    """One tile lies face down at each segment from 0 on, and the rest are the supply (APE-1)."""

    at_segments: Public[int]
    in_supply: Public[int]
    tiles: Secret[tuple[Tile, ...]]


class SectionRevealed(Effect, frozen=True, tag="section_revealed"):
    """The tiles of a section were turned up, and lie last in the display (APE-2, APE-17).

    `segments` and `tiles` go together.
    """

    section: Public[Section]
    segments: Public[tuple[Segment, ...]]
    tiles: Public[tuple[Tile, ...]]


class SectionRefilled(Effect, frozen=True, tag="section_refilled"):
    """The next tiles of the supply lie face down at these segments of an emptied section (APE-17)."""

    section: Public[Section]
    segments: Public[tuple[Segment, ...]]


class DecisionOpened(Effect, frozen=True, tag="decision_opened"):
    """The match waits for this seat, and for nobody else; with `take_tile` its turn begins."""

    seat: Public[Seat]
    step: Public[Step]


class MoneyPaid(Effect, frozen=True, tag="money_paid"):
    """The seat put 1 money on each of these segments, whose tiles it skips (APE-10)."""

    seat: Public[Seat]
    segments: Public[tuple[Segment, ...]]


class TileTaken(Effect, frozen=True, tag="tile_taken"):
    """A tile left the display for the seat, which has to put it on a field of the segment's colour (APE-10)."""

    seat: Public[Seat]
    segment: Public[Segment]
    colour: Public[Colour]
    tile: Public[Tile]


class MoneyTaken(Effect, frozen=True, tag="money_taken"):
    """All the money of the segment went to the seat (APE-11)."""

    seat: Public[Seat]
    segment: Public[Segment]
    count: Public[int]


class TilePlaced(Effect, frozen=True, tag="tile_placed"):
    """The tile that the seat had taken lies on a field (APE-12)."""

    seat: Public[Seat]
    field: Public[FieldId]
    tile: Public[Tile]


class DiscPlaced(Effect, frozen=True, tag="disc_placed"):
    """One of the seat's discs lies on the tile of a field (APE-16)."""

    seat: Public[Seat]
    field: Public[FieldId]


class PointsScored(Effect, frozen=True, tag="points_scored"):
    """The seat has so many points more; `part` is what of the breakdown they count for."""

    seat: Public[Seat]
    points: Public[int]
    part: Public[Part]
    clause: Public[Clause]


class DistrictCompleted(Effect, frozen=True, tag="district_completed"):
    """A district has no free field left, and is scored (APE-20, APE-21)."""

    district: Public[DistrictId]
    lemurs: Public[int]


class BossFound(Effect, frozen=True, tag="boss_found"):
    """The seat is the boss of a completed district, by most orangutans or, tied or without any, by most lemurs (APE-20).

    `points` are the values of the district's apes; PointsScored adds them up.
    """

    district: Public[DistrictId]
    seat: Public[Seat]
    by: Public[Literal["orangutan", "lemur"]]
    points: Public[int]


class BossMissing(Effect, frozen=True, tag="boss_missing"):
    """Nobody has most orangutans, nor most lemurs, so that the district has no boss (APE-20)."""

    district: Public[DistrictId]


class NeighbourInferior(Effect, frozen=True, tag="neighbour_inferior"):
    """A neighbour of a completed district has fewer lemurs than it (APE-21).

    `worth` are the values of the neighbour's apes; each of `seats`, those with a lemur in the completed district, gets
    its share, rounded up, which PointsScored adds up.
    """

    district: Public[DistrictId]
    neighbour: Public[DistrictId]
    lemurs: Public[int]
    worth: Public[int]
    seats: Public[tuple[Seat, ...]]
    share: Public[int]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """The last free field is filled; the scores follow (APE-30)."""


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
