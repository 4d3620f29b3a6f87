"""What every request passes before its view, in this order: framing and size, host, token, rate, and then its body.

Each check stands before the next costs anything: a request that is refused early reads nothing from the socket.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import Flask, Request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from api.http import auth, context, rate_limit
from api.http.bodies import MAX_BODY, Deadline
from api.http.request_headers import judge, name_of
from api.problems import documents
from api.requests.blueprint import Operation, operation_of
from service.addresses import host_of
from service.errors import Refused
from service.repository.ports import Player

WRITES: Final = frozenset({"POST", "PUT", "PATCH"})
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
KEY: Final = "Idempotency-Key"

RATE_WINDOW: Final = 10
"""Seconds in which a token, or an address without one, may send its quota of requests."""

_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""Names of UTF-8 and of a part of it, as a Content-Type may give them."""


def framing(asked: Request, _: Operation) -> None:
    """Refuse a body that says that it is too large, one in a coding that nobody undoes, and one that nothing would read."""
    length = asked.content_length or 0
    coding = context.header(asked, "Transfer-Encoding")
    if coding is not None and coding.lower() != "chunked":
        raise Refused("bad-request", "The only Transfer-Encoding that is taken is chunked, and nothing beside it.")
    if length > MAX_BODY:
        raise RequestEntityTooLarge
    if (length or coding) and asked.endpoint is not None and asked.method not in WRITES:
        raise Refused("bad-request", f"{asked.method} takes no body.")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Refuses a Host that is missing, malformed, or not among those served (none listed: any)."""

    served: frozenset[str]

    def __call__(self, asked: Request, _: Operation) -> None:
        given = context.header(asked, "Host")
        is_probe = asked.path in PROBED
        if is_probe and (given == "" or (given is None and asked.environ.get("SERVER_PROTOCOL") == "HTTP/1.0")):
            # As load balancers ask. In HTTP/1.1 a request without the header is malformed (RFC 9112, 3.2).
            return
        given = given or ""
        host = host_of(given)
        if host is None or (self.served and host.lower() not in self.served and not is_probe):
            raise Refused("bad-host", f"The Host header names no host that is served here: {given}")


PROBED: Final = frozenset({"/healthz", "/readyz"})
"""Whoever asks whether a process lives, by its bare address too, must not take a busy or a strict process for a dead one."""


@dataclass(frozen=True, slots=True)
class Callers:
    """Finds out who asks and how often; wrong tokens count against their address."""

    authenticate: Callable[[str], Player]
    holder: Callable[[str], Player]
    find_ticket: Callable[[str], str]
    limiter: rate_limit.Limiter
    by_token: rate_limit.Policy
    moves: rate_limit.Policy
    by_address: rate_limit.Policy

    def __call__(self, asked: Request, operation: Operation) -> None:
        if asked.method == "OPTIONS" or asked.path in PROBED:
            return
        known = context.facts()
        player = refusal = None
        try:
            known.player = player = self._identify(asked, operation, known)
        except Refused as error:
            refusal = error
        if player is None:
            allowance = self.limiter.take(self.by_address, context.address())
        else:
            # By the player: a header can be written in many ways, and a player can have many tokens.
            policy = self.moves if operation.bucket == self.moves.name else self.by_token
            allowance = self.limiter.take(policy, player.id)
        known.allowance = allowance
        allowance.check()
        if refusal is not None:
            raise refusal
        if operation.needs_token:
            auth.required(player)

    def _identify(self, asked: Request, operation: Operation, known: context.Facts) -> Player | None:
        header = context.header(asked, "Authorization")
        ticket = asked.args.get("ticket") if operation.takes_ticket else None
        if header is not None or ticket is None:
            return auth.identify(header, self.authenticate)
        known.ticket_of = self.find_ticket(ticket)
        return self.holder(known.ticket_of)


@dataclass(frozen=True, slots=True)
class Bodies:
    """Reads the body in time and refuses input that no schema of the view takes; the views' schemas judge the rest."""

    deadline: Deadline

    def __call__(self, asked: Request, operation: Operation) -> None:
        if asked.endpoint is None:
            return
        _check_query(asked, operation)
        for name in operation.headers:
            if (value := context.header(asked, name_of(name))) is not None:
                judge(name, value)
        if asked.method in SAFE:
            return
        if KEY not in operation.headers and context.header(asked, KEY) is not None:
            raise Refused(
                "invalid-parameter", f"This operation knows no {KEY}: sent again, it is done again.", parameter=KEY
            )
        if asked.method not in WRITES:
            return
        with self.deadline():
            body = asked.get_data()
        if len(body) > MAX_BODY:
            raise RequestEntityTooLarge
        if len(body) < (asked.content_length or 0):
            # What came before the client went may be JSON by itself, but is not what it meant to send.
            raise BadRequest
        if body and not _is_plain_json(asked):
            raise UnsupportedMediaType
        if "json" not in operation.takes and body.strip() not in {b"", b"{}"}:
            raise documents.Invalid({"_schema": ["This operation takes no body."]}, "json")


def _is_plain_json(asked: Request) -> bool:
    """Whether a body is said to be JSON in UTF-8, uncompressed. Other parameters of the media type mean nothing here."""
    if context.header(asked, "Content-Encoding") is not None or asked.mimetype != "application/json":
        return False
    return asked.mimetype_params.get("charset", "utf-8").lower() in _CHARSETS


def _check_query(asked: Request, operation: Operation) -> None:
    if not asked.query_string:
        return
    twice = {name for name, values in asked.args.lists() if len(values) > 1} - operation.repeated
    faults = {name: ["Given more than once."] for name in twice}
    if "query" not in operation.takes:
        faults |= {name: ["Is unknown; this operation takes no parameters."] for name in asked.args}
    if faults:
        raise documents.Invalid(faults, "query")


def install(app: Flask, hosts: Hosts, callers: Callers, bodies: Bodies) -> None:
    """Run the checks before every request of the app, in their order."""

    def judged() -> None:
        asked = context.asked()
        operation = operation_of(app, asked)
        for check in (framing, hosts, callers, bodies):
            check(asked, operation)

    app.before_request(judged)
