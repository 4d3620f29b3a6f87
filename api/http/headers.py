"""What every answer carries: its id, what is left of the rate limit, and what browsers may do with it."""

from typing import Final, TypeAlias

from flask import Request

from api.http import context

EXPOSED: Final = (
    "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replay, X-Request-Id, Date, Content-Language, "
    "Content-Disposition"
)
ALLOWED: Final = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID"
PAGE: Final = {"Referrer-Policy": "no-referrer"}
"""Of what a browser shows as a page."""
UNLESS_SAID: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    # What is public and the same for everyone says so itself.
    ("Cache-Control", "no-store"),
)


Pairs: TypeAlias = list[tuple[str, str]]


def stamped(said: Pairs, asked: Request, facts: context.Facts, origins: tuple[str, ...]) -> Pairs:
    """The headers that an answer says of itself, and those that every answer carries."""
    names = {name for name, _ in said}
    told = [*said, *(pair for pair in UNLESS_SAID if pair[0] not in names), ("X-Request-Id", facts.id)]
    if facts.allowance is not None:
        told += facts.allowance.headers()
    if origins:
        told += _cors(said, asked, origins)
    return told


def _cors(said: Pairs, asked: Request, origins: tuple[str, ...]) -> Pairs:
    """Tokens come in a header, never as a cookie: any origin may be let in, and none ever with credentials."""
    if "*" in origins:
        told = [("Access-Control-Allow-Origin", "*")]
    else:
        told = [("Vary", "Origin")]
        origin = context.header(asked, "Origin")
        if origin not in origins:
            return told
        told.append(("Access-Control-Allow-Origin", origin))
    told.append(("Access-Control-Expose-Headers", EXPOSED))
    if asked.method == "OPTIONS" and context.header(asked, "Access-Control-Request-Method") is not None:
        told += [
            ("Access-Control-Allow-Methods", dict(said).get("Allow", "GET, HEAD, OPTIONS")),
            ("Access-Control-Allow-Headers", ALLOWED),
            ("Access-Control-Max-Age", "600"),
        ]
    return told
