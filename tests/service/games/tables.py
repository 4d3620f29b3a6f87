"""All tables for which the laws are tested: those of the toy game, and those in the `tables.py` of each hosted game."""

from importlib import import_module
from typing import Final

from service.games.registry import GAMES
from tests.service.games.matches import Table
from tests.service.games.toy.tables import TABLES as TOYS

HOSTED: Final[tuple[Table, ...]] = tuple(
    table for game in GAMES for table in import_module(f"tests.service.games.{game}.tables").TABLES
)
TABLES: Final[tuple[Table, ...]] = (*TOYS, *HOSTED)
