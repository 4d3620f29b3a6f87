"""`/problems`: the cause and remedy of every problem code, for people and for programs."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

import msgspec
from flask import Response, request

from api.http.headers import PAGE
from api.http.responses import answer
from api.problems.examples import example
from api.problems.types import PROBLEM_TYPES
from api.requests.blueprint import Blueprint
from service.errors import Refused

blueprint: Final = Blueprint("problems", description="What each problem code means.")

_SHOWN: Final = {"Cache-Control": "public, max-age=3600", "Vary": "Accept"}


class ProblemPage(msgspec.Struct, frozen=True):
    """A problem code with its status, cause, remedy, and an example."""

    code: str
    status: int
    title: str
    cause: str
    remedy: str
    retryable: bool
    example: Mapping[str, Any]


class ProblemPages(msgspec.Struct, frozen=True):
    """All problem codes."""

    problems: tuple[ProblemPage, ...]


_PAGES: Final = {
    code: ProblemPage(
        code, kind.status, kind.title, kind.cause, kind.remedy, kind.retry_after is not None, example(code)
    )
    for code, kind in PROBLEM_TYPES.items()
}


def _html(title: str, body: str) -> Response:
    page = (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title></head>\n'
        f"<body>\n<main>\n<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
    return Response(page, headers={**_SHOWN, **PAGE}, content_type="text/html; charset=utf-8")


def _wants_html() -> bool:
    """Whether the Accept header prefers HTML; JSON is the default.

    Raises:
        Refused: `not-acceptable`.
    """
    if not request.accept_mimetypes:
        return False
    best: str | None = request.accept_mimetypes.best_match(("application/json", "text/html"))
    if best is None:
        raise Refused("not-acceptable", "Problem pages are application/json or text/html.")
    return best == "text/html"


@blueprint.at("/problems")
@blueprint.answers_with(
    200, ProblemPages, description="All problem codes.", media_types=("application/json", "text/html")
)
@blueprint.refuses("not-acceptable")
@blueprint.leads_to(200, show_problem={"code": "$response.body#/problems/0/code"})
def list_problems() -> Response:
    """List all problem codes.

    As JSON for programs, or as a page for people if `Accept` prefers `text/html`.
    """
    if not _wants_html():
        return answer(ProblemPages(tuple(_PAGES.values())), headers=_SHOWN)
    items = "\n".join(
        f'<li><a href="problems/{code}">{code}</a> ({page.status}): {escape(page.title)}</li>'
        for code, page in _PAGES.items()
    )
    return _html("Problems", f"<ul>\n{items}\n</ul>")


@blueprint.at("/problems/<code>")
@blueprint.answers_with(
    200, ProblemPage, description="The problem code.", media_types=("application/json", "text/html")
)
@blueprint.refuses("not-acceptable", "not-found")
def show_problem(code: str) -> Response:
    """Explain a problem code.

    The `type` of every problem document is this address.
    """
    page = _PAGES.get(code)
    if page is None:
        raise Refused("not-found", "There is no problem with this code.")
    if not _wants_html():
        return answer(page, headers=_SHOWN)
    repeat = "The same request may succeed later." if page.retryable else "The same request will fail again."
    return _html(
        page.title,
        f"<p><code>{page.code}</code>, status {page.status}</p>\n"
        f"<h2>Cause</h2>\n<p>{escape(page.cause)}</p>\n<h2>Remedy</h2>\n<p>{escape(page.remedy)}</p>\n<p>{repeat}</p>\n"
        f"<h2>Example</h2>\n<pre>{escape(json.dumps(page.example, indent=2, ensure_ascii=False))}</pre>",
    )
