"""`/v1/players`, `/v1/me`, `/v1/recoveries`, `/v1/stream-tickets`: accounts, from sign-up to erasure."""

from collections.abc import Generator, Mapping
from typing import Any, Final

import msgspec
from flask import Response

from api.http import auth, context
from api.http.responses import answer
from api.requests import admission, strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import ref
from api.resources import stream_response
from service.errors import Refused
from service.repository.ports import LogUnavailable, Player
from service.subscriptions.frames import NDJSON
from service.usecases import accounts, erasure, recovery
from service.usecases.account_export import (
    ExportedAccount,
    ExportedEnd,
    ExportedLeftMatch,
    ExportedMatch,
    UnreadableMatch,
    export,
)

_FRAMES: Final = (ExportedAccount, ExportedMatch, ExportedLeftMatch, UnreadableMatch, ExportedEnd)
blueprint: Final = Blueprint("players", description="Accounts.", frames=_FRAMES)


class NewPlayerSchema(strict_fields.Schema):
    name = strict_fields.Name(required=True)


class ChangePlayerSchema(strict_fields.Schema):
    name = strict_fields.Name(required=True)


class RecoverSchema(strict_fields.Schema):
    recovery_code = strict_fields.String(100, shortest=1, required=True)


class SignedUp(msgspec.Struct, frozen=True):
    """A player with a new token. The secrets are shown only here.

    `recovery_code` is present at sign-up; a recovery does not change it.
    """

    player: Player
    token: str
    recovery_code: str | msgspec.UnsetType = msgspec.UNSET


class NewRecoveryCode(msgspec.Struct, frozen=True):
    """A recovery code. It is shown only here; the code before is not valid any more."""

    recovery_code: str


class NewTicket(msgspec.Struct, frozen=True):
    """A ticket for one stream. It is valid once, and for `expires_in` seconds."""

    ticket: str
    expires_in: int


@blueprint.at("/v1/players", methods=["POST"])
@blueprint.takes(NewPlayerSchema)
@blueprint.answers_with(201, SignedUp, description="The player, its token and its recovery code.")
@blueprint.refuses(*STORE_PROBLEMS)
def sign_up(body: Mapping[str, Any]) -> Response:
    """Create a player.

    Every request creates another one. The number of new players of an address is limited. The token has all scopes and
    does not expire; keep the recovery code somewhere else, for the case that the token is lost or stolen.
    """
    admission.admit_sign_up()
    player, token = accounts.sign_up(context.ports(), body["name"])
    return answer(SignedUp(player, token, recovery.renew_code(context.ports(), player)), 201)


@blueprint.at("/v1/recoveries", methods=["POST"])
@blueprint.takes(RecoverSchema)
@blueprint.answers_with(201, SignedUp, description="The player and a new token.")
@blueprint.refuses(*STORE_PROBLEMS, "recovery-code-invalid")
def recover(body: Mapping[str, Any]) -> Response:
    """Get a new token for a recovery code, and revoke all other tokens of its player.

    The code stays valid, so that a request whose answer was lost can be sent again. If others may know the code, renew
    it. Wrong codes are limited by address and by player.
    """
    admission.admit_recovery()
    code = body["recovery_code"]
    try:
        player, token = recovery.recover(context.ports(), code)
    except Refused:
        named = recovery.player_of(code)
        if named is not None:
            admission.count_wrong_code(named)
        raise
    return answer(SignedUp(player, token), 201)


@blueprint.at("/v1/me")
@blueprint.knows_caller(required=True, scope=None)
@blueprint.answers_with(200, Player, description="The player.")
@blueprint.refuses(*STORE_PROBLEMS)
def show_me() -> Response:
    """Show the player of the token.

    Seats and events contain its `id`.
    """
    return answer(context.caller())


@blueprint.at("/v1/me", methods=["PATCH"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.takes(ChangePlayerSchema)
@blueprint.answers_with(200, Player, description="The player.")
@blueprint.refuses(*STORE_PROBLEMS)
def change_player(body: Mapping[str, Any]) -> Response:
    """Change the player's name.

    Matches contain no names, so the new one is shown in old matches too.
    """
    admission.admit_account_change()
    return answer(accounts.rename(context.ports(), context.caller(), body["name"]))


@blueprint.at("/v1/me", methods=["DELETE"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(202, description="The account is erased; its seats are given up within seconds.")
@blueprint.refuses(*STORE_PROBLEMS)
def erase_player() -> Response:
    """Erase the account: at once its name, its tokens and its recovery code; this cannot be undone.

    Then the service resigns its running seats (those of a suspended match once it resumes), leaves its open matches and
    ends its seek. Events keep the player's `id`, without any name, so that matches stay verifiable. If the answer is
    lost, repeat the request: once the account is erased, the answer is `token-invalid`.
    """
    erasure.erase(context.ports(), context.caller().id)
    return Response(status=202)


@blueprint.at("/v1/me/recovery-code", methods=["POST"])
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(201, NewRecoveryCode, description="The recovery code.")
@blueprint.refuses(*STORE_PROBLEMS)
def renew_recovery_code() -> Response:
    """Replace the recovery code, or create the first one of a player who has none."""
    admission.admit_account_change()
    return answer(NewRecoveryCode(recovery.renew_code(context.ports(), context.caller())), 201)


_EXPORT: Final = {
    "type": "array",
    "description": "One JSON value per line: an `ExportedAccount`, then an `ExportedMatch` for each match, newest first, "
    "an `ExportedLeftMatch` for each in which the player had a seat only before its start, and finally an `ExportedEnd`. For a match "
    "that cannot be read there is an `UnreadableMatch`. An export without `ExportedEnd` was interrupted.",
    "items": {"oneOf": [ref(frame.__name__) for frame in _FRAMES]},
}


@blueprint.at("/v1/me/export")
@blueprint.knows_caller(required=True, scope="account")
@blueprint.answers_with(200, _EXPORT, description="What is stored of the player.", media_types=(NDJSON.media_type,))
@blueprint.refuses(*STORE_PROBLEMS, "too-many-streams")
def export_player() -> Response:
    """Download what is stored of the player: the account, and every match with the events and commands of the player.

    Everything is as the player's own seat sees it; of a match that the player left before its start, as a spectator.
    The download counts as a stream while it lasts. The number of exports of a player is limited.
    """
    admission.admit_export()
    streams = stream_response.streams()
    slot = streams.enter(stream_response.holder())
    digest = auth.required(context.credential())
    lines = _lines(context.caller(), digest)
    response = stream_response.respond(lines, NDJSON, slot)
    response.headers["Content-Disposition"] = 'attachment; filename="moonstone-account.ndjson"'
    return response


@blueprint.at("/v1/stream-tickets", methods=["POST"])
@blueprint.knows_caller(required=True, scope="watch")
@blueprint.answers_with(201, NewTicket, description="The ticket.")
@blueprint.refuses(*STORE_PROBLEMS)
def issue_ticket() -> Response:
    """Create a ticket for one stream, for clients that cannot send headers: use it as `?ticket=` in its address.

    A ticket works once, and only while the token that created it is valid. A browser's EventSource needs a new one
    after each disconnection. Tokens are not accepted in addresses.
    """
    ticket = accounts.issue_ticket(context.ports(), auth.required(context.credential()))
    return answer(NewTicket(ticket, accounts.TICKET_SECONDS), 201)


def _lines(player: Player, token_digest: str) -> Generator[bytes]:
    """The lines of an export, which need no request context.

    They end without the last one if the token becomes invalid, or if the log does not answer.
    """
    ports = context.ports()
    authorize = stream_response.authorize()

    def lines() -> Generator[bytes]:
        has_begun = False
        try:
            for line in export(ports, player, token_digest):
                authorize()
                yield msgspec.json.encode(line) + b"\n"
                has_begun = True
        except (Refused, LogUnavailable):
            if not has_begun:  # before the first line, this becomes the response
                raise

    return lines()
