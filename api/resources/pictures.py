"""`/v1/matches/{match_id}/board.svg`: the table as a picture."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Response

from api.http import context, etags, languages
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from api.resources.matches import LOOK_PROBLEMS, VIEWS, LookSchema, look
from service.match import texts
from service.match.model import Match, Viewer
from service.views import pictures

blueprint: Final = Blueprint("pictures", description="Pictures of a match at any version.")

MEDIA_TYPE: Final = "image/svg+xml"
POLICY: Final = f"default-src 'none'; style-src {pictures.POLICY_SOURCE}; sandbox"
"""The policy of a picture that is opened as a page: it may use only its own style sheet."""
FOR_EVER: Final = "public, max-age=31536000, immutable"
_HEADERS: Final = {
    "ETag": {
        "description": "The version, the first 16 hex digits of its hash, the revision of the drawing code, the language, and "
        "the seat of the viewer (`s` for a spectator, `all` with `view=now`).",
        "schema": {"type": "string"},
    },
    "Cache-Control": {
        "description": "`public, immutable` for a given `version` of a public match, as a spectator or after the end; "
        "otherwise `private, no-store`.",
        "schema": {"type": "string"},
    },
}


class BoardQuerySchema(LookSchema):
    view = strict_fields.Choice(
        *VIEWS,
        metadata={
            "description": "`then` (the default): what the viewer knew at that version. `now` (after the end of the match): "
            "the table as every seat knew it, one below the other; `viewer` does not matter then."
        },
    )
    language = strict_fields.Choice(
        *texts.LANGUAGES,
        metadata={"description": "The language of the words in it; by default that of `Accept-Language`."},
    )
    highlight = strict_fields.Flag(
        load_default=False, metadata={"description": "Whether to mark what the event of this version changed."}
    )


@blueprint.at("/v1/matches/<match_id>/board.svg")
@blueprint.knows_caller(required=False, scope="watch")
@blueprint.reads("If-None-Match", "Accept-Language")
@blueprint.takes(BoardQuerySchema, location="query")
@blueprint.answers_with(
    200, {"type": "string"}, description="The picture, an SVG document.", media_types=(MEDIA_TYPE,), headers=_HEADERS
)
@blueprint.answers_with(304, description="The picture that the caller has.")
@blueprint.refuses(*LOOK_PROBLEMS)
def draw_board(query: Mapping[str, Any], match_id: str) -> Response:
    """Draw a match as the caller's seat or a spectator sees it, at its newest version or at any `version`.

    The picture shows only what `GET /v1/matches/{match_id}` shows to the same viewer. Before the start it shows which seats
    are taken. An `<img>` sends no token, so it shows what a spectator sees. An element that an action can name has `data-`
    attributes with the names and values of the action's fields, on itself or on the groups around it. An `id` means the same
    thing in every version; with `view=now`, those of a seat begin with `view-<seat>-`.
    """
    match, viewer = look(match_id, query)
    history = context.ports().history
    is_now = query.get("view") == "now"
    seen_by = pictures.every_seat(history, match) if is_now else viewer
    language = query.get("language") or languages.preferred()
    drawing = f"{pictures.REVISION}-{language}-{'all' if is_now else 's' if viewer is None else viewer}"
    tags = etags.parse("If-None-Match", context.header(context.current_request(), "If-None-Match"))
    if etags.matches(tags, match.head, drawing):
        response = Response(status=HTTPStatus.NOT_MODIFIED, content_type=MEDIA_TYPE)
    else:
        picture = pictures.board(history, match, seen_by, language, highlight=query["highlight"])
        response = Response(picture, content_type=MEDIA_TYPE, headers={"Content-Security-Policy": POLICY})
    response.headers["ETag"] = etags.etag(match.head, drawing)
    response.headers["Cache-Control"] = (
        FOR_EVER if _is_for_ever(match_id, match, viewer, query) else "private, no-store"
    )
    response.vary.add("Authorization")
    return response if "language" in query else languages.label(response, language)


def _is_for_ever(match_id: str, match: Match, viewer: Viewer, query: Mapping[str, Any]) -> bool:
    """Whether the picture is public, and the same for ever at this address."""
    if match.created.private or "version" not in query:
        return False
    return viewer is None or context.ports().history.newest(match_id)[0].is_over
