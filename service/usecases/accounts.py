"""Players, their tokens and their tickets. Each secret is shown once; the service stores only its SHA-256."""

import re
import secrets
import zlib
from collections.abc import Callable
from typing import Final

from service.errors import Refused
from service.repository.ports import Player, Ports, digest_of

PREFIX: Final = "moon_"
"""Helps people and secret scanners to recognise a leaked token."""
TICKET_PREFIX: Final = "tick_"
TICKET_SECONDS: Final = 30
"""How long a ticket is valid."""
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH: Final = 43
_CHECK_LENGTH: Final = 6
_TICKET: Final = re.compile(rf"{TICKET_PREFIX}[0-9A-Za-z]{{{_SECRET_LENGTH}}}")
_SHAPE: Final = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_SECRET_LENGTH + _CHECK_LENGTH}}}")


def sign_up(ports: Ports, name: str) -> tuple[Player, str]:
    """Create a player, and return it with its first token."""
    player = Player(id=f"pl_{secrets.token_hex(10)}", name=name, created_at=ports.now())
    token = new_token()
    ports.accounts.add(player, digest_of(token))
    return player, token


def authenticate(ports: Ports, token: str) -> Player:
    """The player whose token this is.

    Raises:
        Refused: `token-invalid`, the same for a malformed, unknown or revoked token.
    """
    token_digest = digest_of(token)
    player = ports.accounts.remembered(token_digest)
    if player is not None:
        return player
    if not is_token(token):
        raise _invalid_token()
    return holder(ports, token_digest)


def holder(ports: Ports, token_digest: str) -> Player:
    """The player whose token has this digest.

    Raises:
        Refused: `token-invalid`.
    """
    player = ports.accounts.by_token(token_digest)
    if player is None:
        raise _invalid_token()
    return player


def issue_ticket(ports: Ports, token_digest: str) -> str:
    """Create a single-use secret for clients that cannot send a token in a header. It is valid for TICKET_SECONDS."""
    ticket = TICKET_PREFIX + _base62(int.from_bytes(secrets.token_bytes(32), "big"), _SECRET_LENGTH)
    ports.tickets.keep(digest_of(ticket), token_digest, TICKET_SECONDS)
    return ticket


def find_ticket(ports: Ports, ticket: str) -> str:
    """The digest of the token that a ticket stands for. The ticket stays valid.

    Raises:
        Refused: `ticket-invalid`, the same for a malformed, unknown, used or old ticket.
    """
    return _of_ticket(ports.tickets.find, ticket)


def redeem_ticket(ports: Ports, ticket: str) -> str:
    """As `find_ticket`, but the ticket becomes invalid."""
    return _of_ticket(ports.tickets.redeem, ticket)


def _of_ticket(read: Callable[[str], str | None], ticket: str) -> str:
    found = read(digest_of(ticket)) if _TICKET.fullmatch(ticket) else None
    if found is None:
        raise Refused("ticket-invalid", "This ticket is not valid (any more).")
    return found


def _invalid_token() -> Refused:
    return Refused("token-invalid", "This token is not valid (any more).")


def add_token(ports: Ports, player: Player) -> str:
    """Add a token for a player, who can put it into use before the old one is revoked."""
    token = new_token()
    ports.accounts.add_token(player.id, digest_of(token))
    return token


def revoke(ports: Ports, token: str) -> None:
    """Make a token invalid in every process at once."""
    ports.accounts.revoke(digest_of(token))


def new_token() -> str:
    """256 random bits in base 62 with a checksum, so that a mistyped token is refused without a read."""
    secret = _base62(int.from_bytes(secrets.token_bytes(32), "big"), _SECRET_LENGTH)
    return PREFIX + secret + _check(secret)


def is_token(text: str) -> bool:
    """Whether a string has a token's shape and checksum."""
    if not _SHAPE.fullmatch(text):
        return False
    body = text.removeprefix(PREFIX)
    return _check(body[:_SECRET_LENGTH]) == body[_SECRET_LENGTH:]


def _check(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
