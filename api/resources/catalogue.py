"""`/v1/games` and `/v1/bots`: the games and their bots."""

from typing import Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests.blueprint import Blueprint
from service.views import catalogue

blueprint: Final = Blueprint("catalogue", description="Games, their rules and components, and the bots that play them.")

_PUBLIC: Final = {"Cache-Control": "public, max-age=300"}


class GameList(msgspec.Struct, frozen=True):
    """All games."""

    games: tuple[catalogue.GameSummary, ...]


class BotList(msgspec.Struct, frozen=True):
    """All bots, with the games that each plays."""

    bots: tuple[catalogue.BotView, ...]


@blueprint.at("/v1/games")
@blueprint.answers_with(200, GameList, description="All games.")
@blueprint.leads_to(200, show_game={"game": "$response.body#/games/0/id"})
def list_games() -> Response:
    """List the games.

    The description of a game changes only with a release of the service.
    """
    return answer(GameList(catalogue.summaries(context.ports().games)), headers=_PUBLIC)


@blueprint.at("/v1/games/<game>")
@blueprint.answers_with(200, catalogue.GamePage, description="The game.")
@blueprint.refuses("game-not-found")
def show_game(game: str) -> Response:
    """Show a game: its rules, options, components and texts.

    `options` is the JSON Schema of the `options` in `POST /v1/matches`. `texts` are in English and German.
    """
    return answer(catalogue.page(context.ports().games, game), headers=_PUBLIC)


@blueprint.at("/v1/bots")
@blueprint.answers_with(200, BotList, description="All bots.")
def list_bots() -> Response:
    """List the bots that can play in matches.

    A bot has the same name in every game that it plays.
    """
    return answer(BotList(catalogue.bots(context.ports().games)), headers=_PUBLIC)
