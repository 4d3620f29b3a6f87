"""gzip for answers that are whole and worth it, where the client asks. Streams are never compressed: proxies hold them back."""

import gzip
from http import HTTPStatus
from typing import Final

from flask import Request, Response

from api.http import context

SMALLEST: Final = 1024
"""Bytes; below that the headers cost more than is saved."""

_LEVEL: Final = 5
_TYPES: Final = frozenset(
    {"application/json", "application/problem+json", "application/x-ndjson", "application/yaml", "image/svg+xml"}
)


def compress(asked: Request, response: Response) -> None:
    """Compress the answer's body and weaken its ETag, for it is another sequence of bytes of the same thing."""
    headers = response.headers
    if headers.get("Content-Type") not in _TYPES:
        return
    if response.status_code == HTTPStatus.NOT_MODIFIED:
        # A cache looks for the answer that this one stands for by its tag, weak as it was sent (RFC 9111, 4.3.4).
        headers.add("Vary", "Accept-Encoding")
        if _wanted(asked):
            _weaken(response)
        return
    # A stream has no length.
    if int(headers.get("Content-Length") or 0) < SMALLEST or response.direct_passthrough:
        return
    headers.add("Vary", "Accept-Encoding")
    if _wanted(asked):
        response.set_data(gzip.compress(response.get_data(), _LEVEL, mtime=0))
        headers["Content-Encoding"] = "gzip"
        _weaken(response)


def _wanted(asked: Request) -> bool:
    return context.header(asked, "Accept-Encoding") is not None and asked.accept_encodings.quality("gzip") > 0


def _weaken(response: Response) -> None:
    tag, is_weak = response.get_etag()
    if tag is not None and not is_weak:
        response.set_etag(tag, weak=True)
