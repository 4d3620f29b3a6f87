"""Below `/v1/matches/{match_id}`: who has which seat, the start of a match, and its end by agreement."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response

from api.http import context, etags
from api.http.responses import DOCUMENTED, answer
from api.requests import admission, strict_fields
from api.requests.blueprint import STORE_PROBLEMS
from api.resources import matches as match_resource
from api.resources.matches import BEGIN_PROBLEMS, COMMAND_PROBLEMS, ID, LOOKS, MADE, MAX_SEATS, done
from service.match.commands import SeenHead
from service.repository.ports import Ports
from service.usecases import invitations, match_lifecycle, mid_match
from service.usecases.rematch import rematch
from service.views import match_views

blueprint: Final = match_resource.blueprint
CONDITIONAL_PROBLEMS: Final = ("stale-version", "history-diverged", *COMMAND_PROBLEMS)
"""Problems of commands that read If-Match."""


class TakeSeatSchema(strict_fields.Schema):
    seat = strict_fields.Integer(0, MAX_SEATS - 1, allow_none=True)
    join_code = strict_fields.String(40, shortest=1)
    invitation = strict_fields.String(40, shortest=1)
    client_seed = strict_fields.ChosenText()


class InviteSchema(strict_fields.Schema):
    expires_in = strict_fields.Integer(
        invitations.SHORTEST_S, invitations.LONGEST_S, load_default=invitations.DEFAULT_S
    )


class SeatBotSchema(strict_fields.Schema):
    bot = strict_fields.String(40, shortest=1, required=True)
    seat = strict_fields.Integer(0, MAX_SEATS - 1, allow_none=True)


class FreeSeatSchema(strict_fields.Schema):
    seat = strict_fields.Integer(0, MAX_SEATS - 1, required=True)


class ReplaceAbsentSchema(strict_fields.Schema):
    seat = strict_fields.Integer(0, MAX_SEATS - 1, required=True)


class LeaveSchema(strict_fields.Schema):
    # marshmallow has another use for the name
    wanted = strict_fields.Choice("open", data_key="only")


def _command(match_id: str) -> tuple[Ports, str, str, str]:
    return context.ports(), context.caller().id, match_id, context.command_key()


def _if_match() -> tuple[SeenHead, ...] | None:
    return etags.wanted_heads(context.header(context.current_request(), "If-Match"))


@blueprint.at("/v1/matches/<match_id>/seats", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.takes(TakeSeatSchema)
@blueprint.answers_with(201, match_views.MatchView, description="The match, seen from the seat.", headers=MADE)
@blueprint.refuses(
    "match-not-open",
    "already-seated",
    "match-full",
    "seat-taken",
    "too-many-seats",
    "bot-busy",
    "invitation-expired",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(201, **LOOKS, leave_match=ID)
def take_seat(body: Mapping[str, Any], match_id: str) -> Response:
    """Take a free seat, by default the lowest. A private match requires its `join_code` or an `invitation`.

    One player may hold at most 20 seats in matches that have not started.

    The `client_seed` becomes part of the match's seed, so that the server alone cannot choose the random draws.
    """
    joined = match_lifecycle.join(*_command(match_id), **body, if_match=_if_match())
    return done(joined, 201)


@blueprint.at("/v1/matches/<match_id>/bots", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.takes(SeatBotSchema)
@blueprint.answers_with(201, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses(
    "not-the-creator",
    "bot-not-found",
    "bot-not-allowed",
    "bot-busy",
    "match-not-open",
    "match-rated",
    "match-too-old",
    "match-full",
    "seat-taken",
    "already-seated",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(201, **LOOKS, start_match=ID)
def seat_bot(body: Mapping[str, Any], match_id: str) -> Response:
    """Give a bot a free seat, by default the lowest. Only the creator may do this.

    `bot` is the name of a bot of the game, or the id of a hosted one. It plays the seat to the end, unless the creator frees it
    before the start, or a hosted bot fails: then `bot_fallback` of the match says what follows.
    """
    return done(
        match_lifecycle.add_bot(
            *_command(match_id), **body, if_match=_if_match(), admit_bots=admission.admit_match_of_bots
        ),
        201,
    )


@blueprint.at("/v1/matches/<match_id>/start", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match")
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses("not-the-creator", "match-not-open", "seats-empty", "bots-busy", *CONDITIONAL_PROBLEMS)
@blueprint.leads_to(200, **LOOKS, leave_match=ID)
def start_match(match_id: str) -> Response:
    """Start a full match that has `manual_start`. Only the creator may do this.

    All other matches start by themselves when the last seat is taken.
    """
    admit = admission.admit_match_of_bots
    return done(match_lifecycle.start(*_command(match_id), if_match=_if_match(), admit_bots=admit), 200)


@blueprint.at("/v1/matches/<match_id>/free", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.takes(FreeSeatSchema)
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses("not-the-creator", "match-not-open", "seat-free", "match-too-old", *CONDITIONAL_PROBLEMS)
@blueprint.leads_to(200, **LOOKS, take_seat=ID)
def free_seat(body: Mapping[str, Any], match_id: str) -> Response:
    """Free a seat of a match that has not started. Only the creator may do this.

    The player or bot that had it leaves the match, and may take a free seat again.
    """
    return done(match_lifecycle.free_seat(*_command(match_id), **body, if_match=_if_match()), 200)


@blueprint.at("/v1/matches/<match_id>/leave", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.takes(LeaveSchema)
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses("not-seated", "match-not-open", "match-over", "match-suspended", *CONDITIONAL_PROBLEMS)
def leave_match(body: Mapping[str, Any], match_id: str) -> Response:
    """Leave a match. Before the start the seat becomes free; later the service takes default actions for it.

    If a creator without a seat leaves a match that has not started, the match is aborted. With `only`, or with `If-Match`,
    only a match that has not started is left: the request never resigns a match that started in the meantime.
    """
    is_conditional = context.header(context.current_request(), "If-Match") is not None
    left = match_lifecycle.leave(
        *_command(match_id), only=body.get("wanted"), if_match=_if_match(), is_conditional=is_conditional
    )
    return done(left, 200)


@blueprint.at("/v1/matches/<match_id>/abort", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses(
    "not-seated",
    "match-not-running",
    "match-over",
    "match-suspended",
    "match-too-old",
    "match-rated",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(200, **LOOKS)
def ask_abort(match_id: str) -> Response:
    """Ask to abort a running match that is not rated. It is aborted when all its people ask.

    People who left do not count, nor do bots: if the last person who did not ask leaves, or loses the seat to a bot, the match
    is aborted too. The next action of a seat takes its request back.
    """
    return done(mid_match.ask_abort(*_command(match_id), if_match=_if_match()), 200)


@blueprint.at("/v1/matches/<match_id>/return", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.answers_with(200, match_views.MatchView, description="The match, seen from the seat.", headers=MADE)
@blueprint.refuses(
    "not-seated",
    "bot-deciding",
    "match-over",
    "match-suspended",
    "match-too-old",
    "match-rated",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(200, **LOOKS)
def take_back(match_id: str) -> Response:
    """Take back the seat that a bot took over from the caller, in a match that is not rated.

    While the bot has a decision open the request is refused; repeat it after the bot's move.
    """
    return done(mid_match.take_back(*_command(match_id), if_match=_if_match()), 200)


@blueprint.at("/v1/matches/<match_id>/replace", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.takes(ReplaceAbsentSchema)
@blueprint.answers_with(200, match_views.MatchView, description="The match.", headers=MADE)
@blueprint.refuses(
    "not-seated",
    "seat-not-absent",
    "match-not-running",
    "match-over",
    "match-suspended",
    "match-too-old",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(200, **LOOKS)
def replace_absent(body: Mapping[str, Any], match_id: str) -> Response:
    """Hand the seat of another person who has kept the match waiting for 14 days over to a bot.

    Possible only where the decision has no deadline. The person may take the seat back.
    """
    return done(mid_match.replace_absent(*_command(match_id), **body, if_match=_if_match()), 200)


@blueprint.at("/v1/matches/<match_id>/rematch", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.answers_with(
    201,
    match_views.MatchView,
    description="The new match, seen from the caller's seat.",
    headers={**MADE, "Location": DOCUMENTED["Location"]},
)
@blueprint.refuses(
    "not-seated",
    "match-not-finished",
    "match-over",
    "match-full",
    "match-not-open",
    "invalid-options",
    "bot-not-found",
    "too-many-open-matches",
    "too-many-seats",
    *BEGIN_PROBLEMS,
)
@blueprint.leads_to(201, **LOOKS, leave_match=ID)
def make_rematch(match_id: str) -> Response:
    """Play a finished match once more: creates the new match, or finds the one that another player has created.

    All who ask get the same match, and a seat in it: the one after their own, and the first after the last. Bots come along.
    The new match has the same game, options and clock. Who asks first is its creator. It starts when all seats are taken. If
    it is aborted before, the next request creates another one.
    """
    admission.admit_creation()
    made = rematch(context.ports(), context.caller().id, match_id, admission.admit_match_of_bots)
    return done(made, 201, Location=f"/v1/matches/{made.match.id}")


@blueprint.at("/v1/matches/<match_id>/invitations", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.takes(InviteSchema)
@blueprint.answers_with(201, invitations.Invitation, description="The invitation.")
@blueprint.refuses(
    "match-not-found", "not-seated", "match-not-open", "match-corrupt", "engine-too-old", *STORE_PROBLEMS
)
def invite(body: Mapping[str, Any], match_id: str) -> Response:
    """Create an invitation to a match that waits for players. Its creator and its players may do this.

    Who has the `invitation` can take a free seat with it, also in a private match, until it expires or the match starts. It
    cannot be withdrawn. It works any number of times, and the service does not store it.
    """
    made = invitations.invite(context.ports(), context.caller().id, match_id, body["expires_in"])
    return answer(made, 201)
