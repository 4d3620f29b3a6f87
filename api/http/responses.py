"""Answers: structs in, JSON out, encoded by msgspec. Nothing else of the API makes JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from flask import Response
from werkzeug.datastructures import Headers

from api.http import etags
from service.match.model import Head

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

DOCUMENTED: Final[Mapping[str, Mapping[str, Any]]] = {
    "ETag": {
        "description": "The version that is answered, with the first 16 digits of its head: it names what happened in the "
        "match, the same for every seat, `include` and language.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "Where it can be read again.", "schema": {"type": "string"}},
    "Idempotent-Replay": {
        "description": "`true` where the command had been carried out before; this is its answer again.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}
"""Headers of answers as the reference describes them."""

_encode = msgspec.json.Encoder().encode


class Answer(Response):
    """An answer whose headers are sent as they stand: werkzeug would go through them twice, and find nothing to mend."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        del environ
        return self.headers


def answer(
    value: object, status: int = 200, *, head: Head | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer; with a head it gets that head's ETag."""
    told = dict(headers or {})
    if head is not None:
        told["ETag"] = etags.etag(head)
    return Answer(_encode(value), status, told, content_type="application/json")
