"""Bearer tokens (RFC 6750): from the header to whoever the token belongs to. What a token is, the accounts know."""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from service.errors import Refused

P = TypeVar("P")

_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/=-]{1,200})", re.IGNORECASE)


def identify(header: str | None, authenticate: Callable[[str], P]) -> P | None:
    """Who sends this Authorization header; None without one. A bad token never passes for no token.

    Raises:
        Refused: `token-invalid`, as `authenticate` raises it.
    """
    if header is None:
        return None
    given = token(header)
    if not given:
        raise Refused("token-invalid", "The header must be: Authorization: Bearer, a space, and a token.")
    return authenticate(given)


def token(header: str) -> str:
    """The token in an Authorization header, or an empty string, which is none."""
    found = _BEARER.fullmatch(header.strip())
    return found[1] if found else ""


def required(player: P | None) -> P:
    """The player, where somebody has to be known.

    Raises:
        Refused: `token-missing`.
    """
    if player is None:
        raise Refused(
            "token-missing", "Send the header Authorization: Bearer with a token; POST /v1/players makes one."
        )
    return player
