"""Descriptions of the games and their bots."""

from collections.abc import Mapping
from typing import Any

import msgspec

from service.games.bots import bots_of
from service.games.kit.patterns import AnyOf as AnyOf
from service.games.protocol import AnyGame as AnyGame
from service.games.protocol import GameInfo as GameInfo
from service.games.protocol import Outcome as Outcome
from service.games.registry import GAMES as GAMES
from service.match.new_match import game_named


class GameSummary(msgspec.Struct, frozen=True):
    id: str
    title: str
    ruleset: int
    seats: tuple[int, ...]
    bots: tuple[str, ...]


class GamePage(msgspec.Struct, frozen=True):
    """A game in full: the JSON Schema of its options, its named variants, the types of its actions and effects, its components
    with sources.
    """

    id: str
    title: str
    ruleset: int
    seats: tuple[int, ...]
    bots: tuple[str, ...]
    options: Mapping[str, Any]
    variants: Mapping[str, Mapping[str, Any]]
    actions: tuple[str, ...]
    effects: tuple[str, ...]
    breakdown: tuple[str, ...]
    rules: str
    components: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str]]


class BotView(msgspec.Struct, frozen=True):
    name: str
    games: tuple[str, ...]


def summaries(games: Mapping[str, AnyGame]) -> tuple[GameSummary, ...]:
    return tuple(
        GameSummary(game.info.id, game.info.title, game.info.ruleset, game.info.seats, tuple(sorted(bots_of(game))))
        for game in games.values()
    )


def page(games: Mapping[str, AnyGame], game_id: str) -> GamePage:
    """One game in full.

    Raises:
        Refused: `game-not-found`.
    """
    game = game_named(games, game_id)
    info = game.info
    return GamePage(
        id=info.id,
        title=info.title,
        ruleset=info.ruleset,
        seats=info.seats,
        bots=tuple(sorted(bots_of(game))),
        options=msgspec.json.schema(info.options),
        variants=info.variants,
        actions=tuple(str(action.__struct_config__.tag) for action in info.actions),
        effects=tuple(str(effect.__struct_config__.tag) for effect in info.effects),
        breakdown=info.breakdown,
        rules=game.rules,
        components=game.components,
        texts=game.texts,
    )


def bots(games: Mapping[str, AnyGame]) -> tuple[BotView, ...]:
    names = sorted({name for game in games.values() for name in bots_of(game)})
    return tuple(
        BotView(name, tuple(game.info.id for game in games.values() if name in bots_of(game))) for name in names
    )
