"""`/` and `/web/…`: the web client. Its files are those of `api/web/`, as they are, and it uses only the public API.

All files are read once, when this module is imported. A path of a request is only looked up in a table and never reaches the
disk. Files other than the page have the revision of the whole client in their address: they may be cached for ever, and a
browser never mixes the files of two releases.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import flask
import msgspec
from flask import Response

from api.http import context, etags
from api.http.headers import PAGE
from api.requests.blueprint import UNCOUNTED, Blueprint
from service.errors import Refused
from service.views.pictures import POLICY_SOURCE

blueprint: Final = flask.Blueprint("web", __name__)

_FOLDER: Final = Path(__file__).parents[1] / "web"
_PAGE_NAME: Final = "index.html"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_REVISION: Final = "{revision}"
"""What stands for the revision in the page."""
_PRELOAD: Final = "{preload}\n"
"""What stands for links to the modules that the page needs first, so that a browser requests them all at once."""
_FIRST_MODULE: Final = "main.js"
_IMPORT: Final = re.compile(r'^import [^;]*?from "\./([^"]+)";', re.MULTILINE)
_IMPORT_MAP: Final = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)


class WebFile(msgspec.Struct, frozen=True):
    """A file with its media type and its ETag (without quotes), the start of its SHA-256."""

    content: bytes
    media_type: str
    tag: str


def _file(content: bytes, suffix: str) -> WebFile:
    return WebFile(content, _TYPES[suffix], hashlib.sha256(content).hexdigest()[:32])


def _read() -> Mapping[str, WebFile]:
    """The files of the client by their path below `api/web/`, with slashes."""
    paths = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    return {path.relative_to(_FOLDER).as_posix(): _file(path.read_bytes(), path.suffix) for path in sorted(paths)}


FILES: Final = _read()
REVISION: Final = hashlib.sha256("".join(f"{name} {file.tag}\n" for name, file in FILES.items()).encode()).hexdigest()[
    :16
]
"""The start of a hash of all files and their names."""


def _imported(name: str, found: dict[str, None]) -> dict[str, None]:
    """A module and the client's modules that it imports, directly or through others, in this order."""
    if name not in found:
        found[name] = None
        for other in _IMPORT.findall(FILES[name].content.decode()):
            _imported(other, found)
    return found


def _page() -> WebFile:
    libraries = [name for name in FILES if name.startswith("vendor/") and name.endswith(".js")]
    first = [*_imported(_FIRST_MODULE, {}), *libraries]
    links = "".join(f'<link rel="modulepreload" href="web/{_REVISION}/{name}">\n' for name in first)
    page = FILES[_PAGE_NAME].content.decode().replace(_PRELOAD, links).replace(_REVISION, REVISION)
    return _file(page.encode(), ".html")


def _policy(page: str) -> str:
    """The Content-Security-Policy of the page: its own files, the import map in it, and the style sheet of pictures.

    Trusted Types forbid that strings become code or markup, except through the policy with which `drawing.js` parses pictures.
    """
    import_map = _IMPORT_MAP.search(page)
    if import_map is None:
        raise ValueError("the page has no import map")
    digest = b64encode(hashlib.sha256(import_map[1].encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self' {POLICY_SOURCE}; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types picture"
    )


_INDEX: Final = _page()
POLICY: Final = _policy(_INDEX.content.decode())


@blueprint.get("/")
@Blueprint.ignores_query
def page() -> Response:
    return _send(_INDEX, **{**PAGE, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY})


@blueprint.get("/web/<revision>/<path:name>")
@Blueprint.counts_as(UNCOUNTED)
def asset(revision: str, name: str) -> Response:
    """A file of the client. It is not counted: several people of one address load all files at the same time."""
    file = FILES.get(name)
    if revision != REVISION or file is None:
        raise Refused("not-found", "The web client of this release has no such file; load its page again.")
    return _send(file, **{"Cache-Control": _FOR_EVER})


def _send(file: WebFile, **headers: str) -> Response:
    tags = etags.parse("If-None-Match", context.header(context.current_request(), "If-None-Match"))
    if tags is None or file.tag in tags:
        response = Response(status=HTTPStatus.NOT_MODIFIED, content_type=file.media_type, headers=headers)
    else:
        response = Response(file.content, content_type=file.media_type, headers=headers)
    response.set_etag(file.tag)
    return response
