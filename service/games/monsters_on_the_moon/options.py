"""The options of a match."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec

from service.games.kit.options import parse
from service.games.monsters_on_the_moon.components import BOX, MONSTERS, SEATS, WITHOUT_SKELETON, Monster
from service.games.monsters_on_the_moon.layout import LayoutCard, LayoutName, layout_fault
from service.games.protocol import BadOptions

MissionVariant: TypeAlias = Literal["secret", "open"]
OwnLayout: TypeAlias = Annotated[tuple[LayoutCard, ...], msgspec.Meta(min_length=2, max_length=5)]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The start layout, the seats' monsters, and the variants. A single player cannot use missions or walls."""

    layout: LayoutName | OwnLayout = "just_landed"
    """One of the printed layouts, or a custom one with the cards d1 and d2, and optionally M1, M2 and ARM (MON-4)."""
    monsters: Annotated[
        tuple[Monster, ...],
        msgspec.Meta(
            min_length=1, max_length=4, description="In seat order; of the default, as many as there are seats."
        ),
    ] = MONSTERS
    """The monsters in seat order. By default, the first ones of werewolf, witch, vampire and skeleton (MON-1)."""
    missions: MissionVariant | None = None
    """Two secret missions for each seat, or three open ones for all (MON-70)."""
    walls: bool = False
    """Moon walls, which enclose areas (MON-60)."""


def options(seats: int, given: Mapping[str, object]) -> Options:
    """The options of a match for this number of seats.

    Raises:
      BadOptions: an option is unknown, has the wrong type, or is not allowed for this number of seats.
    """
    chosen = parse(Options, given, seats, SEATS)
    if chosen.monsters == MONSTERS:  # the default, given or not
        chosen = msgspec.structs.replace(chosen, monsters=MONSTERS[:seats])
    if not isinstance(chosen.layout, str):
        fault = layout_fault(chosen.layout)
        if fault is not None:
            raise BadOptions(f"is impossible: {fault}", "layout")
    if seats == 1:
        if chosen.missions is not None:
            raise BadOptions("must be null for one player", "missions")
        if chosen.walls:
            raise BadOptions("must be false for one player", "walls")
        return chosen
    _check_monsters(seats, chosen.monsters)
    return chosen


def _check_monsters(seats: int, monsters: tuple[Monster, ...]) -> None:
    """MON-1."""
    if len(monsters) != seats:
        raise BadOptions(f"must name one for each of the {seats} seats", "monsters")
    if len(set(monsters)) < seats:
        raise BadOptions("must name a different one for each seat", "monsters")
    if seats < len(MONSTERS) and not set(monsters) <= set(WITHOUT_SKELETON):
        raise BadOptions(f"must be {', '.join(WITHOUT_SKELETON)}: the skeleton plays with four seats only", "monsters")


def layout_of(chosen: Options) -> tuple[LayoutCard, ...]:
    """The cards of the start layout, in the order in which they are laid."""
    return BOX.layouts[chosen.layout] if isinstance(chosen.layout, str) else chosen.layout
