"""`/v1/me/matches` and `/v1/me/stream`: the matches of the caller, and notices of what happens in them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import context, languages
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import frame_schema, ref
from api.resources import stream_response
from api.resources.include import included
from api.resources.matches import TEXTS
from service.match.model import MatchId
from service.repository import cursors, index_entry
from service.repository.ports import OwnList
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form
from service.subscriptions.notices import Notice, NoticesEnd, NoticesHello, SeekEndedNotice
from service.subscriptions.player_stream import PlayerSubscription
from service.usecases import match_lists
from service.views import match_views

blueprint: Final = Blueprint(
    "mine", description="All the matches of one player.", frames=(NoticesHello, Notice, SeekEndedNotice, NoticesEnd)
)


class OwnMatchList(msgspec.Struct, frozen=True):
    """A page of a player's matches; `next` is the cursor of the next page, null at the end.

    `unreadable` are matches that the service cannot read: `GET /v1/matches/{match_id}` says why.
    """

    matches: tuple[match_views.OwnMatch, ...]
    unreadable: tuple[MatchId, ...]
    next: str | None


class OwnMatchesQuerySchema(strict_fields.PageSchema):
    active = strict_fields.Flag(load_default=False, metadata={"description": "Only those that are not over."})


@blueprint.at("/v1/me/matches")
@blueprint.knows_caller(required=True, scope="watch")
@blueprint.takes(OwnMatchesQuerySchema, location="query")
@blueprint.answers_with(200, OwnMatchList, description="A page of the player's matches.")
@blueprint.refuses(*STORE_PROBLEMS)
@blueprint.leads_to(200, show_match={"match_id": "$response.body#/matches/0/id"})
def list_own_matches(query: Mapping[str, Any]) -> Response:
    """List the matches that the player created or has or had a seat in, including private ones, newest first.

    `active` omits those that are over.
    """
    before = index_entry.decode(query["cursor"]) if "cursor" in query else None
    own_list: OwnList = "active" if query["active"] else "all"
    page = match_lists.own_page(context.ports(), context.caller().id, own_list, before, query["limit"])
    following = None if page.last is None else index_entry.encode(page.last)
    return answer(OwnMatchList(page.matches, page.unreadable, following))


_INCLUDED: Final = (
    "Some of these, separated by commas. `legal_actions`: adds the legal actions to each `your_turn`; decisions that are open "
    "when the stream begins are sent as notices after `hello`. `decisions`: adds the time that each seat has left. `texts`: "
    "adds a text to each decision and action."
)


class OwnStreamQuerySchema(strict_fields.Schema):
    after = strict_fields.String(
        cursors.MAX_LENGTH,
        pattern="[A-Za-z0-9_-]+",
        form="the `cursor` of a frame, unchanged",
        metadata={
            "description": "The `cursor` of the last frame that the client received: what happened since then is sent first, "
            "including ends of matches. A notice may be sent again, with the same `notice`."
        },
    )
    include = strict_fields.Includes("decisions", "legal_actions", TEXTS, metadata={"description": _INCLUDED})
    ticket = strict_fields.String(64)


_NOTICES: Final = "Notices of what happens in the player's matches, from now on or from the end of an earlier stream."
_HEADERS: Final = {
    "X-Accel-Buffering": {"description": "`no`: proxies must not buffer the stream.", "schema": {"type": "string"}}
}
_DATA: Final = (ref("NoticesHello"), ref("Notice"), ref("SeekEndedNotice"), ref("NoticesEnd"))
_LINES: Final = {
    "type": "array",
    "description": "One JSON value per line: a `NoticesHello`, then a `Notice` or `SeekEndedNotice` for each thing that happens, "
    "and finally a `NoticesEnd`. An empty line is a heartbeat. Each value has a `cursor` from which the stream can be resumed.",
    "items": {"oneOf": list(_DATA)},
}
_FRAMES: Final = frame_schema(
    _DATA,
    "Server-sent events: `hello` (data: `NoticesHello`), then `started`, `your_turn`, `seat_lost`, `finished`, `seat_freed` and "
    "`rematch` (data: `Notice`), and `seek_ended` (data: `SeekEndedNotice`), and finally `end` (data: `NoticesEnd`), each with the "
    "cursor as `id`. A comment is sent every `heartbeat_ms`.",
)


@blueprint.at("/v1/me/stream")
@blueprint.takes(OwnStreamQuerySchema, location="query")
@blueprint.answers_with(200, _FRAMES, description=_NOTICES, media_types=(EVENT_STREAM.media_type,), headers=_HEADERS)
@blueprint.answers_with(200, _LINES, description=_NOTICES, media_types=(NDJSON.media_type,), headers=_HEADERS)
@blueprint.knows_caller(required=True, scope="watch", by_ticket=True)
@blueprint.reads("Last-Event-ID (cursor)", "Accept-Language")
@blueprint.refuses(*STORE_PROBLEMS, "clock-wrong", "not-acceptable", "too-many-streams")
def follow_own_matches(query: Mapping[str, Any]) -> Response:
    """Follow all of the player's matches that are not over, in one stream: your turn, started, finished.

    It also reports what happens beside these matches: the creator has freed the player's seat (`seat_freed`), another player asks
    for a rematch (`rematch`), a seek has ended without a match (`seek_ended`). Such notices are kept for a day.

    `Accept` chooses between `text/event-stream` (the default) and `application/x-ndjson`. With `after` or `Last-Event-ID`
    the stream continues where an earlier one ended, without turns that are over meanwhile.
    """
    context.check_clock()  # a cursor is a time
    form, streams = stream_response.wanted_form(), stream_response.streams()
    after = _position(query.get("after"), form)
    slot = streams.enter(stream_response.holder())
    include = included(query)
    clock_fault = context.container().clock_fault
    subscription = PlayerSubscription(context.ports(), streams, context.caller().id, form, include, after, clock_fault)
    response = stream_response.respond(
        streams.run(subscription, stream_response.authorize(), stream_response.hung_up()), form, slot
    )
    response.vary.add("Accept")
    return languages.label(response, include.language) if include.language else response


def _position(after: str | None, form: Form) -> int | None:
    """The position from which a stream is resumed; None for a new one.

    Raises:
        Refused: `invalid-parameter`.
    """
    # A browser that reconnects sends the old address with its `after`, and adds Last-Event-ID.
    last = context.header(context.current_request(), "Last-Event-ID") if form is EVENT_STREAM else None
    if last is not None:
        return cursors.decode(last, int, "Last-Event-ID")
    return None if after is None else cursors.decode(after, int, "after")
