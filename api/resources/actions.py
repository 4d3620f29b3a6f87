"""`/v1/matches/{match_id}/actions` and `/legal-actions`: act, and list the legal actions."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from flask import Response
from msgspec.structs import replace

from api.http import context, etags, languages
from api.http.responses import DOCUMENTED, answer
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from api.resources.matches import LOOK_PROBLEMS, MAX_SEATS, TEXTS, LookSchema, look, unchanged
from api.resources.seats import CONDITIONAL_PROBLEMS
from service.match import redaction, texts
from service.usecases import bot_records, play

MOVES: Final = "moves"
"""The rate limit of actions. It is separate, so that a client that reads too much can still play."""

blueprint: Final = Blueprint("actions", description="List legal actions, and act.")


class ActSchema(strict_fields.Schema):
    action = strict_fields.Object(component="Action", required=True)
    seat = strict_fields.Integer(0, MAX_SEATS - 1, allow_none=True)
    decision = strict_fields.String(40, shortest=1)


class ActQuerySchema(strict_fields.Schema):
    dry_run = strict_fields.Flag(
        load_default=False, metadata={"description": "Only check whether the action is legal."}
    )
    include = strict_fields.Choice(
        TEXTS, metadata={"description": "`texts`: adds a `text` to the event and to the decisions of the receipt."}
    )


class LegalQuerySchema(LookSchema):
    include = strict_fields.Choice(
        TEXTS, metadata={"description": "`texts`: adds a `text` to each decision, and `texts` of the actions."}
    )


class LegalActions(msgspec.Struct, frozen=True, omit_defaults=True):
    """The legal actions of a seat at a version; empty for a spectator. A pattern in an entry stands for many actions.

    `texts`, if requested, describes each action in words, in the same order.
    """

    version: int
    head: str
    decisions: tuple[redaction.SeenDecision, ...]
    actions: tuple[Any, ...]
    texts: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Legal(msgspec.Struct, frozen=True):
    """The action would be accepted now."""

    legal: bool


@blueprint.at("/v1/matches/<match_id>/legal-actions")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("If-None-Match", "Accept-Language")
@blueprint.takes(LegalQuerySchema, location="query")
@blueprint.answers_with(200, LegalActions, description="The list.", headers={"ETag": DOCUMENTED["ETag"]})
@blueprint.answers_with(304, description="The version that the caller has.")
@blueprint.refuses(*LOOK_PROBLEMS)
def list_legal_actions(query: Mapping[str, Any], match_id: str) -> Response:
    """List the legal actions of the caller's seat, in a fixed order.

    If a decision has a later `opens_at`, these are the actions for that time; before it, each is refused as `too-early`. An
    entry may contain a pattern (`Pattern`) that stands for many actions: choose one of them.
    """
    match, viewer = look(match_id, query)
    if (same := unchanged(match, query)) is not None:
        return same
    decisions = redaction.see_decisions(match, viewer)
    actions = redaction.legal_actions(match, viewer)
    listed = LegalActions(match.head.version, match.head.hash, decisions, actions)
    if "include" not in query:
        return answer(listed, head=match.head)
    language = languages.preferred()
    worded = replace(
        listed,
        decisions=texts.decisions_with_text(match.game, language, decisions),
        texts=texts.action_texts(match.game, language, actions),
    )
    return languages.label(answer(worded, head=match.head), language)


@blueprint.at("/v1/matches/<match_id>/actions", methods=["POST"])
@blueprint.knows_caller(required=True, scope="play")
@blueprint.counts_as(MOVES)
@blueprint.reads("Idempotency-Key", "If-Match", "Accept-Language")
@blueprint.takes(ActQuerySchema, location="query")
@blueprint.takes(ActSchema)
@blueprint.answers_with(200, Legal, description="A dry run: the action would be accepted.")
@blueprint.answers_with(
    201,
    play.Receipt,
    description="The action is in the match.",
    headers={name: DOCUMENTED[name] for name in ("ETag", "Location", "Idempotent-Replay")},
)
@blueprint.refuses(
    "not-seated",
    "not-your-seat",
    "match-not-running",
    "match-over",
    "match-suspended",
    "decision-closed",
    "not-your-turn",
    "too-late",
    "too-early",
    "invalid-action",
    "illegal-action",
    *CONDITIONAL_PROBLEMS,
)
@blueprint.leads_to(
    201,
    show_match={"match_id": "$response.body#/match", "version": "$response.body#/version"},
    list_events={"match_id": "$response.body#/match", "after": "$response.body#/version"},
)
def act(query: Mapping[str, Any], body: Mapping[str, Any], match_id: str) -> Response:
    """Send an action. `seat` and `decision` are checked if they are present.

    The server's time of receipt counts for deadlines. Without If-Match, an action is judged by the newest version of the
    match: first come, first served. In a simultaneous game, a decision is closed by its seat's own action or by the end of
    the round, and not by the actions of others. An action that arrives after the end of its round is refused by the rules,
    with a reason such as `round-over`; after the end of the match, with `match-over`.

    With `dry_run` nothing changes: the answer says that the action is legal, or why it is not.
    """
    ports, player = context.ports(), context.caller().id
    wanted = play.ActionRequest(**body)
    if_match = etags.wanted_heads(context.header(context.current_request(), "If-Match"))
    if query["dry_run"]:
        play.judge(ports, player, match_id, wanted, if_match)
        return answer(Legal(True))
    key = context.command_key()
    acted = play.act(ports, player, match_id, wanted, key, if_match)
    bot_records.note_action(ports, player, key)
    headers = {"Location": f"/v1/matches/{match_id}?version={acted.match.head.version}"}
    if acted.replayed:
        headers["Idempotent-Replay"] = "true"
    receipt, head = play.receipt(ports, acted, player), acted.match.head
    if "include" not in query:
        return answer(receipt, 201, head=head, headers=headers)
    game, language = acted.match.game, languages.preferred()
    worded = replace(
        receipt,
        event=texts.with_text(game, language, receipt.event),
        decisions=texts.decisions_with_text(game, language, receipt.decisions),
    )
    return languages.label(answer(worded, 201, head=head, headers=headers), language)
