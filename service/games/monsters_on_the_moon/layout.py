"""Start layouts: the cards that lie on the table before the first turn, and their positions (MON-4)."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from service.games.monsters_on_the_moon.grid import Rotation, footprint, is_connected

LayoutName: TypeAlias = Literal["just_landed", "neighbourhood", "confrontation", "new_settlement", "long_ways"]
Slot: TypeAlias = Literal["M1", "M2", "ARM", "d1", "d2"]
"""A card outside the deck, or `d1` and `d2` for the next two cards of the draw pile."""

OFFSET_LIMIT: Final = 100
Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=-OFFSET_LIMIT, le=OFFSET_LIMIT)]

PILE_SLOTS: Final[tuple[Slot, ...]] = ("d1", "d2")
"""The two cards of the draw pile. Every layout has them."""


class LayoutCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A card of a layout, and the coordinates of its top left square."""

    card: Slot
    x: Offset
    y: Offset
    rotation: Rotation


def layout_fault(layout: Sequence[LayoutCard]) -> str | None:
    """Why this layout is impossible; None if it is valid."""
    cards = [placed.card for placed in layout]
    if len(set(cards)) < len(cards):
        return "each card may be used once"
    if not set(PILE_SLOTS) <= set(cards):
        return "d1 and d2 are required"
    cells = [cell for placed in layout for cell in footprint(placed.x, placed.y, placed.rotation)]
    if len(set(cells)) < len(cells):
        return "cards must not overlap"
    if not is_connected(set(cells)):
        return "the cards must be connected by shared edges"
    return None
