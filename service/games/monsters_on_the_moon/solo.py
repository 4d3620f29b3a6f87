"""The points of a single player, and their rating (MON-81, MON-82)."""

from collections.abc import Mapping
from typing import Final

from service.games.monsters_on_the_moon.effects import SoloRated
from service.games.monsters_on_the_moon.groups import groups, heads_of
from service.games.monsters_on_the_moon.squares import Display

_MAX_POINTS: Final = (13, 19, 24, 28)
"""The maximum points of each rank, without the best rank."""


def parts(display: Display) -> Mapping[str, int]:
    """Vampires and crystals beside their own kind score; witches and werewolves cost points (MON-81)."""
    vampires = [group.heads for group in groups(display, "vampire")]
    crystals = [len(group.cells) for group in groups(display, "crystal")]
    return {
        "vampires": sum([number for number in vampires if number > 1]),
        "crystals": sum([number for number in crystals if number > 1]),
        "witches": -heads_of(display, "witch"),
        "werewolves": -heads_of(display, "werewolf"),
    }


def rate(display: Display) -> SoloRated:
    """The rating of the points (MON-82)."""
    points = sum(parts(display).values())
    return SoloRated(points, 1 + sum([points > limit for limit in _MAX_POINTS]))
