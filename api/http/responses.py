"""JSON responses from structs, encoded by msgspec."""

from collections.abc import Iterable, Mapping
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
        "description": "The version of the match in this answer, and the first 16 hex digits of its hash. It is the same for "
        "every seat, `include` and language.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "The address of the new resource.", "schema": {"type": "string"}},
    "Idempotent-Replay": {
        "description": "`true` if the command was carried out before; this is its first answer again.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}
"""Response headers as the reference describes them."""

_encode = msgspec.json.Encoder().encode


class Answer(Response):
    """A response whose headers and body are sent unchanged.

    werkzeug would check the headers twice, without effect, and would close the body, which has nothing to close.
    """

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        del environ
        return self.headers

    def get_app_iter(self, environ: "WSGIEnvironment") -> Iterable[bytes]:
        return () if environ["REQUEST_METHOD"] == "HEAD" else self.iter_encoded()


def answer(
    value: object, status: int = 200, *, head: Head | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response, with the ETag of `head` if it is given."""
    fields = dict(headers or {})
    if head is not None:
        fields["ETag"] = etags.etag(head)
    return Answer(_encode(value), status, fields, content_type="application/json")
