"""Ids of what a player creates outside matches. The same Idempotency-Key and request give the same id, so that it is made once."""

import hmac
from collections.abc import Iterable
from typing import Final

from events.record import canonical
from service.errors import Refused
from service.repository.ports import Ports

_HALF: Final = 10
"""Hex digits of an id that follow from the key, and of those that follow from the request too."""


def created_id(ports: Ports, prefix: str, player: str, key: str, request: object) -> str:
    """The id of what a player creates with a key. `request` is what was asked for, in JSON's types."""
    return f"{prefix}{_digits(ports, prefix, player, key)}{_digits(ports, prefix, player, key, request)}"


def _digits(ports: Ports, *parts: object) -> str:
    return hmac.digest(ports.secret, canonical(parts), "sha256").hex()[:_HALF]


def check_key(created: str, known: Iterable[str]) -> None:
    """Check that none of the player's ids, `known`, was created with the same key and another request.

    Raises:
        Refused: `idempotency-key-reused`.
    """
    if any(one != created and one[:-_HALF] == created[:-_HALF] for one in known):
        raise reused()


def reused() -> Refused:
    """What a request gets if another one had its key."""
    return Refused("idempotency-key-reused", "This Idempotency-Key was used for another request; choose a new one.")


def deleted() -> Refused:
    """What a repeated request gets if that which it created was deleted since."""
    return Refused("idempotency-key-reused", "What this Idempotency-Key created was deleted; choose a new key.")
