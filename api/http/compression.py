"""gzip for complete responses of a minimum size, if the client accepts it.

Streams are never compressed, because proxies would buffer them.
"""

import gzip
from http import HTTPStatus
from typing import Final

from flask import Request, Response

from api.http import context

SMALLEST: Final = 1024
"""Minimum size in bytes. Below it, the additional headers cost more than compression saves."""

_LEVEL: Final = 5
_TYPES: Final = frozenset(
    {
        "application/json",
        "application/problem+json",
        "application/x-ndjson",
        "application/yaml",
        "image/svg+xml",
        "text/css; charset=utf-8",
        "text/html; charset=utf-8",
        "text/javascript; charset=utf-8",
    }
)


def compress(request: Request, response: Response) -> None:
    """Compress the body and weaken its ETag, since the same content now has other bytes."""
    headers = response.headers
    if headers.get("Content-Type") not in _TYPES:
        return
    if response.status_code == HTTPStatus.NOT_MODIFIED:
        # A cache finds its stored response by the tag, which was weak when it was sent (RFC 9111, 4.3.4).
        # A file that is passed through was not compressed, so its tag stays strong.
        headers.add("Vary", "Accept-Encoding")
        if _wanted(request) and not response.direct_passthrough:
            _weaken(response)
        return
    # A stream has no Content-Length.
    if int(headers.get("Content-Length") or 0) < SMALLEST or response.direct_passthrough:
        return
    headers.add("Vary", "Accept-Encoding")
    if _wanted(request):
        response.set_data(gzip.compress(response.get_data(), _LEVEL, mtime=0))
        headers["Content-Encoding"] = "gzip"
        _weaken(response)


def _wanted(request: Request) -> bool:
    return context.header(request, "Accept-Encoding") is not None and request.accept_encodings.quality("gzip") > 0


def _weaken(response: Response) -> None:
    tag, is_weak = response.get_etag()
    if tag is not None and not is_weak:
        response.set_etag(tag, weak=True)
