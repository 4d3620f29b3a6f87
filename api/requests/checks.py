"""Checks of every request before its view: framing, size, host, token, rate limit, clock, headers, body, in this order.

Cheap checks come first: a request that is refused early reads nothing from the socket.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

from flask import Flask, Request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from api.http import auth, context, rate_limit
from api.http.bodies import MAX_BODY
from api.problems import documents
from api.requests.blueprint import UNCOUNTED, Operation, operation_of
from api.requests.request_headers import judge, name_of
from service.addresses import host_of
from service.errors import Refused
from service.repository.accounts import SCOPES, Scope, Session
from service.repository.limits import Limits, Policy

WRITES: Final = frozenset({"POST", "PUT", "PATCH"})
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
SUPPORTED_BY_SOME: Final = {
    "Idempotency-Key": "a repeated request is carried out again",
    "If-Match": "the request is carried out at any version",
}
"""Headers of writes that must not be ignored, and what happens without support."""

RATE_WINDOW: Final = 10
"""Seconds for the quota of requests of a token, or of an address without a token."""

_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""Names of UTF-8, and of its subset ASCII, in a Content-Type."""


def framing(request: Request, _: Operation) -> None:
    """Refuse a body with too large a Content-Length, with an unknown transfer coding, or for a method without a body."""
    length = request.content_length or 0
    coding = context.header(request, "Transfer-Encoding")
    if coding is not None and coding.lower() != "chunked":
        raise Refused("bad-request", "The only supported Transfer-Encoding is chunked, alone.")
    if length > MAX_BODY:
        raise RequestEntityTooLarge
    if (length or coding) and request.endpoint is not None and request.method not in WRITES:
        raise Refused("bad-request", f"{request.method} takes no body.")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Refuses a Host that is missing, malformed, or not in `served` (empty: any host is served)."""

    served: frozenset[str]

    def __call__(self, request: Request, _: Operation) -> None:
        given = context.header(request, "Host")
        is_probe = request.path in PROBED
        if is_probe and (given == "" or (given is None and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0")):
            # Load balancers send such requests. In HTTP/1.1 a request without Host is malformed (RFC 9112, 3.2).
            return
        given = given or ""
        host = host_of(given)
        if host is None or (self.served and host.lower() not in self.served and not is_probe):
            raise Refused("bad-host", f"The Host header does not name a host of this service: {given}")


PROBED: Final = frozenset({"/healthz", "/readyz"})
"""Health probes, also to a bare IP address, pass the host check and the rate limits, so that a busy process seems alive."""


def clock(request: Request, _: Operation) -> None:
    """Refuse a command while the clock of this process is wrong: what the command does would get a wrong time."""
    if request.method not in SAFE and request.endpoint is not None:
        context.check_clock()


def rate(name: str, quota: int) -> Policy:
    """A limit of requests in `RATE_WINDOW`."""
    return Policy(name, quota, RATE_WINDOW)


@dataclass(frozen=True, slots=True)
class Callers:
    """Identifies the caller and applies the rate limits. Requests with a wrong token count for their address."""

    authenticate: Callable[[str], Session]
    holder: Callable[[str], Session]
    find_ticket: Callable[[str], str]
    limits: Limits
    by_token: Policy
    moves: Policy
    by_address: Policy

    def __call__(self, request: Request, operation: Operation) -> None:
        if request.method == "OPTIONS" or request.path in PROBED or operation.bucket == UNCOUNTED:
            return
        known = context.state()
        session = refusal = None
        try:
            known.session = session = self._identify(request, operation, known)
        except Refused as error:
            refusal = error
        if session is None:
            allowance = self.limits.spend(self.by_address, context.address())
        else:
            # By player and not by header: a header can be written in many ways, and a player can have many tokens.
            policy = self.moves if operation.bucket == self.moves.name else self.by_token
            allowance = self.limits.spend(policy, session.player.id)
        known.allowance = allowance
        rate_limit.check(allowance)
        if refusal is not None:
            raise refusal
        if operation.needs_token:
            auth.required(session)
        if session is not None and operation.scope is not None:
            _check_scope(session, operation.scope)

    def _identify(self, request: Request, operation: Operation, known: context.RequestState) -> Session | None:
        header = context.header(request, "Authorization")
        ticket = request.args.get("ticket") if operation.takes_ticket else None
        if header is not None or ticket is None:
            return auth.identify(header, self.authenticate)
        known.ticket_of = self.find_ticket(ticket)
        return self.holder(known.ticket_of)


def _check_scope(session: Session, scope: Scope) -> None:
    """Raise Refused, `scope-missing`. It comes before any look at the request, so it reveals nothing of matches."""
    if scope not in session.scopes:
        has = ", ".join(f"`{one}`" for one in SCOPES if one in session.scopes)
        raise Refused("scope-missing", f"This needs a token with the scope `{scope}`; yours has {has}.", scope=scope)


def read_body(request: Request, operation: Operation) -> None:
    """Read the body, and refuse parameters, headers and bodies that the operation does not take."""
    if request.endpoint is None:
        return
    _check_query(request, operation)
    for name in operation.headers:
        if (value := context.header(request, name_of(name))) is not None:
            judge(name, value)
    if request.method in SAFE:
        return
    for header, without in SUPPORTED_BY_SOME.items():
        if header not in operation.headers and context.header(request, header) is not None:
            raise Refused(
                "invalid-parameter", f"This operation does not support {header}: {without}.", parameter=header
            )
    if request.method not in WRITES:
        return
    length = request.content_length or 0
    body = _read(request, length)
    if len(body) > MAX_BODY:
        raise RequestEntityTooLarge
    if len(body) < length:
        # The client disconnected. The received part may be valid JSON, but is not what the client meant to send.
        raise BadRequest
    if body and not _is_plain_json(request):
        raise UnsupportedMediaType
    if "json" not in operation.takes and body.strip() not in {b"", b"{}"}:
        raise documents.Invalid({"_schema": ["This operation takes no body."]}, "json")
    context.state().body = body


def _read(request: Request, length: int) -> bytes:
    """The body of a request with this Content-Length; of a chunked one at most a byte more than MAX_BODY.

    werkzeug's own stream checks the limits once more, which takes longer than all else here.
    """
    is_chunked = context.header(request, "Transfer-Encoding") is not None
    source: IO[bytes] = request.environ["wsgi.input"]
    return source.read(MAX_BODY + 1 if is_chunked else length)


def _is_plain_json(request: Request) -> bool:
    """Whether the headers declare uncompressed JSON in UTF-8. Other parameters of the media type are ignored."""
    if context.header(request, "Content-Encoding") is not None:
        return False
    if context.header(request, "Content-Type") == "application/json":
        return True
    if request.mimetype != "application/json":
        return False
    return request.mimetype_params.get("charset", "utf-8").lower() in _CHARSETS


def _check_query(request: Request, operation: Operation) -> None:
    if not request.query_string or operation.ignores_query:
        return
    twice = {name for name, values in request.args.lists() if len(values) > 1} - operation.repeated
    faults = {name: ["Given more than once."] for name in twice}
    if "query" not in operation.takes:
        faults |= {name: ["Is unknown; this operation takes no parameters."] for name in request.args}
    if faults:
        raise documents.Invalid(faults, "query")


def install(app: Flask, hosts: Hosts, callers: Callers) -> None:
    """Run the checks before every request of the app, in this order."""

    def judged() -> None:
        request = context.current_request()
        operation = operation_of(app, request)
        for check in (framing, hosts, callers, clock, read_body):
            check(request, operation)

    app.before_request(judged)
