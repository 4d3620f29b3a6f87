"""`/v1/streams`: the events of several public matches in one connection."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from flask import Response

from api.http import context, languages
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import frame_schema, ref
from api.requests.request_headers import versions_of
from api.resources import stream_response
from api.resources.events import head_at
from api.resources.include import included
from api.resources.matches import TEXTS
from service.errors import Refused
from service.match.model import Match, MatchId, Version
from service.subscriptions.frames import EVENT_STREAM, NDJSON
from service.subscriptions.spectator_stream import (
    MAX_MATCHES,
    MatchEnd,
    SpectatorEnd,
    SpectatorHello,
    SpectatorSubscription,
)

blueprint: Final = Blueprint(
    "streams", description="Several matches in one connection.", frames=(SpectatorHello, MatchEnd, SpectatorEnd)
)

_INCLUDED: Final = (
    "Some of these, separated by commas. `decisions`: adds the open decisions after each event, with deadlines, and the time "
    "that each seat has left. `texts`: adds a text to each event and decision."
)


class StreamsQuerySchema(strict_fields.Schema):
    match = strict_fields.List(
        strict_fields.String(
            81,
            pattern="[A-Za-z0-9_-]{1,64}(?::(?:0|[1-9][0-9]{0,15}))?",
            form="the id of a match, or its id, a colon and a version, such as `id:41`",
        ),
        MAX_MATCHES,
        shortest=1,
        required=True,
        metadata={
            "description": "The id of a public match; repeat the parameter for each match. The stream has its events from now "
            "on; with `:` and a version after the id, those after this version."
        },
    )
    include = strict_fields.Includes("decisions", TEXTS, metadata={"description": _INCLUDED})
    ticket = strict_fields.String(64)


class _Wanted(NamedTuple):
    """A match and the version after which its events are sent; None for the newest version."""

    match_id: MatchId
    after: Version | None


_SENT: Final = "Events of all matches as a spectator sees them. Each names its match; those of one match are in order."
_HEADERS: Final = {
    "X-Accel-Buffering": {"description": "`no`: proxies must not buffer the stream.", "schema": {"type": "string"}}
}
_DATA: Final = (ref("SpectatorHello"), ref("SeenEvent"), ref("MatchEnd"), ref("SpectatorEnd"))
_LINES: Final = {
    "type": "array",
    "description": "One JSON value per line: a `SpectatorHello`, then events, a `MatchEnd` after the last event of each match, "
    "and finally a `SpectatorEnd`. An empty line is a heartbeat. To resume after an interruption, name each match with the "
    "version of its last event.",
    "items": {"oneOf": list(_DATA)},
}
_FRAMES: Final = frame_schema(
    _DATA,
    "Server-sent events: `hello` (data: `SpectatorHello`), then each event under its own type (data: `SeenEvent`), "
    "`match_end` after the last event of each match (data: `MatchEnd`), and finally `end` (data: `SpectatorEnd`). The `id` has "
    "the version that was sent last of each match, in the order of the parameters, separated by commas. A comment is sent "
    "every `heartbeat_ms`.",
)


@blueprint.at("/v1/streams")
@blueprint.takes(StreamsQuerySchema, location="query")
@blueprint.answers_with(200, _FRAMES, description=_SENT, media_types=(EVENT_STREAM.media_type,), headers=_HEADERS)
@blueprint.answers_with(200, _LINES, description=_SENT, media_types=(NDJSON.media_type,), headers=_HEADERS)
@blueprint.answers_with(
    204,
    description="`Last-Event-ID` has the last events of matches that are all over; an EventSource stops reconnecting.",
)
@blueprint.knows_caller(required=False, scope="watch", by_ticket=True)
@blueprint.reads("Last-Event-ID (versions)", "Accept-Language")
@blueprint.refuses(*STORE_PROBLEMS, "match-not-found", "history-diverged", "not-acceptable", "too-many-streams")
def watch_matches(query: Mapping[str, Any]) -> Response:
    """Watch up to 100 public matches in one connection, as a spectator.

    `Accept` chooses between `text/event-stream` (the default) and `application/x-ndjson`. After an interruption an event may
    be sent again: compare its match and version. The connection counts as one stream.
    """
    form = stream_response.wanted_form()
    last = context.header(context.current_request(), "Last-Event-ID") if form is EVENT_STREAM else None
    wanted = _wanted(query["match"], None if last is None else versions_of(last))
    matches = _public([one.match_id for one in wanted])
    sent = [
        (match, match.head if one.after is None else head_at(match, one.after))
        for one, match in zip(wanted, matches, strict=True)
    ]
    if last is not None and all(match.server_seed is not None and head == match.head for match, head in sent):
        return Response(status=204)
    include, streams = included(query), stream_response.streams()
    slot = streams.enter(stream_response.holder())
    subscription = SpectatorSubscription(context.ports(), streams, form, sent, include)
    response = stream_response.respond(
        streams.run(subscription, stream_response.authorize(), stream_response.hung_up()), form, slot
    )
    response.vary.add("Accept")
    return languages.label(response, include.language) if include.language else response


def _wanted(named: Sequence[str], last: Sequence[Version] | None) -> Sequence[_Wanted]:
    """The matches in the parameters, with the versions in `last` (from `Last-Event-ID`) if there are any.

    Raises:
        Refused: `invalid-parameter`.
    """
    parts = [text.partition(":") for text in named]
    found = [_Wanted(match_id, int(after) if after else None) for match_id, _, after in parts]
    if len({one.match_id for one in found}) < len(found):
        raise Refused("invalid-parameter", "Name each match once.", parameter="match")
    if last is None:
        return found
    if len(last) != len(found):
        raise Refused(
            "invalid-parameter",
            f"Last-Event-ID has {len(last)} versions, but {len(found)} matches are named.",
            parameter="Last-Event-ID",
        )
    return [one._replace(after=version) for one, version in zip(found, last, strict=True)]


def _public(match_ids: Sequence[MatchId]) -> Sequence[Match]:
    """The matches as they are now.

    Raises:
        Refused: `match-not-found`, with the same text for a missing, a private and an unreadable match.
    """
    found = context.ports().history.newest_each(match_ids)
    public = {match.id: match for match in found.values() if isinstance(match, Match) and not match.created.private}
    lacking = sorted(set(match_ids) - public.keys())
    if lacking:
        raise Refused("match-not-found", f"No public match that can be watched has the id {', '.join(lacking[:5])}.")
    return [public[match_id] for match_id in match_ids]
