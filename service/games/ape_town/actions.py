"""The actions of a seat."""

from typing import Annotated, Final, TypeAlias, get_args

import msgspec

from service.games.ape_town.components import SECTIONS, SEGMENTS_PER_SECTION
from service.games.kit.box import Id
from service.games.visibility import Action, Public

SegmentNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=SECTIONS * SEGMENTS_PER_SECTION - 1)]


class TakeTile(Action, frozen=True, tag="take_tile"):
    """Take the face-up tile at a segment, and pay for the tiles skipped (APE-10)."""

    segment: Public[SegmentNumber]


class PlaceTile(Action, frozen=True, tag="place_tile"):
    """Put the tile just taken on a free field (APE-12)."""

    field: Public[Id]


AnyAction: TypeAlias = TakeTile | PlaceTile

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
