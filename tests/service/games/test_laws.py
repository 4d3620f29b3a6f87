"""Every game obeys every law, at each of its tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from service.games.protocol import AnyGame
from service.games.registry import GAMES
from tests.length import LONG
from tests.service.games import laws, laws_of_pictures, laws_of_sight, laws_of_values
from tests.service.games.matches import Table
from tests.service.games.tables import HOSTED, TABLES

LAWS = (*laws.LAWS, *laws_of_values.LAWS, *laws_of_sight.LAWS, *laws_of_pictures.LAWS)
OTHERS_SHOW_THE_SAME: Final = frozenset(
    {
        "ape_town of 3",
        "four_monkeys of 5",
        "four_monkeys of 6, with skins",
        "four_monkeys of 7, family",
        "monkeys_on_the_moon of 3",
        "monsters_on_the_moon of 3",
        "monsters_on_the_moon of 4",
    }
)
"""Tables of the long form: those of the short form have their options, and fewer and more seats."""
OF_THIS_FORM: Final = tuple(table for table in TABLES if LONG or table.name not in OTHERS_SHOW_THE_SAME)
IN_ONE_PROCESS = tuple(law for law in LAWS if law is not laws_of_values.law_matches_do_not_depend_on_hash_seeds)


@pytest.mark.long
@pytest.mark.parametrize("law", IN_ONE_PROCESS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("table", OF_THIS_FORM, ids=lambda table: table.name)
def test_the_game_obeys(table: Table, law: Callable[[Table], None]) -> None:
    law(table)


@pytest.mark.long
def test_no_match_depends_on_hash_seeds() -> None:
    """The same two processes test the law for all tables; in the short form, for one of each game."""
    one_of_each = {table.game.info.id: table for table in TABLES}
    laws_of_values.assert_independent_of_hash_seeds(TABLES if LONG else tuple(one_of_each.values()))


@pytest.mark.parametrize("law_module", [laws, laws_of_values, laws_of_sight, laws_of_pictures])
def test_no_law_is_left_out(law_module: object) -> None:
    assert {law.__name__ for law in LAWS} >= {name for name in vars(law_module) if name.startswith("law_")}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_hosted_game_has_a_table_for_each_number_of_seats_and_literal_counts(game: AnyGame) -> None:
    assert {table.seats for table in HOSTED if table.game is game} == set(game.info.seats)
    assert (Path(__file__).parent / game.info.id / "test_counts.py").exists()
