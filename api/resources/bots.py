"""`/v1/me/bots`: the bots that a player hosts."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests import admission, strict_fields, urls
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.urls import Url
from service.match.events import LONGEST_LIMIT_MS, SHORTEST_LIMIT_MS
from service.repository import cursors
from service.repository.bot_tasks import KEPT_TASKS
from service.repository.bots import SEATINGS
from service.usecases import hosted_bots
from service.usecases.hosted_bots import BotSettings, OwnBot
from service.views.bot_views import BotDay, TaskView, days_of, tasks_of

blueprint: Final = Blueprint("bots", description="The bots that a player hosts.")

_MAX_GAMES: Final = 64
_DAY_MS: Final = 24 * 3_600_000


class _SettingsSchema(strict_fields.Schema):
    games = strict_fields.List(
        strict_fields.String(40, shortest=1),
        _MAX_GAMES,
        shortest=1,
        metadata={"description": "The games that the bot plays; by default all."},
    )
    about = strict_fields.String(
        hosted_bots.LONGEST_ABOUT, metadata={"description": "What everyone may know of the bot, in words of your own."}
    )
    public = strict_fields.Boolean(metadata={"description": "Whether `GET /v1/bots` lists it; by default not."})
    seating = strict_fields.Choice(*SEATINGS)
    max_matches = strict_fields.Integer(
        1,
        hosted_bots.MAX_MATCHES,
        metadata={"description": "How many matches that are not over it has a seat in, at most; by default 10."},
    )
    limit_ms = strict_fields.Integer(SHORTEST_LIMIT_MS, LONGEST_LIMIT_MS)
    url = Url(
        allow_none=True,
        metadata={"description": "Where the bot is called for each task, with https; null if it pulls its tasks."},
    )


class CreateBotSchema(_SettingsSchema):
    name = strict_fields.Name(required=True)


class ChangeBotSchema(_SettingsSchema):
    name = strict_fields.Name()


class NewBot(msgspec.Struct, frozen=True):
    """A new bot with its token, and the secret that signs calls of it. They are shown only here."""

    bot: OwnBot
    token: str
    secret: str


class NewBotToken(msgspec.Struct, frozen=True):
    """The new token of a bot. It is shown only here; the token before is not valid any more."""

    token: str


class NewBotSecret(msgspec.Struct, frozen=True):
    """The new secret of a bot. It is shown only here; the one before also signs calls for a day."""

    secret: str


class BotTasks(msgspec.Struct, frozen=True):
    """Tasks of a bot, newest first; `next` is the cursor of the next page, null at the end."""

    tasks: tuple[TaskView, ...]
    next: str | None


class BotDays(msgspec.Struct, frozen=True):
    """How a bot has answered on each of the last 30 days on which it had tasks, the newest first."""

    days: tuple[BotDay, ...]


class TaskPageSchema(strict_fields.PageSchema):
    limit = strict_fields.DecimalInteger(
        1, 50, load_default=20, metadata={"description": "Maximum number of tasks in the page."}
    )


class OwnBotList(msgspec.Struct, frozen=True):
    """The bots of a player, oldest first."""

    bots: tuple[OwnBot, ...]


def _settings(body: Mapping[str, Any]) -> BotSettings:
    given = dict(body)
    if given.get("url") is not None:
        urls.check(given["url"])
    if "games" in given:
        given["games"] = tuple(given["games"])
    return BotSettings(**given)


@blueprint.at("/v1/me/bots")
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.answers_with(200, OwnBotList, description="The bots.")
@blueprint.refuses(*STORE_PROBLEMS)
def list_own_bots() -> Response:
    """List the bots that the player hosts."""
    return answer(OwnBotList(hosted_bots.own_bots(context.ports(), context.caller().id)))


@blueprint.at("/v1/me/bots", methods=["POST"])
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.reads("Idempotency-Key")
@blueprint.takes(CreateBotSchema)
@blueprint.answers_with(201, NewBot, description="The bot and its token.")
@blueprint.refuses(*STORE_PROBLEMS, "game-not-found", "too-many-bots", "idempotency-key-reused")
def create_bot(body: Mapping[str, Any]) -> Response:
    """Create a hosted bot: an account of its own, which acts over this API with its token, like a player.

    A match names the bot by the id of its account, and also its owner. A player has at most 20 bots. The token has the scopes
    `watch` and `play`. A request that is repeated with the same `Idempotency-Key` gets the same bot, as it is now, and the same
    token, which may have been renewed since.
    """
    admission.admit_account_change()
    wanted = _settings(body)
    bot, token, secret = hosted_bots.create(context.ports(), context.caller(), wanted, context.command_key())
    return answer(NewBot(bot, token, secret), 201)


@blueprint.at("/v1/me/bots/<bot_id>", methods=["PATCH"])
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.takes(ChangeBotSchema)
@blueprint.answers_with(200, OwnBot, description="The bot.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found", "game-not-found")
def change_bot(body: Mapping[str, Any], bot_id: str) -> Response:
    """Change a bot. What is absent stays as it is.

    Matches in which it has a seat go on, with the `limit_ms` that it had when it took the seat.
    """
    admission.admit_account_change()
    return answer(hosted_bots.change(context.ports(), context.caller().id, bot_id, _settings(body)))


@blueprint.at("/v1/me/bots/<bot_id>", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.answers_with(204, description="The bot is deleted; its seats are given up within seconds.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found")
def delete_bot(bot_id: str) -> Response:
    """Delete a bot and erase its account: it resigns in all of its matches. This cannot be undone."""
    hosted_bots.delete(context.ports(), context.caller().id, bot_id)
    return Response(status=204)


@blueprint.at("/v1/me/bots/<bot_id>/token", methods=["POST"])
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.answers_with(201, NewBotToken, description="The token.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found")
def renew_bot_token(bot_id: str) -> Response:
    """Replace the token of a bot. The token before is invalid at once, in every process; its streams end within seconds."""
    admission.admit_account_change()
    return answer(NewBotToken(hosted_bots.renew_token(context.ports(), context.caller().id, bot_id)), 201)


@blueprint.at("/v1/me/bots/<bot_id>/secret", methods=["POST"])
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.reads("Idempotency-Key")
@blueprint.answers_with(201, NewBotSecret, description="The secret.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found")
def renew_bot_secret(bot_id: str) -> Response:
    """Replace the secret that signs calls of a bot. For a day, calls have a signature by each of the two.

    Send an `Idempotency-Key`, and if no answer comes, send the request again with the same one: it is then carried out once, and
    the secret before stays valid. The answer has the newest secret.
    """
    admission.admit_account_change()
    secret = hosted_bots.renew_secret(context.ports(), context.caller().id, bot_id, context.command_key())
    return answer(NewBotSecret(secret), 201)


@blueprint.at("/v1/me/bots/<bot_id>/tasks")
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.takes(TaskPageSchema, location="query")
@blueprint.answers_with(200, BotTasks, description="A page of the tasks.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found")
def list_bot_tasks(query: Mapping[str, Any], bot_id: str) -> Response:
    """List the newest 500 tasks that a bot got: when each was asked, how it ended, and the version at which its seat acted.

    Tasks that come between two requests may appear on two pages.
    """
    skip = min(max(0, cursors.decode(query["cursor"], int)), KEPT_TASKS) if "cursor" in query else 0
    bot = hosted_bots.own_bot(context.ports(), context.caller().id, bot_id)
    found = tasks_of(context.ports(), bot.id, skip, query["limit"])
    has_more = len(found) == query["limit"]
    return answer(BotTasks(found, cursors.encode(skip + len(found)) if has_more else None))


@blueprint.at("/v1/me/bots/<bot_id>/days")
@blueprint.knows_caller(required=True, scope="bots")
@blueprint.answers_with(200, BotDays, description="The days.")
@blueprint.refuses(*STORE_PROBLEMS, "bot-not-found")
def list_bot_days(bot_id: str) -> Response:
    """Show how a bot has answered, day by day: how many tasks ended in which way, and how long its answers took."""
    bot = hosted_bots.own_bot(context.ports(), context.caller().id, bot_id)
    return answer(BotDays(days_of(context.ports(), bot.id, _DAY_MS)))
