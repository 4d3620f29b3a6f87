"""Players, their tokens and their tickets. Each secret is shown once; the service stores only its SHA-256."""

import hmac
import re
import secrets
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from events.record import canonical
from service.errors import Refused
from service.repository.accounts import HOUR_MS, SCOPES, Player, Session, Token, digest_of
from service.repository.ports import Ports
from service.usecases.created_ids import deleted, reused

PREFIX: Final = "moon_"
"""Helps people and secret scanners to recognise a leaked token."""
TICKET_PREFIX: Final = "tick_"
TICKET_SECONDS: Final = 30
"""How long a ticket is valid."""
MAX_TOKENS: Final = 50
"""Maximum number of tokens of a player."""
LONGEST_LABEL: Final = 64
SHORTEST_S: Final = 60
LONGEST_S: Final = 31_536_000
"""How long a token that expires is valid, in seconds: a minute to a year."""
DAY_MS: Final = 24 * HOUR_MS
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH: Final = 43
_CHECK_LENGTH: Final = 6
_TICKET: Final = re.compile(rf"{TICKET_PREFIX}[0-9A-Za-z]{{{_SECRET_LENGTH}}}")
_SHAPE: Final = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_SECRET_LENGTH + _CHECK_LENGTH}}}")


class TokenView(msgspec.Struct, frozen=True):
    """A token without its secret. `current`: it is the token of this request. Times are in server milliseconds.

    `last_used_at` is the start of an hour. `created_at` is null for tokens of older releases, `last_used_at` if the token
    was not used, and `expires_at` if it does not expire.
    """

    id: str
    label: str
    scopes: tuple[str, ...]
    created_at: int | None
    last_used_at: int | None
    expires_at: int | None
    current: bool


def sign_up(ports: Ports, name: str) -> tuple[Player, str]:
    """Create a player, and return it with its first token."""
    player = Player(id=f"pl_{secrets.token_hex(10)}", name=name, created_at=ports.now())
    token = new_token()
    ports.accounts.add(player, digest_of(token))
    return player, token


def authenticate(ports: Ports, token: str) -> Session:
    """The player whose token this is, and what the token may be used for.

    Raises:
        Refused: `token-invalid`, the same for a malformed, unknown, expired or revoked token.
    """
    token_digest = digest_of(token)
    session = ports.accounts.remembered(token_digest)
    if session is not None:
        return _unexpired(ports, session)
    if not is_token(token):
        raise invalid_token()
    return holder(ports, token_digest)


def holder(ports: Ports, token_digest: str) -> Session:
    """As `authenticate`, for the token with this digest.

    Raises:
        Refused: `token-invalid`.
    """
    return _unexpired(ports, ports.accounts.by_token(token_digest))


def _unexpired(ports: Ports, session: Session | None) -> Session:
    if session is None or (session.expires_at is not None and session.expires_at <= ports.now()):
        raise invalid_token()
    return session


def issue_ticket(ports: Ports, token_digest: str) -> str:
    """Create a single-use secret for clients that cannot send a token in a header. It is valid for TICKET_SECONDS."""
    ticket = TICKET_PREFIX + new_secret()
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


def invalid_token() -> Refused:
    return Refused("token-invalid", "This token is not valid (any more).")


def add_token(
    ports: Ports,
    player: Player,
    *,
    label: str = "",
    scopes: Sequence[str] = SCOPES,
    seconds: int | None = None,
    key: str | None = None,
) -> tuple[str, TokenView]:
    """Add a token for a player; `seconds` is how long it is valid, without end if it is None. Returns its secret once.

    For a day, the same `key` and request give the same token again; without a key it is a new one.

    Raises:
        Refused: `too-many-tokens`; `idempotency-key-reused`; `token-invalid` if the account was erased meanwhile.
    """
    now, key = ports.now(), key or secrets.token_hex(16)
    expires_at = None if seconds is None else now + 1000 * seconds
    token = Token(label, tuple(scope for scope in SCOPES if scope in scopes), now, expires_at)
    # It depends on the day, so that a key which is used again long after a revocation never revives the revoked token.
    today, yesterday = (_token_of_key(ports, player.id, key, now // DAY_MS - ago) for ago in (0, 1))
    match ports.accounts.add_token(player.id, digest_of(today), token, MAX_TOKENS, now, digest_of(yesterday)):
        case "erased":
            raise invalid_token()
        case "full":
            raise Refused("too-many-tokens", f"You have {MAX_TOKENS} tokens; revoke one first.")
        case "removed":
            raise deleted()
        case "known":
            return _repeated(ports, player.id, (today, yesterday), token)
        case "added":
            return today, _see(digest_of(today), token, current=False)


def _token_of_key(ports: Ports, player: str, key: str, day: int) -> str:
    """The token that a request with a key gets on a day (days since 1970). Nothing of it is stored but its digest."""
    return derived_token(hmac.digest(ports.secret, canonical(["token", player, key, day]), "sha256"))


def _repeated(ports: Ports, player: str, found: Sequence[str], wanted: Token) -> tuple[str, TokenView]:
    """The token that a request with the same key has got before: one of those `found`.

    Raises:
        Refused: `idempotency-key-reused` if that request was another one, or if the token is not valid any more.
    """
    listed = ports.accounts.tokens(player)
    secret = next((one for one in found if digest_of(one) in listed), None)
    if secret is None or (known := listed[digest_of(secret)]).has_expired(ports.now()):
        raise deleted()
    if (known.label, known.scopes, known.lifetime_ms) != (wanted.label, wanted.scopes, wanted.lifetime_ms):
        raise reused()
    return secret, _see(digest_of(secret), known, current=False)


def list_tokens(ports: Ports, player: Player, current_digest: str) -> tuple[TokenView, ...]:
    """The tokens of a player that are valid, oldest first.

    A token of an older release is listed when a worker has found it, and that of the request always.
    """
    now, found = ports.now(), {current_digest: Token(), **ports.accounts.tokens(player.id)}
    # Its use now is stored only later.
    found[current_digest] = msgspec.structs.replace(found[current_digest], last_used_at=now - now % HOUR_MS)
    valid = [(digest, token) for digest, token in found.items() if not token.has_expired(now)]
    valid.sort(key=lambda pair: (pair[1].created_at or 0, pair[0]))
    return tuple(_see(digest, token, current=digest == current_digest) for digest, token in valid)


def _see(digest: str, token: Token, *, current: bool) -> TokenView:
    return TokenView(
        token_id(digest), token.label, token.scopes, token.created_at, token.last_used_at, token.expires_at, current
    )


def token_id(token_digest: str) -> str:
    """The public id of a token. It follows from the digest, so that tokens of older releases have one too."""
    return f"tk_{digest_of(f'id of {token_digest}')[:20]}"


def revoke_token(ports: Ports, player: Player, current_digest: str, wanted_id: str) -> None:
    """Revoke the token of a player with this id, in every process at once.

    Raises:
        Refused: `token-not-found`; `token-invalid` if the token of the request was itself revoked meanwhile.
    """
    digests = [
        digest for digest in (current_digest, *ports.accounts.tokens(player.id)) if token_id(digest) == wanted_id
    ]
    if not digests:
        raise Refused("token-not-found", "You have no token with this id; it may have been revoked.")
    if not ports.accounts.revoke(player.id, current_digest, digests[0]):
        raise invalid_token()


def revoke_others(ports: Ports, player: Player, current_digest: str) -> None:
    """Revoke all tokens of a player but that of the request, in every process at once.

    Raises:
        Refused: `token-invalid` if the token of the request was itself revoked meanwhile.
    """
    if not ports.accounts.revoke_others(player.id, current_digest):
        raise invalid_token()


def revoke(ports: Ports, token: str) -> None:
    """Make a token invalid in every process at once."""
    digest = digest_of(token)
    session = ports.accounts.by_token(digest)
    if session is not None:
        ports.accounts.revoke(session.player.id, digest, digest)


def rename(ports: Ports, player: Player, name: str) -> Player:
    """Give a player another name.

    Raises:
        Refused: `token-invalid` if the account was erased meanwhile.
    """
    renamed = msgspec.structs.replace(player, name=name)
    if not ports.accounts.rename(renamed):
        raise invalid_token()
    return renamed


def new_token() -> str:
    """256 random bits in base 62 with a checksum, so that a mistyped token is refused without a read."""
    return PREFIX + with_checksum(new_secret())


def derived_token(digest: bytes) -> str:
    """A token of 256 bits that only we can compute, in the form of `new_token`."""
    return PREFIX + with_checksum(_base62(int.from_bytes(digest, "big"), _SECRET_LENGTH))


def is_token(text: str) -> bool:
    """Whether a string has a token's shape and checksum."""
    return _SHAPE.fullmatch(text) is not None and has_checksum(text.removeprefix(PREFIX))


def new_secret() -> str:
    """256 random bits in base 62."""
    return _base62(int.from_bytes(secrets.token_bytes(32), "big"), _SECRET_LENGTH)


def with_checksum(text: str) -> str:
    return text + _check(text)


def has_checksum(text: str) -> bool:
    return _check(text[:-_CHECK_LENGTH]) == text[-_CHECK_LENGTH:]


def _check(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
