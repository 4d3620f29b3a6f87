"""`/v1/matches`: create and show matches."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response
from marshmallow import fields
from msgspec import UNSET
from msgspec.structs import replace

from api.http import context, etags, languages
from api.http.responses import DOCUMENTED, answer
from api.requests import admission, strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.match import redaction, texts
from service.match.events import LONGEST_CLOCK, LONGEST_INCREMENT, SHORTEST_CLOCK, SLOWEST_PACE, MatchClock
from service.match.model import Match, Viewer
from service.match.new_match import NewMatch
from service.usecases import match_codes, match_lifecycle
from service.usecases.submit import Submitted
from service.views import match_views

blueprint: Final = Blueprint("matches", description="Matches: creating, finding, joining, leaving and watching them.")

MAX_SEATS: Final = 64
HOUR_MS: Final = 3_600_000
MAX_VERSION: Final = 10**9
HIGHEST_RATING: Final = 100_000
"""The greatest rating that a filter may name."""
COMMAND_PROBLEMS: Final = (
    "match-not-found",
    "match-corrupt",
    "engine-too-old",
    "idempotency-key-reused",
    "version-conflict",
    *STORE_PROBLEMS,
)
BEGIN_PROBLEMS: Final = ("bots-busy", *COMMAND_PROBLEMS)
LOOK_PROBLEMS: Final = (
    "match-not-found",
    "version-not-found",
    "not-your-seat",
    "match-corrupt",
    "engine-too-old",
    *STORE_PROBLEMS,
)
ID: Final = {"match_id": "$response.body#/id"}
LOOKS: Final = dict.fromkeys(("show_match", "list_legal_actions", "list_events", "audit_match"), ID)
_COMES: Final = dict.fromkeys(("take_seat", "seat_bot", "start_match", "leave_match"), ID)
MADE: Final = {name: DOCUMENTED[name] for name in ("ETag", "Idempotent-Replay")}

TEXTS: Final = "texts"
"""The value of `include` that requests texts."""
VIEWS: Final = ("then", "now")
"""The values of `view`."""
VIEWER: Final = "The seat from which to see the match: your own, or any after the end of the match."


class ClockSchema(strict_fields.Schema):
    turn_seconds = strict_fields.Integer(SHORTEST_CLOCK, LONGEST_CLOCK)
    bank_seconds = strict_fields.Integer(SHORTEST_CLOCK, LONGEST_CLOCK)
    increment_seconds = strict_fields.Integer(0, LONGEST_INCREMENT)
    on_timeout = strict_fields.Choice("default_action", "bot", "resign")
    bot_pace_ms = strict_fields.Integer(0, SLOWEST_PACE)


class NewMatchSchema(strict_fields.Schema):
    game = strict_fields.String(40, shortest=1, required=True)
    seats = strict_fields.Integer(1, MAX_SEATS, required=True)
    options = strict_fields.Object(component="Options", load_default=dict)
    bots = strict_fields.List(strict_fields.String(40, shortest=1), MAX_SEATS, load_default=())
    clock = fields.Nested(ClockSchema, allow_none=True)
    private = strict_fields.Boolean(load_default=False)
    manual_start = strict_fields.Boolean(load_default=False)
    rated = strict_fields.Boolean(load_default=False)
    bot_fallback = strict_fields.Choice("default_action", "bot", "resign", load_default="default_action")


class LookSchema(strict_fields.Schema):
    version = strict_fields.DecimalInteger(
        1, MAX_VERSION, metadata={"description": "The version to show; by default the newest."}
    )
    viewer = strict_fields.DecimalInteger(0, MAX_SEATS - 1, metadata={"description": VIEWER})


class MatchQuerySchema(LookSchema):
    view = strict_fields.Choice(
        *VIEWS,
        metadata={
            "description": "`then` (the default): what the viewer knew at that version. `now` (after the end of the match): "
            "adds what every seat knew, as `observations`."
        },
    )
    include = strict_fields.Choice(
        "legal_actions",
        TEXTS,
        f"legal_actions,{TEXTS}",
        f"{TEXTS},legal_actions",
        metadata={
            "description": "`legal_actions`: adds the viewer's legal actions. `texts`: adds a text to each of them and to each "
            "decision."
        },
    )


def look(match_id: str, query: Mapping[str, Any]) -> tuple[Match, Viewer]:
    """A match at the version in the query (by default the newest), and the viewer that the caller may be."""
    ports = context.ports()
    match, _ = ports.history.newest(match_id)
    viewer = redaction.viewer_of(match, context.caller_id(), query.get("viewer"))
    version = query.get("version", match.head.version)
    return match if version == match.head.version else ports.history.at(match_id, version), viewer


def unchanged(match: Match, query: Mapping[str, Any]) -> Response | None:
    """304 if the caller has this version; never for texts, since the tag does not depend on the language."""
    if TEXTS in query.get("include", ""):
        return None
    tags = etags.parse("If-None-Match", context.header(context.current_request(), "If-None-Match"))
    if not etags.matches(tags, match.head):
        return None
    return Response(status=304, headers={"ETag": etags.etag(match.head)}, content_type="application/json")


def _view(match: Match, viewer: Viewer) -> match_views.MatchView:
    ports, player = context.ports(), context.caller_id()
    join_code = None if player is None else match_codes.seen_join_code(ports, match, player)
    return match_views.see(ports, match, viewer, join_code)


def done(submitted: Submitted, status: int, **headers: str) -> Response:
    """The match right after a command, as the caller sees it from its seat."""
    match = submitted.match
    if submitted.replayed:
        headers["Idempotent-Replay"] = "true"
    return answer(_view(match, match.seat_of(context.caller().id)), status, head=match.head, headers=headers)


def new_match(given: Mapping[str, Any]) -> NewMatch:
    """The match that a body describes. Without `clock` it has the default clock, and with null none."""
    clock = MatchClock(**given["clock"]) if given.get("clock") else None
    open_ms = context.container().settings.open_hours * HOUR_MS
    return NewMatch(**{**given, "clock": clock}, default_clock="clock" not in given, open_ms=open_ms)


@blueprint.at("/v1/matches", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key")
@blueprint.takes(NewMatchSchema)
@blueprint.answers_with(
    201, match_views.MatchView, description="The match.", headers={**MADE, "Location": DOCUMENTED["Location"]}
)
@blueprint.refuses(
    "game-not-found",
    "bot-not-found",
    "bot-not-allowed",
    "bot-busy",
    "invalid-options",
    "too-many-open-matches",
    *BEGIN_PROBLEMS,
)
@blueprint.leads_to(201, **LOOKS, **_COMES)
def create_match(body: Mapping[str, Any]) -> Response:
    """Create a match.

    The creator gets no seat. `bots`, names of the game's bots or ids of hosted ones, get the lowest seats. `bot_fallback` says what
    follows when a hosted bot fails. A full match starts by itself, unless it has `manual_start`. One
    that has not started by `expires_at` is aborted. Without `clock` a decision has seven days, and then the default action is
    taken, unless the game keeps its own time.

    A `rated` match is public and has two seats at least, only people and hosted bots that take their seats themselves, a clock, and the default options or those of one of the
    game's `variants`. A worker rates it after its end: `GET /v1/games/{game}/ratings`.

    The number of new matches per minute is limited by player and by address, and so is the number of matches of bots alone.
    """
    admission.admit_creation()
    if len(body["bots"]) == body["seats"] and not body["manual_start"]:
        admission.admit_match_of_bots()
    wanted = new_match({**body, "bots": tuple(body["bots"])})
    made = match_lifecycle.create(context.ports(), context.caller().id, wanted, context.command_key())
    return done(made, 201, Location=f"/v1/matches/{made.match.id}")


@blueprint.at("/v1/matches/<match_id>")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("If-None-Match", "Accept-Language")
@blueprint.takes(MatchQuerySchema, location="query")
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers={"ETag": DOCUMENTED["ETag"]})
@blueprint.answers_with(304, description="The version that the caller has.")
@blueprint.refuses(*LOOK_PROBLEMS)
@blueprint.leads_to(200, **LOOKS)
def show_match(query: Mapping[str, Any], match_id: str) -> Response:
    """Show a match as the caller's seat or a spectator sees it, at its newest version or at any `version`.

    After the end everyone may see it from every seat: `viewer` says from which.
    """
    match, viewer = look(match_id, query)
    if (same := unchanged(match, query)) is not None:
        return same
    view = _view(match, viewer)
    if query.get("view") == "now":
        view = replace(view, observations=match_views.of_every_seat(context.ports(), match))
    included = query.get("include", "")
    if "legal_actions" in included:
        view = replace(view, legal_actions=redaction.legal_actions(match, viewer))
    if TEXTS not in included:
        return answer(view, head=match.head)
    language = languages.preferred()
    view = replace(view, decisions=texts.decisions_with_text(match.game, language, view.decisions))
    if view.legal_actions is not UNSET:
        view = replace(view, action_texts=texts.action_texts(match.game, language, view.legal_actions))
    return languages.label(answer(view, head=match.head), language)
