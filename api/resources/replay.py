"""`/v1/matches/{match_id}/timeline` and `/diff`: views for replays."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from flask import Response

from api.http import context, languages
from api.http.responses import DOCUMENTED, answer
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from api.resources.matches import LOOK_PROBLEMS, MAX_SEATS, MAX_VERSION, VIEWER, look
from service.errors import Refused
from service.match.model import Match, Version
from service.views.replay import Moment, SeenEffect, changes, moments

blueprint: Final = Blueprint(
    "replay", description="Replays: a match line by line, and what changed between two versions."
)

PAGE: Final = 100
LONGEST_PAGE: Final = 500
LONGEST_DIFF: Final = 500
"""Maximum number of versions between the two versions of a diff."""


class Timeline(msgspec.Struct, frozen=True):
    """A page of lines, one for each version; `next` is the address of the next page, null after the newest version."""

    moments: tuple[Moment, ...]
    version: Version
    head: str
    next: str | None


class Diff(msgspec.Struct, frozen=True, rename={"first": "from", "last": "to"}):
    """The effects of the events after version `from`, up to and including version `to`."""

    first: Version
    last: Version
    effects: tuple[SeenEffect, ...]


class TimelineQuerySchema(strict_fields.Schema):
    after = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        metadata={"description": "The version after which the page begins."},
    )
    limit = strict_fields.DecimalInteger(
        1, LONGEST_PAGE, metadata={"description": f"Maximum number of lines in the page, {PAGE} by default."}
    )
    viewer = strict_fields.DecimalInteger(0, MAX_SEATS - 1, metadata={"description": VIEWER})


class DiffQuerySchema(strict_fields.Schema):
    first = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        data_key="from",
        metadata={"description": "The earlier version; 0 is before the first event."},
    )
    last = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        data_key="to",
        metadata={
            "description": f"The later version, at most {LONGEST_DIFF} after the earlier one; by default the newest."
        },
    )
    viewer = strict_fields.DecimalInteger(0, MAX_SEATS - 1, metadata={"description": VIEWER})


@blueprint.at("/v1/matches/<match_id>/timeline")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("Accept-Language")
@blueprint.takes(TimelineQuerySchema, location="query")
@blueprint.answers_with(200, Timeline, description="A page of the replay.", headers={"ETag": DOCUMENTED["ETag"]})
@blueprint.refuses(*LOOK_PROBLEMS)
def show_timeline(query: Mapping[str, Any], match_id: str) -> Response:
    """Read a match as a replay: for every version, a description in words and the points of each seat.

    It has only what the viewer may know: points that follow from hidden information are not counted until it is shown. A
    client can build a scrubber and a curve of the scores from it; `GET /v1/matches/{match_id}?version=` and
    `…/board.svg?version=` show the table at each version. A version never changes, so addresses with a version are stable.
    """
    match, viewer = look(match_id, query)
    after, language = query["after"], languages.preferred()
    _require_version(match, after)
    history = context.ports().history
    page = tuple(moments(history, match, viewer, language, after, query.get("limit", PAGE)))
    following = None
    if page and page[-1].version < match.head.version:
        wanted = {"after": page[-1].version} | {name: query[name] for name in ("limit", "viewer") if name in query}
        following = f"/v1/matches/{match.id}/timeline?{urlencode(wanted)}"
    timeline = Timeline(page, match.head.version, match.head.hash, following)
    return languages.label(answer(timeline, head=match.head), language)


@blueprint.at("/v1/matches/<match_id>/diff")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("Accept-Language")
@blueprint.takes(DiffQuerySchema, location="query")
@blueprint.answers_with(200, Diff, description="The effects between the two versions.")
@blueprint.refuses(*LOOK_PROBLEMS)
def show_diff(query: Mapping[str, Any], match_id: str) -> Response:
    """List the effects that lead from one version of a match to a later one, each with a text.

    Applied to an observation of the earlier version, they give that of the later version.
    """
    match, viewer = look(match_id, query)
    first, last = query["first"], query.get("last", match.head.version)
    _require_version(match, last)
    if first > last:
        raise Refused("invalid-parameter", "`from` must not be greater than `to`.", parameter="from")
    if last - first > LONGEST_DIFF:
        raise Refused(
            "invalid-parameter", f"`to` must be at most {LONGEST_DIFF} versions after `from`.", parameter="to"
        )
    language = languages.preferred()
    effects = changes(context.ports().history, match, viewer, language, first, last)
    return languages.label(answer(Diff(first, last, tuple(effects))), language)


def _require_version(match: Match, version: Version) -> None:
    """Raises Refused (`version-not-found`) if the match does not have this version yet."""
    newest = match.head.version
    if version > newest:
        raise Refused("version-not-found", f"The match has versions 1 to {newest}.", version=newest)
