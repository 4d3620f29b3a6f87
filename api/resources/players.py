"""`/v1/players`, `/v1/me`, `/v1/stream-tickets`: accounts, their tokens and their tickets, each shown once."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import auth, context
from api.http.rate_limit import Policy
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.repository.ports import Player
from service.usecases import accounts

blueprint: Final = Blueprint("players", description="Accounts and their tokens.")

SIGN_UP_WINDOW: Final = 600
"""Seconds in which an address may make its quota of players."""


class NewPlayerSchema(strict_fields.Schema):
    name = strict_fields.Name(required=True)


class SignedUp(msgspec.Struct, frozen=True):
    """A new player with the token that makes requests its own. The token is shown only here."""

    player: Player
    token: str


class NewToken(msgspec.Struct, frozen=True):
    """One more token of the same player. It is shown only here."""

    token: str


class NewTicket(msgspec.Struct, frozen=True):
    """A ticket for one stream, good once and for `expires_in` seconds."""

    ticket: str
    expires_in: int


@blueprint.at("/v1/players", methods=["POST"])
@blueprint.takes(NewPlayerSchema)
@blueprint.answers_with(201, SignedUp, description="The player and its token.")
@blueprint.refuses(*STORE_PROBLEMS)
def sign_up(body: Mapping[str, Any]) -> Response:
    """Make a player.

    Every call makes another one. How many an address may make is limited.
    """
    quota = context.container().settings.sign_ups_by_address
    context.take(Policy("sign-ups", quota, SIGN_UP_WINDOW), context.address())
    player, token = accounts.sign_up(context.ports(), body["name"])
    return answer(SignedUp(player, token), 201)


@blueprint.at("/v1/me")
@blueprint.knows_caller(required=True)
@blueprint.answers_with(200, Player, description="The player.")
@blueprint.refuses(*STORE_PROBLEMS)
def show_me() -> Response:
    """Show the player whose token this is.

    The `id` is what seats and events name.
    """
    return answer(context.caller())


@blueprint.at("/v1/me/tokens", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(201, NewToken, description="The token.")
@blueprint.refuses(*STORE_PROBLEMS)
def add_token() -> Response:
    """Make one more token, to put it in place before the old one is revoked.

    All tokens of a player have the same rights.
    """
    return answer(NewToken(accounts.add_token(context.ports(), context.caller())), 201)


@blueprint.at("/v1/me/tokens/current", methods=["DELETE"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(204, description="The token is nobody's any more.")
@blueprint.refuses(*STORE_PROBLEMS)
def revoke_token() -> Response:
    """Revoke the token of this request, in every process at once.

    Streams that were opened with it end.
    """
    accounts.revoke(context.ports(), auth.token(context.header(context.asked(), "Authorization") or ""))
    return Response(status=204)


@blueprint.at("/v1/stream-tickets", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(201, NewTicket, description="The ticket.")
@blueprint.refuses(*STORE_PROBLEMS)
def issue_ticket() -> Response:
    """Make a ticket that opens one stream, as `?ticket=` in its address, where a client cannot send headers.

    It works once, and only while the token that it was made with does: a browser's EventSource that was cut needs a new
    one. A token never stands in an address.
    """
    ticket = accounts.issue_ticket(context.ports(), auth.required(context.credential()))
    return answer(NewTicket(ticket, accounts.TICKET_SECONDS), 201)
