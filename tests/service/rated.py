"""Rated matches of an arena, and a check of its ratings."""

from typing import Any, Final

from service.audit.ratings import Checked, faults
from tests.service.arena import Arena

GAME: Final = "toy"


def over(arena: Arena, *players: str, **more: Any) -> str:
    """A rated match that is over."""
    players = players or ("anna", "ben")
    table = arena.join(arena.create(GAME, len(players), turn_seconds=20, rated=True, **more), *players)
    arena.play_out(table)
    return table


def check(arena: Arena) -> list[str]:
    """The faults of the ratings."""
    return list(faults(arena.ports, GAME, Checked()))
