"""`/v1/games` and `/v1/bots`: the games and their bots."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.repository import cursors
from service.views import bot_views, catalogue

blueprint: Final = Blueprint("catalogue", description="Games, their rules and components, and the bots that play them.")

_PUBLIC: Final = {"Cache-Control": "public, max-age=300"}


class GameList(msgspec.Struct, frozen=True):
    """All games."""

    games: tuple[catalogue.GameSummary, ...]


class BotList(msgspec.Struct, frozen=True):
    """All bots of the games, with the games that each plays, and a page of the hosted bots that are public.

    `next` is the cursor of the next page of hosted bots, null at the end.
    """

    bots: tuple[catalogue.BotView, ...]
    hosted: tuple[bot_views.PublicBot, ...]
    next: str | None


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
@blueprint.takes(strict_fields.PageSchema, location="query")
@blueprint.answers_with(200, BotList, description="The bots.")
@blueprint.refuses(*STORE_PROBLEMS)
def list_bots(query: Mapping[str, Any]) -> Response:
    """List the bots that can play in matches: those of the games, by name, and public hosted ones, by the `id` of their account.

    A bot of the games has the same name in every game that it plays. `answers` says how reliable and how fast a hosted bot is.
    """
    ports = context.ports()
    after = cursors.decode(query["cursor"], str) if "cursor" in query else ""
    hosted, last = bot_views.public_bots(ports, after, query["limit"])
    following = None if last is None else cursors.encode(last)
    return answer(
        BotList(catalogue.bots(ports.games), hosted, following), headers={"Cache-Control": "public, max-age=60"}
    )
