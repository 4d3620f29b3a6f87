"""Headers of every response: its id, the rate limit, and rules for browsers."""

from typing import Final, TypeAlias

from flask import Request

from api.http import context, rate_limit

EXPOSED: Final = (
    "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replay, X-Request-Id, Date, Content-Language, "
    "Content-Disposition"
)
ALLOWED: Final = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID"
PAGE: Final = {"Referrer-Policy": "no-referrer"}
"""Headers of responses that a browser shows as a page."""
DEFAULTS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    # Responses that are public and the same for everyone set their own value.
    ("Cache-Control", "no-store"),
)


Pairs: TypeAlias = list[tuple[str, str]]


def with_common(own: Pairs, request: Request, facts: context.RequestState, origins: tuple[str, ...]) -> Pairs:
    """The response's own headers, and those that every response has."""
    names = {name for name, _ in own}
    found = [*own, *(pair for pair in DEFAULTS if pair[0] not in names), ("X-Request-Id", facts.id)]
    if facts.allowance is not None:
        found += rate_limit.headers(facts.allowance)
    if origins:
        found += _cors(own, request, origins)
    return found


def _cors(own: Pairs, request: Request, origins: tuple[str, ...]) -> Pairs:
    """CORS headers. Tokens are sent in a header and never as a cookie, so credentials are never allowed."""
    if "*" in origins:
        found = [("Access-Control-Allow-Origin", "*")]
    else:
        found = [("Vary", "Origin")]
        origin = context.header(request, "Origin")
        if origin not in origins:
            return found
        found.append(("Access-Control-Allow-Origin", origin))
    found.append(("Access-Control-Expose-Headers", EXPOSED))
    if request.method == "OPTIONS" and context.header(request, "Access-Control-Request-Method") is not None:
        found += [
            ("Access-Control-Allow-Methods", dict(own).get("Allow", "GET, HEAD, OPTIONS")),
            ("Access-Control-Allow-Headers", ALLOWED),
            ("Access-Control-Max-Age", "600"),
        ]
    return found
