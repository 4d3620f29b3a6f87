"""The port for accounts: players, their tokens and recovery codes, and the accounts that were erased."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec

Scope: TypeAlias = Literal["watch", "play", "bots", "account"]
"""What a token may be used for: to see what the player sees, to act for the player in matches, to manage the player's hosted
bots, or to manage the account. A token with `account` leads to everything, because it makes tokens with any scope."""
HOUR_MS: Final = 3_600_000
"""The unit in which the last use of a token is recorded."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


class Player(msgspec.Struct, frozen=True):
    """An account. `id` is opaque and public. The name is not part of any match."""

    id: str
    name: str
    created_at: int


class Token(msgspec.Struct, frozen=True):
    """A token without its secret. Times are in server milliseconds.

    `created_at` is None if an older release created the token, which recorded no time. `last_used_at` is the start of
    an hour, or None. `expires_at` is None if the token does not expire.
    """

    label: str = ""
    scopes: tuple[str, ...] = SCOPES
    created_at: int | None = None
    expires_at: int | None = None
    last_used_at: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether it is like a token of the releases that knew neither scopes nor expiry."""
        return self.expires_at is None and set(SCOPES) <= set(self.scopes)

    @property
    def lifetime_ms(self) -> int | None:
        """How long the token is valid from its creation; None if it does not expire."""
        return None if self.expires_at is None else self.expires_at - (self.created_at or 0)

    def has_expired(self, now: int) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class Session(msgspec.Struct, frozen=True):
    """A player as identified by a token. `expires_at` is in server milliseconds."""

    player: Player
    scopes: frozenset[str] = frozenset(SCOPES)
    expires_at: int | None = None


Added: TypeAlias = Literal["added", "known", "removed", "full", "erased"]
"""`known`: the token is there. `removed`: it was revoked, or found to be expired, within the last day."""


def digest_of(secret: str) -> str:
    """The SHA-256 of a token, ticket or recovery code in hex. Only this digest is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Accounts(Protocol):
    """Tokens are named by digests. Each method that changes them is atomic and takes effect in all processes at once.

    An older release listed no tokens. Such a token is valid, with all scopes, until it is revoked or the account is
    sealed; `adopt` lists it.
    """

    def add(self, player: Player, token_digest: str, token: Token | None = None) -> None:
        """Add a new player and its first token, which by default has all scopes and does not expire."""
        ...

    def by_token(self, token_digest: str) -> Session | None:
        """Does not compare the expiry with the time."""
        ...

    def remembered(self, token_digest: str) -> Session | None:
        """The session of a token from the cache of this process; None if it is not cached."""
        ...

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        """The players with these ids, without those that do not exist or were erased."""
        ...

    def rename(self, player: Player) -> bool:
        """Store a player's new name. Returns False if the account was erased."""
        ...

    def tokens(self, player: str) -> Mapping[str, Token]:
        """The listed tokens of a player, also those that have expired."""
        ...

    def add_token(
        self, player: str, token_digest: str, token: Token, limit: int, now: int, earlier: str | None = None
    ) -> Added:
        """Add a token unless the player has `limit` of them, and remove those that have expired.

        `earlier`: the digest that the token may have got from an earlier request. If there is, or was, a token with it, the answer
        is about that one.
        """
        ...

    def revoke(self, player: str, by_digest: str, token_digest: str) -> bool:
        """Revoke a token. Returns False if the token `by_digest`, which asks for this, was itself revoked meanwhile."""
        ...

    def revoke_others(self, player: str, by_digest: str) -> bool:
        """Revoke all tokens but one, and seal the account: only listed tokens are valid from now on.

        Returns False if the token that was to stay was itself revoked meanwhile.
        """
        ...

    def recovery_digest(self, player: str) -> str | None:
        """The digest of the player's recovery code."""
        ...

    def set_recovery(self, player: str, code_digest: str) -> bool:
        """Replace the recovery code. Returns False if the account was erased."""
        ...

    def recover(self, player: str, code_digest: str, token_digest: str, token: Token) -> bool:
        """Replace all tokens by a new one, and seal the account. Returns False if the recovery code is another one."""
        ...

    def replace_all(self, player: str, token_digest: str, token: Token) -> bool:
        """Replace all tokens by a new one, and seal the account. Returns False if the account was erased."""
        ...

    def begin_erasure(self, player: str, at: int) -> None:
        """Record that an account is to be erased. All else follows from this record; `erase` is the first step."""
        ...

    def erase(self, player: str, at: int) -> None:
        """Remove a player's name, tokens and recovery code for good. May be repeated."""
        ...

    def erasing(self) -> Mapping[str, int]:
        """The accounts whose erasure is not finished, and the times at which it began."""
        ...

    def finish_erasure(self, player: str, at: int) -> None:
        """Move an account to the list of those that were erased."""
        ...

    def erased(self) -> Mapping[str, int]:
        """The accounts whose erasure is finished, and the times at which it began."""
        ...

    def in_erasure(self, players: Sequence[str]) -> frozenset[str]:
        """Those of these players whose erasure has begun; it may be finished."""
        ...

    def rewrite_files(self) -> None:
        """Have the store's files rewritten if they contain names that were erased, at most once a day."""
        ...

    def adopt(self) -> int:
        """List the tokens of older releases, and remove what is left of invalid ones; returns how many were changed."""
        ...
