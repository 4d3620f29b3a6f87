"""`/v1/matches/{id}/events` and `/v1/matches/{id}/export`: the events of a match as pages, as streams, and as a file."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request

from api.http import context, etags, languages
from api.http.responses import DOCUMENTED, answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import frame_schema, ref
from api.requests.request_headers import version_of
from api.resources import stream_response
from api.resources.include import included
from api.resources.matches import MAX_SEATS, MAX_VERSION, TEXTS, VIEWER, unchanged
from service.audit import match_file
from service.errors import Refused
from service.match.model import Head, Match, MatchId, Version, Viewer
from service.match.redaction import SeenEvent, Situation, viewer_of
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form, StreamEnd, StreamHello
from service.subscriptions.long_poll import wait_for_event
from service.subscriptions.match_stream import MatchSubscription
from service.subscriptions.situation import FrameReader, situation

PAGE: Final = 100
LONGEST_PAGE: Final = 500
LONGEST_WAIT_S: Final = 30
INCLUDED: Final = (
    "Some of these, separated by commas. `decisions`: adds the open decisions after each event, with deadlines, and the time "
    "that each seat has left. `legal_actions`: adds the viewer's legal actions to the newest frame of a running match; older "
    "frames have none. `texts`: adds a text to each event, decision and action."
)
READ_PROBLEMS: Final = ("match-not-found", "match-corrupt", "engine-too-old", *STORE_PROBLEMS)

_JSON: Final = "application/json"
_FORMS: Final = {form.media_type: form for form in (NDJSON, EVENT_STREAM)}

blueprint: Final = Blueprint(
    "events",
    description="The events of a match: as pages, live, and as a file.",
    frames=(SeenEvent, StreamHello, StreamEnd),
)


class EventPage(Situation, frozen=True):
    """Events in order. `version` and `head` are the match's newest; `next` is the address of the next page, if there is one.

    A page without events has the members that `include` adds itself.

    To get later events, send the request again with `version` and `head` of this page as `after` and `head`, or use a stream.
    """

    events: tuple[SeenEvent, ...]
    version: Version
    head: str
    next: str | None


class EventQuerySchema(strict_fields.Schema):
    after = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        metadata={"description": "The version after which the events begin; 0 for all events."},
    )
    head = strict_fields.String(
        64,
        pattern="[0-9a-f]{16,64}",
        form="the first 16 to 64 digits of a hash, in lower case",
        metadata={
            "description": "At least 16 digits of the hash at version `after`, as the client knows it. If the match has another "
            "hash there, the answer is `history-diverged`."
        },
    )
    limit = strict_fields.DecimalInteger(
        1,
        LONGEST_PAGE,
        metadata={"description": f"Maximum number of events in a page, {PAGE} by default. Not for streams."},
    )
    wait = strict_fields.DecimalInteger(
        0,
        LONGEST_WAIT_S,
        metadata={
            "description": "Long polling: seconds to wait for an event if the page would be empty and the match is not over. "
            "Not for streams."
        },
    )
    include = strict_fields.Includes("decisions", "legal_actions", TEXTS, metadata={"description": INCLUDED})
    ticket = strict_fields.String(64)
    viewer = strict_fields.DecimalInteger(
        0,
        MAX_SEATS - 1,
        metadata={"description": VIEWER},
    )


_LINES: Final = {
    "type": "array",
    "description": "One JSON value per line: a `StreamHello`, events, then a `StreamEnd`. An empty line is a heartbeat, sent at "
    "least every five seconds until the match is over. A stream without a `StreamEnd` was interrupted: connect again with "
    "`after`.",
    "items": {"oneOf": [ref("StreamHello"), ref("SeenEvent"), ref("StreamEnd")]},
}
_FRAMES: Final = frame_schema(
    (ref("StreamHello"), ref("SeenEvent"), ref("StreamEnd")),
    "Server-sent events. First `hello` (data: `StreamHello`), then each event under its own type with its "
    "version as `id` (data: `SeenEvent`), and finally `end` (data: `StreamEnd`). A comment is sent every `heartbeat_ms`; if "
    "nothing arrives for three times as long, connect again. A stream without `end` was interrupted: connect again with "
    "`Last-Event-ID`, and it continues with the next event.",
)
_EVENTS: Final = "Events after a version. Every viewer gets every version, without what is hidden from it."
_HEADERS: Final = {
    "ETag": {
        **DOCUMENTED["ETag"],
        "description": "For a page: the newest version and the first 16 digits of its hash.",
    },
    "X-Accel-Buffering": {
        "description": "For a stream: `no`, proxies must not buffer it.",
        "schema": {"type": "string"},
    },
}


@blueprint.at("/v1/matches/<match_id>/events")
@blueprint.takes(EventQuerySchema, location="query")
@blueprint.answers_with(200, EventPage, description=_EVENTS)
@blueprint.answers_with(200, _LINES, description=_EVENTS, media_types=(NDJSON.media_type,), headers=_HEADERS)
@blueprint.answers_with(200, _FRAMES, description=_EVENTS, media_types=(EVENT_STREAM.media_type,), headers=_HEADERS)
@blueprint.answers_with(304, description="The page that the client has.")
@blueprint.answers_with(
    204, description="`Last-Event-ID` is the last event of a match that is over; an EventSource stops reconnecting."
)
@blueprint.knows_caller(required=False, scope="watch", by_ticket=True)
@blueprint.reads("If-None-Match", "Last-Event-ID", "Accept-Language")
@blueprint.refuses(*READ_PROBLEMS, "not-your-seat", "not-acceptable", "history-diverged", "too-many-streams")
def list_events(query: Mapping[str, Any], match_id: MatchId) -> Response:
    """Read a match's events, or follow them live.

    `Accept` chooses: `application/json` (the default) gives a page. `application/x-ndjson` and `text/event-stream` give all
    events after a version, and then each new event until the end of the match.
    """
    form = _wanted_form()
    match, _ = context.ports().history.newest(match_id)
    # Check access first: no other refusal may reveal that a private match exists.
    viewer = viewer_of(match, context.caller_id(), query.get("viewer"))
    if form is None:
        if "ticket" in query:
            raise Refused("invalid-parameter", "A ticket is for a stream; send the token.", parameter="ticket")
        has_all = match.head.version == query["after"] and match.head.hash.startswith(query.get("head", ""))
        if query.get("wait") and has_all and match.server_seed is None:
            match, viewer = _waited(match, query)
        response = unchanged(match, query) or _page(match, viewer, query)
    else:
        response = _stream(match, form, query)
    response.vary.add("Accept")
    return languages.label(response, language) if (language := included(query).language) else response


def _wanted_form() -> Form | None:
    """The form of the stream that Accept requests; None for a page.

    Raises:
        Refused: `not-acceptable`.
    """
    if not request.accept_mimetypes:
        return None
    wanted: str | None = request.accept_mimetypes.best_match((_JSON, *_FORMS))
    if wanted is None:
        raise Refused("not-acceptable", f"Events are {_JSON}, {' or '.join(_FORMS)}.")
    return _FORMS.get(wanted)


def _waited(match: Match, query: Mapping[str, Any]) -> tuple[Match, Viewer]:
    """The match after its next event, or when the time is over. The request counts as a stream until then.

    Raises:
        Refused: `too-many-streams`; `token-invalid` if the token was revoked meanwhile.
    """
    authorize = stream_response.authorize()
    streams = stream_response.streams()
    slot = streams.enter(stream_response.holder())
    try:
        match = wait_for_event(context.ports().history, streams, match, query["wait"], stream_response.hung_up())
    finally:
        slot.release()
    authorize()
    return match, viewer_of(match, context.caller_id(), query.get("viewer"))


def _page(match: Match, viewer: Viewer, query: Mapping[str, Any]) -> Response:
    after = query["after"]
    if after > match.head.version:
        raise diverged(match, after)
    include = included(query)
    events = FrameReader(context.ports().history).after(match, viewer, after, query.get("limit", PAGE), include)
    if not (events[0].prev if events else match.head.hash).startswith(query.get("head", "")):
        raise diverged(match, after)
    following = None
    if events and events[-1].version < match.head.version:
        wanted = {"after": events[-1].version, "head": events[-1].hash[:16]}
        wanted |= {name: query[name] for name in ("limit", "include", "viewer") if name in query}
        following = f"/v1/matches/{match.id}/events?{urlencode(wanted)}"
    rest = {} if events else situation(match, viewer, include, is_newest=True)
    return answer(EventPage(events, match.head.version, match.head.hash, following, **rest), head=match.head)


def _stream(match: Match, form: Form, query: Mapping[str, Any]) -> Response:
    for name in ("limit", "wait"):
        if name in query:
            raise Refused("invalid-parameter", f"{name} is only for pages, not for streams.", parameter=name)
    after = head_at(match, query["after"])
    if not after.hash.startswith(query.get("head", "")):
        raise diverged(match, after.version)
    if form is EVENT_STREAM and (last := context.header(context.current_request(), "Last-Event-ID")) is not None:
        # A browser that reconnects sends the old address with its `after`, and adds Last-Event-ID.
        after = head_at(match, version_of(last))
        if after == match.head and match.server_seed is not None:
            return Response(status=204)
    streams = stream_response.streams()
    slot = streams.enter(stream_response.holder())
    subscription = MatchSubscription(
        streams.watch(match.id),
        form,
        match=match,
        sent=after,
        player=context.caller_id(),
        seat=query.get("viewer"),
        now=context.ports().now(),
        include=included(query),
    )
    return stream_response.respond(
        streams.run(subscription, stream_response.authorize(), stream_response.hung_up()), form, slot
    )


def head_at(match: Match, version: Version) -> Head:
    """The head that the match had at a version.

    Raises:
        Refused: `history-diverged`: the match does not have this version.
    """
    if version == match.head.version:
        return match.head
    if version > match.head.version:
        raise diverged(match, version)
    if version == 0:
        return match.origin
    (following,) = context.ports().history.events(match, None, version, 1)
    return Head(version, following.prev)


def diverged(match: Match, version: Version) -> Refused:
    return Refused(
        "history-diverged",
        f"The match does not have version {version} as you know it; its newest version is {match.head.version}.",
        version=match.head.version,
        head=match.head.hash,
    )


@blueprint.at("/v1/matches/<match_id>/export")
@blueprint.answers_with(
    200,
    {
        "type": "array",
        "description": "The match file: its first line, then every complete event, one JSON object per line.",
        "items": {"type": "object"},
    },
    description="The complete match, which anyone can verify.",
    media_types=(NDJSON.media_type,),
    headers={
        "ETag": DOCUMENTED["ETag"],
        "Content-Disposition": {"description": "A file name.", "schema": {"type": "string"}},
    },
)
@blueprint.answers_with(304, description="The file that the caller has.")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("If-None-Match")
@blueprint.refuses(*READ_PROBLEMS, "match-not-finished")
def export_match(match_id: MatchId) -> Response:
    """Download a match that is over as a file.

    The file has every complete event, including draws and the seed, so that `moonstone verify` or another program can verify it.
    """
    ports = context.ports()
    match, _ = ports.history.newest(match_id)
    viewer_of(match, context.caller_id())
    lines = match_file.export(ports, match)
    response = unchanged(match, {})
    if response is None:
        # Read everything before the first byte is sent: if the log fails midway, the client gets a problem, not part of a file.
        response = Response(b"".join(lines), content_type=NDJSON.media_type)
        response.headers["Content-Disposition"] = f'attachment; filename="moonstone-{match.id}.ndjson"'
        response.headers["ETag"] = etags.etag(match.head)
    if not match.created.private:
        response.headers["Cache-Control"] = "public, max-age=86400"
    return response
