"""Descriptions of the games and their bots."""

from typing import Final

import msgspec
import pytest

from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import AnyGame
from service.games.registry import GAMES as HOSTED
from service.views import catalogue
from tests.service.arena import refused
from tests.service.games.toy.game import TOY

GAMES: Final[dict[str, AnyGame]] = {"toy": TOY, "monkeys_on_the_moon": MONKEYS}


def test_the_games_are_listed_with_their_bots() -> None:
    found = {summary.id: (summary.seats, summary.bots) for summary in catalogue.summaries(GAMES)}
    assert found == {"toy": ((2, 3, 4), ("high", "random")), "monkeys_on_the_moon": ((2, 3, 4), ("greedy", "random"))}


@pytest.mark.parametrize("game", [*GAMES.values(), *HOSTED.values()], ids=lambda game: game.info.id)
def test_a_page_describes_a_game_completely(game: AnyGame) -> None:
    page = catalogue.page({game.info.id: game}, game.info.id)
    assert (page.id, page.title, page.ruleset, page.seats) == (
        game.info.id,
        game.info.title,
        game.info.ruleset,
        game.info.seats,
    )
    assert (page.rules, page.components, page.texts) == (game.rules, game.components, game.texts)
    assert len(page.actions) == len(set(page.actions)) == len(game.info.actions)
    assert len(page.effects) == len(set(page.effects)) == len(game.info.effects)
    assert msgspec.json.encode(page)


@pytest.mark.parametrize("game", [*GAMES.values(), *HOSTED.values()], ids=lambda game: game.info.id)
def test_the_options_are_a_self_contained_closed_schema(game: AnyGame) -> None:
    schema = catalogue.page({game.info.id: game}, game.info.id).options
    options = schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    assert options["type"] == "object"
    assert set(options["properties"]) == set(game.info.options.__struct_fields__)
    assert options["additionalProperties"] is False
    assert options["required"] == []


def test_the_problem_of_an_unknown_game_lists_the_games() -> None:
    assert refused("game-not-found", catalogue.page, GAMES, "chess").facts == {"games": sorted(GAMES)}


def test_the_bots_are_listed_with_their_games() -> None:
    found = {bot.name: bot.games for bot in catalogue.bots(GAMES)}
    assert found == {"greedy": ("monkeys_on_the_moon",), "high": ("toy",), "random": tuple(GAMES)}
