"""`/v1/me/matches` and `/v1/me/stream`: all the matches of the player who asks, and what happens in them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response, request

from api.http import context, pagination
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import frame_schema, ref
from api.resources import stream_response
from service.errors import Refused
from service.match.model import MatchId
from service.repository.ports import OwnList
from service.subscriptions.frames import EVENT_STREAM, NDJSON
from service.subscriptions.notices import Notice, NoticesEnd, NoticesHello, PlayerSubscription
from service.usecases import match_index
from service.views import match_views

blueprint: Final = Blueprint("mine", description="All the matches of one player.")


class OwnMatchList(msgspec.Struct, frozen=True):
    """A page of a player's matches; `next` is the cursor of the next page, null at the end.

    `unreadable` are those of its matches that the service cannot read: ask for one of them to be told why.
    """

    matches: tuple[match_views.OwnMatch, ...]
    unreadable: tuple[MatchId, ...]
    next: str | None


class OwnMatchesQuerySchema(strict_fields.PageSchema):
    active = strict_fields.Flag(load_default=False, metadata={"description": "Only those that are not over."})


@blueprint.at("/v1/me/matches")
@blueprint.knows_caller(required=True)
@blueprint.takes(OwnMatchesQuerySchema, location="query")
@blueprint.answers_with(200, OwnMatchList, description="A page of the player's matches.")
@blueprint.refuses(*STORE_PROBLEMS)
@blueprint.leads_to(200, show_match={"match_id": "$response.body#/matches/0/id"})
def list_own_matches(query: Mapping[str, Any]) -> Response:
    """List the matches that the player made, or has or had a seat in, private ones too, the last made first.

    `active` leaves out those that are over.
    """
    before = pagination.decode(query["cursor"], str) if "cursor" in query else None
    mine: OwnList = "active" if query["active"] else "all"
    page = match_index.own_page(context.ports(), context.caller().id, mine, before, query["limit"])
    following = None if page.last is None else pagination.encode(page.last)
    return answer(OwnMatchList(page.matches, page.unreadable, following))


class OwnStreamQuerySchema(strict_fields.Schema):
    ticket = strict_fields.String(64)


_FORMS: Final = {form.media_type: form for form in (EVENT_STREAM, NDJSON)}
_TOLD: Final = "What happens in the player's matches, from now on."
_HEADERS: Final = {
    "X-Accel-Buffering": {"description": "`no`, a proxy passes on at once.", "schema": {"type": "string"}}
}
_LINES: Final = {
    "type": "array",
    "description": "One JSON value a line: a `NoticesHello`, then a `Notice` for each thing that happens, at last a "
    "`NoticesEnd`. An empty line is a heartbeat.",
    "items": {"oneOf": [ref("NoticesHello"), ref("Notice"), ref("NoticesEnd")]},
}
_FRAMES: Final = frame_schema(
    (ref("NoticesHello"), ref("Notice"), ref("NoticesEnd")),
    "Server-sent events: `hello` (data: `NoticesHello`), then `started`, `your_turn`, `seat_lost` and `finished` (data: "
    "`Notice`), at last `end` (data: `NoticesEnd`). Every `heartbeat_ms` a comment comes. There are no ids: whoever "
    "connects again is told in `hello` how all matches are now.",
)


@blueprint.at("/v1/me/stream")
@blueprint.takes(OwnStreamQuerySchema, location="query")
@blueprint.answers_with(200, _FRAMES, description=_TOLD, media_types=(EVENT_STREAM.media_type,), headers=_HEADERS)
@blueprint.answers_with(200, _LINES, description=_TOLD, media_types=(NDJSON.media_type,), headers=_HEADERS)
@blueprint.knows_caller(required=True, by_ticket=True)
@blueprint.refuses(*STORE_PROBLEMS, "not-acceptable", "too-many-streams")
def follow_own_matches(query: Mapping[str, Any]) -> Response:
    """Follow all of the player's matches that are not over, in one stream: your turn, started, finished.

    `Accept` chooses between `text/event-stream` (the default) and `application/x-ndjson`.
    """
    del query
    accepted = request.accept_mimetypes or None
    wanted = EVENT_STREAM.media_type if accepted is None else accepted.best_match(tuple(_FORMS))
    if wanted is None:
        raise Refused("not-acceptable", f"The stream is {' or '.join(_FORMS)}.")
    form, streams = _FORMS[wanted], stream_response.streams()
    slot = streams.enter(stream_response.holder())
    subscription = PlayerSubscription(context.ports(), streams, context.caller().id, form)
    response = stream_response.respond(
        streams.run(subscription, stream_response.authorize(), stream_response.hung_up()), form, slot
    )
    response.vary.add("Accept")
    return response


blueprint.answers += [NoticesHello, Notice, NoticesEnd]
