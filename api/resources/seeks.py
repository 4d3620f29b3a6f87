"""`/v1/seeks`: waiting for players who want the same match."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response
from marshmallow import fields

from api.http import context
from api.http.responses import answer
from api.requests import admission, strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.resources.matches import HIGHEST_RATING, MAX_SEATS, ClockSchema, new_match
from service.match.events import MatchClock
from service.repository.seeks import Seek
from service.usecases import seeking

blueprint: Final = Blueprint("seeks", description="Waiting for players who want the same match.")

_RATINGS: Final = ("rating_from", "rating_to")


class NewSeekSchema(strict_fields.Schema):
    game = strict_fields.String(40, shortest=1, required=True)
    seats = strict_fields.Integer(2, MAX_SEATS, required=True)
    options = strict_fields.Object(component="Options", load_default=dict)
    clock = fields.Nested(ClockSchema, allow_none=True)
    rated = strict_fields.Boolean(load_default=False)
    rating_from = strict_fields.Integer(0, HIGHEST_RATING)
    rating_to = strict_fields.Integer(0, HIGHEST_RATING)
    expires_in = strict_fields.Integer(seeking.SHORTEST_S, seeking.LONGEST_S, load_default=seeking.DEFAULT_S)


class SeekView(msgspec.Struct, frozen=True):
    """A seek of the caller. `match` is null while it waits."""

    id: str
    game: str
    seats: int
    options: Mapping[str, Any]
    clock: MatchClock | None
    rated: bool
    rating_from: int | None
    rating_to: int | None
    created_at: int
    expires_at: int
    match: str | None


def _view(seek: Seek) -> SeekView:
    wanted = seek.wanted
    return SeekView(
        id=seek.id,
        game=wanted.game,
        seats=wanted.seats,
        options=wanted.options,
        clock=wanted.clock,
        rated=wanted.rated,
        rating_from=seek.rating_from,
        rating_to=seek.rating_to,
        created_at=seek.created_at,
        expires_at=seek.expires_at,
        match=seek.match,
    )


@blueprint.at("/v1/seeks", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key")
@blueprint.takes(NewSeekSchema)
@blueprint.answers_with(201, SeekView, description="The seek.")
@blueprint.refuses(
    "game-not-found", "invalid-options", "already-seeking", "too-many-seeks", "idempotency-key-reused", *STORE_PROBLEMS
)
@blueprint.leads_to(201, show_seek={"seek_id": "$response.body#/id"}, end_seek={"seek_id": "$response.body#/id"})
def seek_match(body: Mapping[str, Any]) -> Response:
    """Wait for players who want the same match: the same game, seats, options, clock, and `rated` or not.

    Without `clock`, the match has the clock that `POST /v1/matches` gives it then. `rating_from` and `rating_to` limit the
    ratings of the other players; a player without a rating counts as 1000.
    As soon as enough players wait, a worker creates a public match with all of them, and `GET /v1/me/stream` sends `started`.
    A player needs this stream: a seek ends 30 seconds after the player's last stream, and at the latest after
    `expires_in` seconds. A player has one seek at a time. Nobody else can see it. Use a new `Idempotency-Key` for each seek: a
    repeated request with the key of one that is over gives that one for an hour, and no new one.
    """
    admission.admit_creation()
    wanted = new_match({name: value for name, value in body.items() if name not in {"expires_in", *_RATINGS}})
    limits = {name: body.get(name) for name in _RATINGS}
    made = seeking.seek(
        context.ports(), context.caller().id, wanted, context.command_key(), body["expires_in"], **limits
    )
    return answer(_view(made), 201)


@blueprint.at("/v1/seeks/<seek_id>")
@blueprint.knows_caller(required=True, scope="watch")
@blueprint.answers_with(200, SeekView, description="The seek.")
@blueprint.refuses("seek-not-found", *STORE_PROBLEMS)
def show_seek(seek_id: str) -> Response:
    """Show a seek of the caller that waits, or has led to a match within the last hour."""
    return answer(_view(seeking.find(context.ports(), context.caller().id, seek_id)))


@blueprint.at("/v1/seeks/<seek_id>", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.answers_with(204, description="The seek has ended.")
@blueprint.refuses("seek-not-found", *STORE_PROBLEMS)
def end_seek(seek_id: str) -> Response:
    """End a seek of the caller that waits. One that has just led to a match is not found: the match has started."""
    seeking.cancel(context.ports(), context.caller().id, seek_id)
    return Response(status=204)
