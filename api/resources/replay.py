"""`/v1/matches/{match_id}/timeline` and `/diff`: what a replay of a match needs."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from flask import Response

from api.http import context, languages
from api.http.responses import DOCUMENTED, answer
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from api.resources.matches import LOOK_PROBLEMS, MAX_SEATS, MAX_VERSION, VIEWER
from service.errors import Refused
from service.match.model import Match, Version, Viewer
from service.match.redaction import viewer_of
from service.views.replay import Moment, SeenEffect, changes, moments

blueprint: Final = Blueprint(
    "replay", description="Replays: a match line by line, and what changed between two versions."
)

PAGE: Final = 100
LONGEST_PAGE: Final = 500
LONGEST_DIFF: Final = 500
"""Versions between which a diff is made at most."""


class Timeline(msgspec.Struct, frozen=True):
    """A page of lines, one for each version; `next` is the address of the next page, null after the newest version."""

    moments: tuple[Moment, ...]
    version: Version
    head: str
    next: str | None


class Diff(msgspec.Struct, frozen=True, rename={"first": "from", "last": "to"}):
    """The effects of the events after the version `from`, up to those of the version `to`."""

    first: Version
    last: Version
    effects: tuple[SeenEffect, ...]


class TimelineQuerySchema(strict_fields.Schema):
    after = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        metadata={"description": "The version after which the page begins; 0 by itself."},
    )
    limit = strict_fields.DecimalInteger(
        1, LONGEST_PAGE, metadata={"description": f"Lines in a page, {PAGE} if it is left out."}
    )
    viewer = strict_fields.DecimalInteger(0, MAX_SEATS - 1, metadata={"description": VIEWER})


class DiffQuerySchema(strict_fields.Schema):
    first = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        data_key="from",
        metadata={"description": "The earlier version; 0, which is before the first event, if it is left out."},
    )
    last = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        data_key="to",
        metadata={
            "description": f"The later version, at most {LONGEST_DIFF} after the earlier one; the newest if it is left out."
        },
    )
    viewer = strict_fields.DecimalInteger(0, MAX_SEATS - 1, metadata={"description": VIEWER})


@blueprint.at("/v1/matches/<match_id>/timeline")
@blueprint.knows_caller(required=False)
@blueprint.reads("Accept-Language")
@blueprint.takes(TimelineQuerySchema, location="query")
@blueprint.answers_with(200, Timeline, description="A page of the replay.", headers={"ETag": DOCUMENTED["ETag"]})
@blueprint.refuses(*LOOK_PROBLEMS)
def show_timeline(query: Mapping[str, Any], match_id: str) -> Response:
    """Read a match as a replay: for every version what happened in words, and the points of each seat after it.

    It holds what the viewer may know, and no more: points that follow from something hidden count for nobody before it is
    shown. That is enough for a scrubber and a curve of the scores; `GET /v1/matches/{match_id}?version=` and
    `…/board.svg?version=` show the table at each version. A version never changes, so that addresses that name one last.
    """
    match, viewer = _look(match_id, query)
    after, language = query["after"], languages.wanted()
    history = context.ports().history
    page = tuple(moments(history, match, viewer, language, after, query.get("limit", PAGE)))
    following = None
    if page and page[-1].version < match.head.version:
        wanted = {"after": page[-1].version} | {name: query[name] for name in ("limit", "viewer") if name in query}
        following = f"/v1/matches/{match.id}/timeline?{urlencode(wanted)}"
    timeline = Timeline(page, match.head.version, match.head.hash, following)
    return languages.tell(answer(timeline, head=match.head), language)


@blueprint.at("/v1/matches/<match_id>/diff")
@blueprint.knows_caller(required=False)
@blueprint.reads("Accept-Language")
@blueprint.takes(DiffQuerySchema, location="query")
@blueprint.answers_with(200, Diff, description="The effects between the two versions.")
@blueprint.refuses(*LOOK_PROBLEMS)
def show_diff(query: Mapping[str, Any], match_id: str) -> Response:
    """List the effects that lead from one version of a match to a later one, each also in words.

    Applied to an observation of the earlier version they give the later one.
    """
    match, viewer = _look(match_id, query)
    newest = match.head.version
    first, last = query["first"], query.get("last", newest)
    if last > newest:
        raise Refused("version-not-found", f"The match has versions 1 to {newest}.", version=newest)
    if first > last:
        raise Refused("invalid-parameter", "`from` is the earlier version, at most `to`.", parameter="from")
    if last - first > LONGEST_DIFF:
        raise Refused("invalid-parameter", f"`to` is at most {LONGEST_DIFF} versions after `from`.", parameter="to")
    language = languages.wanted()
    effects = changes(context.ports().history, match, viewer, language, first, last)
    return languages.tell(answer(Diff(first, last, tuple(effects))), language)


def _look(match_id: str, query: Mapping[str, Any]) -> tuple[Match, Viewer]:
    match, _ = context.ports().history.newest(match_id)
    return match, viewer_of(match, context.caller_id(), query.get("viewer"))
