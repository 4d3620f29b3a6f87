"""`/openapi.yaml`, `/openapi.json` and `/docs`: the reference as a file and as a page, without any other host."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Final

import flask
from flask import Response, current_app, request, send_from_directory
from werkzeug.exceptions import PreconditionFailed
from werkzeug.http import parse_date

from api.http import context
from api.http.headers import PAGE
from api.requests.blueprint import Blueprint
from service.errors import Refused

blueprint: Final = flask.Blueprint("docs", __name__)

REFERENCE: Final = "moonstone.reference"
"""The key in `app.extensions` of the functions that return the reference, by format."""

_DIST: Final = Path(str(files("flask_swagger_ui"))) / "dist"
_FILES: Final = frozenset({"swagger-ui-bundle.js", "swagger-ui.css", "favicon-16x16.png", "favicon-32x32.png"})
_DATED: Final = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE")
_PUBLIC: Final = {"Cache-Control": "public, max-age=3600"}
# Swagger UI's icons are data: images. It needs no inline scripts, no inline styles and no other host.
_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Moonstone: reference</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<div id="reference"></div>
<noscript><p>This page needs JavaScript; <a href="openapi.yaml">openapi.yaml</a> has the same content.</p></noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

_START: Final = """SwaggerUIBundle({url: "openapi.yaml", dom_id: "#reference", deepLinking: true, validatorUrl: null});
"""


@blueprint.before_request
def ignore_invalid_dates() -> None:
    """Remove conditional headers with an invalid date: they must be ignored (RFC 9110, 13.1.3), but werkzeug fails."""
    for name in _DATED:
        try:
            parse_date(request.environ.get(name))
        except (OverflowError, ValueError):
            del request.environ[name]


@blueprint.get("/openapi.yaml", endpoint="yaml")
@blueprint.get("/openapi.json", endpoint="json")
def openapi() -> Response:
    form = context.current_request().path.rpartition(".")[2]
    written: Mapping[str, Callable[[], bytes]] = current_app.extensions[REFERENCE]
    response = Response(written[form](), headers=_PUBLIC, content_type=f"application/{form}")
    response.add_etag()
    response.make_conditional(request)
    return _checked(response)


@blueprint.get("/docs")
@Blueprint.ignores_query
def page() -> Response:
    return Response(
        _PAGE, headers={**_PUBLIC, **PAGE, "Content-Security-Policy": _CSP}, content_type="text/html; charset=utf-8"
    )


@blueprint.get("/docs/start.js")
def start() -> Response:
    return Response(_START, headers=_PUBLIC, content_type="text/javascript; charset=utf-8")


@blueprint.get("/docs/<name>")
def asset(name: str) -> Response:
    if name not in _FILES:
        raise Refused("not-found", "The reference has no such file.")
    return _checked(send_from_directory(_DIST, name, max_age=3600))


def _checked(response: Response) -> Response:
    """The response itself. A failed precondition is raised instead, so that it becomes a problem document."""
    if response.status_code == HTTPStatus.PRECONDITION_FAILED:
        response.close()
        raise PreconditionFailed
    return response
