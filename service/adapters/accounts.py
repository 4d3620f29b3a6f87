"""Accounts on the log's server.

`player:<id>` has the player's name. `account:<id>` is a hash with the tokens and the recovery code (`account_scripts`). From
the digest of a token, `token:<digest>` or `grant:<digest>` leads to the player. Older releases read only `player:` and
`token:`, and give every token that they find all rights; so a token with fewer scopes, or one that expires, is a `grant:`,
which they refuse. `uses:{account:<id>}` has the hours in which tokens were last used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from redis import Redis, RedisCluster

from events.redis_log import send
from events.redis_pool import Command
from service.adapters import account_scripts as scripts
from service.adapters.account_cache import CHANGED, CHANNEL, AccountCache
from service.adapters.token_uses import TokenUses
from service.observability import failpoints
from service.repository.accounts import Added, Player, Session, Token

ERASING: Final = "accounts:erasing"
ERASED: Final = "accounts:erased"
"""Hashes from the id of a player to the time at which its erasure began."""
_BATCH: Final = 500
"""Tokens per read when all are looked through."""

_player: Final = msgspec.json.Decoder(Player).decode
_token: Final = msgspec.json.Decoder(Token).decode
_encode: Final = msgspec.json.Encoder().encode


class RedisAccounts:
    """`Accounts`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster, cache: AccountCache | None = None) -> None:
        self._client = client
        self.cache = cache or AccountCache()
        self.uses = TokenUses()

    def add(self, player: Player, token_digest: str, token: Token | None = None) -> None:
        token = token or Token(created_at=player.created_at)
        # In this order, because a token without a player would be an error; a player without a token does no harm.
        self._send(
            ("SET", _player_key(player.id), _encode(player)),
            ("HSET", _account_key(player.id), f"token:{token_digest}", _encode(token)),
        )
        failpoints.point("player-added")
        self._send(_link(player.id, token_digest, token))

    def by_token(self, token_digest: str) -> Session | None:
        session = self.remembered(token_digest)
        if session is not None:
            return session
        seen_changes = self.cache.changes
        session = self._read_session(token_digest)
        if session is not None:
            self.cache.keep_session(token_digest, session, seen_changes)
            self.uses.note(session.player.id, token_digest)
        return session

    def remembered(self, token_digest: str) -> Session | None:
        session = self.cache.session(token_digest)
        if session is not None:
            self.uses.note(session.player.id, token_digest)
        return session

    def _read_session(self, token_digest: str) -> Session | None:
        granted: bytes | None
        unlimited: bytes | None
        unlimited, granted = self._send(("GET", _token_key(token_digest)), ("GET", _grant_key(token_digest)))
        owner = (unlimited or granted or b"").decode()
        if not owner:
            return None
        names = (f"token:{token_digest}", f"gone:{token_digest}", "sealed", "erased")
        stored, player = self._send(("HMGET", _account_key(owner), *names), ("GET", _player_key(owner)))
        listed, gone, sealed, erased = stored
        if player is None or erased or gone or (listed is None and (sealed or not unlimited)):
            return None
        token = Token() if listed is None else _token(listed)
        return Session(_player(player), frozenset(token.scopes), token.expires_at)

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        found = dict(self.cache.players(ids))
        seen_changes = self.cache.changes
        missing = [player for player in ids if player not in found]
        stored: list[bytes | None] = (
            self._send(*(("GET", _player_key(player)) for player in missing)) if missing else []
        )
        for player in (_player(record) for record in stored if record):
            found[player.id] = player
            self.cache.keep_player(player, seen_changes)
        return found

    def rename(self, player: Player) -> bool:
        (written,) = self._send(("SET", _player_key(player.id), _encode(player), "XX"))
        self._announce(player.id)
        return bool(written)

    def tokens(self, player: str) -> Mapping[str, Token]:
        fields: Mapping[bytes, bytes]
        hours: Mapping[bytes, bytes]
        fields, hours = self._send(("HGETALL", _account_key(player)), ("HGETALL", _uses_key(player)))
        stored = {name[6:].decode(): _token(value) for name, value in fields.items() if name.startswith(b"token:")}
        used = {digest.decode(): int(hour) for digest, hour in hours.items()}
        return {digest: replace(token, last_used_at=used.get(digest)) for digest, token in stored.items()}

    def add_token(self, player: str, token_digest: str, token: Token, limit: int, now: int) -> Added:
        result, *expired = self._run(scripts.ADD, player, token_digest, _encode(token), limit, now)
        if expired:
            self._forget(player, [digest.decode() for digest in expired])
        answers: Mapping[bytes, Added] = {b"added": "added", b"full": "full", b"erased": "erased"}
        added = answers[result]
        if added == "added":
            failpoints.point("token-listed")
            self._send(_link(player, token_digest, token))
        return added

    def revoke(self, player: str, by_digest: str, token_digest: str) -> bool:
        done = self._run(scripts.REVOKE, player, by_digest, token_digest)
        failpoints.point("token-revoked")
        if not done and by_digest != token_digest:
            return False
        self._forget(player, [token_digest])
        return True

    def revoke_others(self, player: str, by_digest: str) -> bool:
        removed = self._run(scripts.REVOKE_OTHERS, player, by_digest, _encode(Token()))
        return self._removed(player, removed)

    def recovery_digest(self, player: str) -> str | None:
        digest: bytes | None
        (digest,) = self._send(("HGET", _account_key(player), "recovery"))
        return None if digest is None else digest.decode()

    def set_recovery(self, player: str, code_digest: str) -> bool:
        return bool(self._run(scripts.SET_RECOVERY, player, code_digest))

    def recover(self, player: str, code_digest: str, token_digest: str, token: Token) -> bool:
        removed = self._run(scripts.RECOVER, player, code_digest, token_digest, _encode(token))
        if not self._removed(player, removed):
            return False
        self._send(_link(player, token_digest, token))
        return True

    def _removed(self, player: str, digests: list[bytes] | None) -> bool:
        """Complete the removal of tokens from an account; False if there was none (`digests` is None)."""
        if digests is None:
            return False
        failpoints.point("tokens-replaced")
        self._forget(player, [digest.decode() for digest in digests])
        return True

    def begin_erasure(self, player: str, at: int) -> None:
        self._send(("HSETNX", ERASING, player, at))
        failpoints.point("erasure-begun")

    def erase(self, player: str, at: int) -> None:
        removed: list[bytes] = self._run(scripts.ERASE, player, at)
        failpoints.point("account-erased")
        self._send(("DEL", _player_key(player)))
        failpoints.point("name-erased")
        self._forget(player, [digest.decode() for digest in removed])

    def erasing(self) -> Mapping[str, int]:
        return self._times(ERASING)

    def finish_erasure(self, player: str, at: int) -> None:
        self._send(("HSETNX", ERASED, player, at))
        failpoints.point("erasure-listed")
        self._send(("HDEL", ERASING, player))

    def erased(self) -> Mapping[str, int]:
        return self._times(ERASED)

    def _times(self, key: str) -> Mapping[str, int]:
        stored: Mapping[bytes, bytes]
        (stored,) = self._send(("HGETALL", key))
        return {player.decode(): int(at) for player, at in stored.items()}

    def adopt(self) -> int:
        return sum(self._adopt(tuple(batch)) for kind in ("token", "grant") for batch in self._links(kind))

    def _links(self, kind: str) -> Iterator[list[str]]:
        """The digests of all keys of a kind, in batches."""
        batch = []
        for key in self._client.scan_iter(match=f"{kind}:*", count=_BATCH):
            batch.append(key.decode())
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _adopt(self, keys: Sequence[str]) -> int:
        """List the tokens of these keys that are not listed, or remove the keys that lead to no valid token."""
        owners: list[bytes | None] = self._send(*(("GET", key) for key in keys))
        known = [(key, owner.decode()) for key, owner in zip(keys, owners, strict=True) if owner]
        listed = self._send(*(("HEXISTS", _account_key(owner), f"token:{_digest(key)}") for key, owner in known))
        unlisted = [pair for pair, is_listed in zip(known, listed, strict=True) if not is_listed]
        for key, owner in unlisted:
            digest = _digest(key)
            if key.startswith("grant:") or not self._run(scripts.ADOPT, owner, digest, _encode(Token())):
                self._send(("DEL", key))
            elif self._send(("GET", key)) == [None]:  # it was revoked meanwhile
                self._send(("HDEL", _account_key(owner), f"token:{digest}"))
        return len(unlisted)

    def store_uses(self) -> None:
        """Store the hours in which this process has seen tokens. If that fails, they are lost, which does no harm."""
        taken = self.uses.take()
        self._send(*(_eval(scripts.USE, player, digest, hour) for player, digest, hour in taken))

    def _forget(self, player: str, digests: Iterable[str]) -> None:
        """Remove the keys of revoked tokens, and tell all processes."""
        gone = tuple(digests)
        self._send(*(("DEL", key) for digest in gone for key in (_token_key(digest), _grant_key(digest))))
        self._announce(player, *gone)

    def _announce(self, player: str, *digests: str) -> None:
        """Tell all processes, also those of older releases, which know only digests."""
        messages = (*digests, f"{CHANGED}{player}")
        for message in messages:
            self.cache.receive(message.encode())
        self._send(*(("PUBLISH", CHANNEL, message) for message in messages))

    def _run(self, script: str, player: str, *arguments: str | bytes | int) -> Any:
        (answer,) = self._send(_eval(script, player, *arguments))
        return answer

    def _send(self, *commands: Command) -> list[Any]:
        return send(self._client, *commands)


def _eval(script: str, player: str, *arguments: str | bytes | int) -> Command:
    return ("EVAL", script, 2, _account_key(player), _uses_key(player), *arguments)


def _link(player: str, digest: str, token: Token) -> Command:
    """The command that lets the digest of a token lead to its player."""
    return ("SET", (_token_key if token.is_unlimited else _grant_key)(digest), player)


def _digest(key: str) -> str:
    return key.partition(":")[2]


def _player_key(player: str) -> str:
    return f"player:{player}"


def _account_key(player: str) -> str:
    return f"account:{player}"


def _uses_key(player: str) -> str:
    return f"uses:{{{_account_key(player)}}}"


def _token_key(digest: str) -> str:
    return f"token:{digest}"


def _grant_key(digest: str) -> str:
    return f"grant:{digest}"
