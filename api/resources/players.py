"""`/v1/players`, `/v1/me`, `/v1/stream-tickets`: accounts, their tokens and their tickets."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import auth, context
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.repository.limits import Policy
from service.repository.ports import Player
from service.usecases import accounts

blueprint: Final = Blueprint("players", description="Accounts and their tokens.")

SIGN_UP_WINDOW: Final = 600
"""Seconds for the quota of new players of an address."""


class NewPlayerSchema(strict_fields.Schema):
    name = strict_fields.Name(required=True)


class SignedUp(msgspec.Struct, frozen=True):
    """A new player and its token. The token is shown only here."""

    player: Player
    token: str


class NewToken(msgspec.Struct, frozen=True):
    """An additional token of the same player. It is shown only here."""

    token: str


class NewTicket(msgspec.Struct, frozen=True):
    """A ticket for one stream. It is valid once, and for `expires_in` seconds."""

    ticket: str
    expires_in: int


@blueprint.at("/v1/players", methods=["POST"])
@blueprint.takes(NewPlayerSchema)
@blueprint.answers_with(201, SignedUp, description="The player and its token.")
@blueprint.refuses(*STORE_PROBLEMS)
def sign_up(body: Mapping[str, Any]) -> Response:
    """Create a player.

    Every request creates another one. The number of new players of an address is limited.
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
    """Show the player of the token.

    Seats and events contain its `id`.
    """
    return answer(context.caller())


@blueprint.at("/v1/me/tokens", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(201, NewToken, description="The token.")
@blueprint.refuses(*STORE_PROBLEMS)
def add_token() -> Response:
    """Create an additional token, so that the old one can be replaced and then revoked.

    All tokens of a player have the same rights.
    """
    return answer(NewToken(accounts.add_token(context.ports(), context.caller())), 201)


@blueprint.at("/v1/me/tokens/current", methods=["DELETE"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(204, description="The token is revoked.")
@blueprint.refuses(*STORE_PROBLEMS)
def revoke_token() -> Response:
    """Revoke the token of this request, in every process at once.

    Streams that were opened with it end.
    """
    accounts.revoke(context.ports(), auth.token(context.header(context.current_request(), "Authorization") or ""))
    return Response(status=204)


@blueprint.at("/v1/stream-tickets", methods=["POST"])
@blueprint.knows_caller(required=True)
@blueprint.answers_with(201, NewTicket, description="The ticket.")
@blueprint.refuses(*STORE_PROBLEMS)
def issue_ticket() -> Response:
    """Create a ticket for one stream, for clients that cannot send headers: use it as `?ticket=` in the stream's address.

    A ticket works once, and only while the token that created it is valid. A browser's EventSource needs a new one after
    each disconnection. Tokens are not accepted in addresses.
    """
    ticket = accounts.issue_ticket(context.ports(), auth.required(context.credential()))
    return answer(NewTicket(ticket, accounts.TICKET_SECONDS), 201)
