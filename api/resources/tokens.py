"""`/v1/me/tokens`: the tokens of a player, each with a label, scopes and an expiry."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from flask import Response

from api.http import auth, context
from api.http.responses import answer
from api.requests import admission, strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from service.repository.accounts import SCOPES, Session
from service.repository.ports import Ports
from service.usecases import accounts
from service.usecases.accounts import TokenView

blueprint: Final = Blueprint("tokens", description="The tokens of a player.")


def callers(
    ports: Ports,
) -> tuple[Callable[[str], Session], Callable[[str], Session], Callable[[str], str]]:
    """Who sends a request: by a token, by the digest of one, and the digest that a ticket stands for (`checks.Callers`)."""
    return partial(accounts.authenticate, ports), partial(accounts.holder, ports), partial(accounts.find_ticket, ports)


class AddTokenSchema(strict_fields.Schema):
    label = strict_fields.ChosenText(metadata={"description": "What the token is for, in words of your own."})
    scopes = strict_fields.List(
        strict_fields.Choice(*SCOPES),
        len(SCOPES),
        shortest=1,
        unique=True,
        load_default=list(SCOPES),
        metadata={
            "description": "What the token may be used for; all by default. `watch`: to see what the player sees. `play`: to "
            "create, join and play matches. `bots`: to manage hosted bots. `account`: to manage the account, and so to make "
            "tokens with any scope.",
        },
    )
    expires_in = strict_fields.Integer(
        accounts.SHORTEST_S,
        accounts.LONGEST_S,
        allow_none=True,
        load_default=None,
        metadata={"description": "Seconds for which the token is valid; null (the default) if it does not expire."},
    )


class NewToken(TokenView, frozen=True, kw_only=True):
    """A new token of the same player. Its secret is shown only here."""

    token: str


class TokenList(msgspec.Struct, frozen=True):
    """The tokens of a player that are valid, oldest first."""

    tokens: tuple[TokenView, ...]


@blueprint.at("/v1/me/tokens")
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(200, TokenList, description="The tokens.")
@blueprint.refuses(*STORE_PROBLEMS)
def list_tokens() -> Response:
    """List the player's tokens, without their secrets.

    `last_used_at` is written up to a minute later. Tokens of an older release have neither label nor `created_at`.
    """
    return answer(TokenList(accounts.list_tokens(context.ports(), context.caller(), _current())))


@blueprint.at("/v1/me/tokens", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.reads("Idempotency-Key")
@blueprint.takes(AddTokenSchema)
@blueprint.answers_with(201, NewToken, description="The token.")
@blueprint.refuses(*STORE_PROBLEMS, "too-many-tokens", "idempotency-key-reused")
def add_token(body: Mapping[str, Any]) -> Response:
    """Create a token, for example one that can only watch, or one that replaces another.

    A player has at most 50 tokens. For a day, a request that is repeated with the same `Idempotency-Key` gets the same token.
    """
    admission.admit_account_change()
    secret, token = accounts.add_token(
        context.ports(),
        context.caller(),
        label=body.get("label", ""),
        scopes=body["scopes"],
        seconds=body["expires_in"],
        key=context.command_key(),
    )
    return answer(NewToken(**msgspec.structs.asdict(token), token=secret), 201)


@blueprint.at("/v1/me/tokens/<token_id>", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(204, description="The token is revoked.")
@blueprint.refuses(*STORE_PROBLEMS, "token-not-found")
def revoke_token(token_id: str) -> Response:
    """Revoke a token by its id, in every process at once.

    Streams that were opened with it end.
    """
    accounts.revoke_token(context.ports(), context.caller(), _current(), token_id)
    return Response(status=204)


@blueprint.at("/v1/me/tokens/others", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(204, description="All other tokens are revoked.")
@blueprint.refuses(*STORE_PROBLEMS)
def revoke_other_tokens() -> Response:
    """Revoke all tokens of the player but that of this request, in every process at once."""
    accounts.revoke_others(context.ports(), context.caller(), _current())
    return Response(status=204)


@blueprint.at("/v1/me/tokens/current", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope=None)
@blueprint.answers_with(204, description="The token is revoked.")
@blueprint.refuses(*STORE_PROBLEMS)
def revoke_current_token() -> Response:
    """Revoke the token of this request, in every process at once.

    Streams that were opened with it end. Every token may do this.
    """
    accounts.revoke(context.ports(), auth.token(context.header(context.current_request(), "Authorization") or ""))
    return Response(status=204)


def _current() -> str:
    """The digest of the token of this request."""
    return auth.required(context.credential())
