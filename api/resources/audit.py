"""`/v1/matches/{match_id}/audit`: the service verifies its own log, with the same code as `moonstone verify`."""

from typing import Final

from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests.blueprint import Blueprint
from api.resources.matches import LOOK_PROBLEMS, look
from service.audit import public_audit
from service.repository.limits import Policy

blueprint: Final = Blueprint("audit", description="Verification of stored matches.")

WINDOW: Final = 60
"""Seconds for the quota of audits of a caller. Limited, since each audit decides the whole match again."""


@blueprint.at("/v1/matches/<match_id>/audit")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.answers_with(200, public_audit.Audit, description="Each check and its result.")
@blueprint.refuses(*(code for code in LOOK_PROBLEMS if code not in {"version-not-found", "not-your-seat"}))
def audit_match(match_id: str) -> Response:
    """Verify the stored events of a match.

    After the end, the audit checks the hash chain, the draws against the revealed seed, the effects, the actions and the
    outcome. Before the end it checks only the chain.
    """
    match, _ = look(match_id, {})
    quota = context.container().settings.audits_by_caller
    context.take(Policy("audits", quota, WINDOW), context.caller_id() or context.address())
    return answer(public_audit.audit(context.ports(), match))
