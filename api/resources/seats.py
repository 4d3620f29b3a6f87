"""`/v1/matches/{match_id}/seats`, `/bots`, `/start` and `/leave`: who sits in a match, and when it begins."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response

from api.http import context, etags
from api.requests import admission, strict_fields
from api.resources import matches as match_resource
from api.resources.matches import COMMAND_PROBLEMS, ID, LOOKS, MADE, MAX_SEATS, done
from service.match.commands import SeenHead
from service.repository.ports import Ports
from service.usecases import match_lifecycle
from service.views import match_views

blueprint: Final = match_resource.blueprint
CONDITIONAL_PROBLEMS: Final = ("stale-version", "history-diverged", *COMMAND_PROBLEMS)
"""Of commands that read If-Match."""


class TakeSeatSchema(strict_fields.Schema):
    seat = strict_fields.Integer(0, MAX_SEATS - 1, allow_none=True)
    join_code = strict_fields.String(40, shortest=1)
    client_seed = strict_fields.String(64, shortest=1)


class SeatBotSchema(strict_fields.Schema):
    bot = strict_fields.String(40, shortest=1, required=True)
    seat = strict_fields.Integer(0, MAX_SEATS - 1, allow_none=True)


def _command(match_id: str) -> tuple[Ports, str, str, str]:
    return context.ports(), context.caller().id, match_id, context.command_key()


def _if_match() -> tuple[SeenHead, ...] | None:
    return etags.wanted_heads(context.header(context.asked(), "If-Match"))


@blueprint.at("/v1/matches/<match_id>/seats", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.takes(TakeSeatSchema)
@blueprint.answers_with(201, match_views.MatchView, description="The match, seen from the seat.", headers=MADE)
@blueprint.refuses("match-not-open", "already-seated", "match-full", "seat-taken", *CONDITIONAL_PROBLEMS)
@blueprint.leads_to(201, **LOOKS, leave_match=ID)
def take_seat(body: Mapping[str, Any], match_id: str) -> Response:
    """Take a free seat: the lowest, or the one named. A private match wants its `join_code`.

    The `client_seed` becomes part of the match's chance, so that the server alone cannot choose it.
    """
    joined = match_lifecycle.join(*_command(match_id), **body, if_match=_if_match())
    return done(joined, 201)


@blueprint.at("/v1/matches/<match_id>/bots", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.takes(SeatBotSchema)
@blueprint.answers_with(201, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses(
    "not-the-creator", "bot-not-found", "match-not-open", "match-full", "seat-taken", *CONDITIONAL_PROBLEMS
)
@blueprint.leads_to(201, **LOOKS, start_match=ID)
def seat_bot(body: Mapping[str, Any], match_id: str) -> Response:
    """Seat a bot; the creator's right.

    It takes the lowest free seat, or the one named, and plays it to the end.
    """
    return done(
        match_lifecycle.add_bot(
            *_command(match_id), **body, if_match=_if_match(), admit_bots=admission.admit_match_of_bots
        ),
        201,
    )


@blueprint.at("/v1/matches/<match_id>/start", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses("not-the-creator", "match-not-open", "seats-empty", "bots-busy", *CONDITIONAL_PROBLEMS)
@blueprint.leads_to(200, **LOOKS, leave_match=ID)
def start_match(match_id: str) -> Response:
    """Start a full match by hand; the creator's right.

    Only a match with `manual_start` waits for this.
    """
    admit = admission.admit_match_of_bots
    return done(match_lifecycle.start(*_command(match_id), if_match=_if_match(), admit_bots=admit), 200)


@blueprint.at("/v1/matches/<match_id>/leave", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses("not-seated", "match-over", "match-suspended", *CONDITIONAL_PROBLEMS)
def leave_match(match_id: str) -> Response:
    """Leave a match: before the start the seat is free again, later it is played by default actions.

    A creator without a seat who leaves a match that has not started ends it.
    """
    return done(match_lifecycle.leave(*_command(match_id), if_match=_if_match()), 200)
