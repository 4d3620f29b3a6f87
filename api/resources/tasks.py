"""`/v1/me/tasks`: the open decisions of the caller, for a bot that pulls them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import context, languages
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.resources import stream_response
from api.resources.events import LONGEST_WAIT_S
from service.match.task import Task
from service.subscriptions.task_poll import MAX_MATCHES, open_tasks, wait_for_tasks
from service.usecases import bot_records

blueprint: Final = Blueprint("tasks", description="The decisions that a bot has to take.")

_LONGEST_ID: Final = 80


class TaskQuerySchema(strict_fields.Schema):
    wait = strict_fields.DecimalInteger(
        0,
        LONGEST_WAIT_S,
        load_default=0,
        metadata={"description": "Long polling: seconds to wait for a task if there is none."},
    )
    seen = strict_fields.List(
        strict_fields.String(_LONGEST_ID, shortest=1, pattern="[a-z0-9-]+", form="the id of a task"),
        MAX_MATCHES,
        unique=True,
        load_default=(),
        metadata={"description": "The id of a task that the client has; it is left out. May be repeated."},
    )


class TaskList(msgspec.Struct, frozen=True):
    """Tasks, those with the earliest deadline first."""

    tasks: tuple[Task, ...]


@blueprint.at("/v1/me/tasks")
@blueprint.knows_caller(required=True, scope="watch")
@blueprint.takes(TaskQuerySchema, location="query")
@blueprint.reads("Accept-Language")
@blueprint.answers_with(200, TaskList, description="The tasks.")
@blueprint.refuses(*STORE_PROBLEMS, "too-many-streams")
def list_tasks(query: Mapping[str, Any]) -> Response:
    """List the decisions that the player has to take now, in all of its matches, each with all that its seat may know.

    Answer a task with `POST /v1/matches/{match_id}/actions`, with its `decision` and with its id as the `Idempotency-Key`: several
    programs may then work for one bot, and each decision is taken once. At most 20 tasks are listed, of the 200 newest matches.
    While a request waits it counts as a stream.
    """
    ports, player, language = context.ports(), context.caller().id, languages.preferred()
    seen = frozenset(query["seen"])
    found = open_tasks(ports, player, language, seen)
    if not found and query["wait"]:
        authorize = stream_response.authorize()
        streams = stream_response.streams()
        slot = streams.enter(stream_response.holder())
        try:
            hung_up = stream_response.hung_up()
            found = wait_for_tasks(ports, streams, player, language, seen, query["wait"], hung_up)
        finally:
            slot.release()
        authorize()
    bot_records.note_pulled(ports, player, found)
    return languages.label(answer(TaskList(found)), language)
