"""Bearer tokens (RFC 6750): from the Authorization header to the player. `accounts` defines what a token is."""

from collections.abc import Callable
from typing import TypeVar

from werkzeug.datastructures import Authorization

from service.errors import Refused

P = TypeVar("P")


def identify(header: str | None, authenticate: Callable[[str], P]) -> P | None:
    """The player of an Authorization header; None without a header. A bad token is refused, and not ignored.

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
    """The token in an Authorization header; empty if there is none."""
    found = Authorization.from_header(header.strip())
    return (found.token or "") if found is not None and found.type == "bearer" else ""


def required(player: P | None) -> P:
    """The player, for a view that needs one.

    Raises:
        Refused: `token-missing`.
    """
    if player is None:
        raise Refused(
            "token-missing", "Send the header Authorization: Bearer with a token; POST /v1/players creates one."
        )
    return player
