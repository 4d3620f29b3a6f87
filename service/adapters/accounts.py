"""Accounts on the log's server.

`player:<id>` has the player's name. `account:<id>` is a hash with the tokens and the recovery code (`account_scripts`).
The keys of `token_links` lead from the digest of a token to the player. Older releases read only these and `player:`.
`uses:{account:<id>}` has the hours in which tokens were last used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import msgspec
from msgspec.structs import replace
from redis import Redis, RedisCluster

from events.redis_log import send
from events.redis_pool import Command
from service.adapters import account_scripts as scripts
from service.adapters import token_links
from service.adapters.account_cache import CHANGED, CHANNEL, AccountCache
from service.adapters.file_rewrite import FileRewrite
from service.adapters.token_uses import TokenUses
from service.observability import failpoints
from service.repository.accounts import Added, Player, Session, Token

ERASING: Final = "accounts:erasing"
ERASED: Final = "accounts:erased"
"""Hashes from the id of a player to the time at which its erasure began."""

_player: Final = msgspec.json.Decoder(Player).decode
_token: Final = msgspec.json.Decoder(Token).decode
_encode: Final = msgspec.json.Encoder().encode


class RedisAccounts:
    """`Accounts`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster, cache: AccountCache | None = None) -> None:
        self._client = client
        self.cache = cache or AccountCache()
        self.uses = TokenUses()
        self._files = FileRewrite(client)

    def add(self, player: Player, token_digest: str, token: Token | None = None) -> None:
        token = token or Token(created_at=player.created_at)
        # In this order, because a token without a player would be an error; a player without a token does no harm.
        self._send(
            ("SET", _player_key(player.id), _encode(player)),
            ("HSET", scripts.account_key(player.id), f"token:{token_digest}", _encode(token)),
        )
        failpoints.point("player-added")
        token_links.link(self._client, player.id, token_digest, token)

    def by_token(self, token_digest: str) -> Session | None:
        session = self.remembered(token_digest)
        if session is not None:
            return session
        seen_changes = self.cache.sessions.changes
        session = self._read_session(token_digest)
        if session is not None:
            self.cache.sessions.keep({token_digest: session}, seen_changes)
            self.uses.note(session.player.id, token_digest)
        return session

    def remembered(self, token_digest: str) -> Session | None:
        session = self.cache.sessions.find_one(token_digest)
        if session is not None:
            self.uses.note(session.player.id, token_digest)
        return session

    def _read_session(self, token_digest: str) -> Session | None:
        """One round trip if the token has been read before: its player does not change."""
        expired = self.cache.sessions.find_expired(token_digest)
        expected = None if expired is None else expired.player.id
        guessed = () if expected is None else _session_commands(expected, token_digest)
        unlimited, granted, *account = self._send(*token_links.owner_commands(token_digest), *guessed)
        owner = token_links.owner_in(unlimited, granted)
        if owner is None:
            return None
        if owner.player != expected:
            account = self._send(*_session_commands(owner.player, token_digest))
        stored, player = account
        listed, gone, sealed, erased = stored
        if player is None or erased or gone or (listed is None and (sealed or not owner.is_unlimited)):
            return None
        token = Token() if listed is None else _token(listed)
        return Session(_player(player), frozenset(token.scopes), token.expires_at)

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        seen_changes = self.cache.players.changes
        cached = self.cache.players.find(ids)
        missing = [player for player in ids if player not in cached]
        if not missing:
            return cached
        stored: list[bytes | None] = self._send(*(("GET", _player_key(player)) for player in missing))
        read = {player.id: player for player in (_player(record) for record in stored if record)}
        self.cache.players.keep(read, seen_changes)
        return cached | read

    def rename(self, player: Player) -> bool:
        (written,) = self._send(("SET", _player_key(player.id), _encode(player), "XX"))
        self._announce(player.id)
        return bool(written)

    def tokens(self, player: str) -> Mapping[str, Token]:
        fields: Mapping[bytes, bytes]
        hours: Mapping[bytes, bytes]
        fields, hours = self._send(("HGETALL", scripts.account_key(player)), ("HGETALL", scripts.uses_key(player)))
        stored = {name[6:].decode(): _token(value) for name, value in fields.items() if name.startswith(b"token:")}
        used = {digest.decode(): int(hour) for digest, hour in hours.items()}
        return {digest: replace(token, last_used_at=used.get(digest)) for digest, token in stored.items()}

    def add_token(
        self, player: str, token_digest: str, token: Token, limit: int, now: int, earlier: str | None = None
    ) -> Added:
        arguments = token_digest, _encode(token), limit, now, earlier or token_digest
        result, *more = self._run(scripts.ADD, player, *arguments)
        answers: Mapping[bytes, Added] = {name.encode(): name for name in get_args(Added)}
        added = answers[result]
        if added == "known":  # the process that added it may have died before the last step
            digest, stored = more
            token_links.link(self._client, player, digest.decode(), _token(stored))
        elif more:
            self._forget(player, [digest.decode() for digest in more])
        if added == "added":
            failpoints.point("token-listed")
            token_links.link(self._client, player, token_digest, token)
        return added

    def revoke(self, player: str, by_digest: str, token_digest: str) -> bool:
        done = self._run(scripts.REVOKE, player, by_digest, token_digest)
        failpoints.point("token-revoked")
        if not done and by_digest != token_digest:
            return False
        self._forget(player, [token_digest])
        return True

    def revoke_others(self, player: str, by_digest: str) -> bool:
        revoked = self._run(scripts.REVOKE_OTHERS, player, by_digest, _encode(Token()))
        return self._completed(player, revoked)

    def recovery_digest(self, player: str) -> str | None:
        digest: bytes | None
        (digest,) = self._send(("HGET", scripts.account_key(player), "recovery"))
        return None if digest is None else digest.decode()

    def set_recovery(self, player: str, code_digest: str) -> bool:
        return bool(self._run(scripts.SET_RECOVERY, player, code_digest))

    def recover(self, player: str, code_digest: str, token_digest: str, token: Token) -> bool:
        revoked = self._run(scripts.RECOVER, player, code_digest, token_digest, _encode(token))
        return self._replaced(player, revoked, token_digest, token)

    def replace_all(self, player: str, token_digest: str, token: Token) -> bool:
        revoked = self._run(scripts.REPLACE_ALL, player, token_digest, _encode(token))
        return self._replaced(player, revoked, token_digest, token)

    def _replaced(self, player: str, revoked: list[bytes] | None, token_digest: str, token: Token) -> bool:
        """Complete the replacement of all tokens by one, as `_completed`."""
        if not self._completed(player, revoked):
            return False
        token_links.link(self._client, player, token_digest, token)
        return True

    def _completed(self, player: str, revoked: list[bytes] | None) -> bool:
        """Complete a revocation of several tokens; False if the script refused it (`revoked` is None)."""
        if revoked is None:
            return False
        failpoints.point("tokens-replaced")
        self._forget(player, [digest.decode() for digest in revoked])
        return True

    def begin_erasure(self, player: str, at: int) -> None:
        self._send(("HSETNX", ERASING, player, at))
        failpoints.point("erasure-begun")

    def erase(self, player: str, at: int) -> None:
        revoked = [digest.decode() for digest in self._run(scripts.ERASE, player, at)]
        failpoints.point("account-erased")
        self._erase_name(player)
        failpoints.point("name-erased")
        self._forget(player, revoked)
        if revoked:
            self._send(("HDEL", scripts.account_key(player), *(f"gone:{digest}" for digest in revoked)))

    def _erase_name(self, player: str) -> None:
        """Remove the name from the server's memory, and have its files rewritten, which still contain it."""
        if self._send(("EXISTS", _player_key(player))) != [0]:
            self._files.request()  # before, in case that this process dies, and after, so that a rewrite begins later
            self._send(("DEL", _player_key(player)))
            self._files.request()

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

    def in_erasure(self, players: Sequence[str]) -> frozenset[str]:
        if not players:
            return frozenset()
        erasing, erased = self._send(*(("HMGET", key, *players) for key in (ERASING, ERASED)))
        return frozenset(one for one, *times in zip(players, erasing, erased, strict=True) if any(times))

    def rewrite_files(self) -> None:
        self._files.step()

    def adopt(self) -> int:
        return token_links.adopt(self._client)

    def store_uses(self) -> None:
        """Store the hours in which this process has seen tokens. If that fails, they are lost, which does no harm."""
        taken = self.uses.take()
        self._send(*(scripts.call(scripts.USE, player, digest, hour) for player, digest, hour in taken))

    def _forget(self, player: str, digests: Sequence[str]) -> None:
        """Remove the keys of revoked tokens, and tell all processes."""
        token_links.unlink(self._client, digests)
        self._announce(player, *digests)

    def _announce(self, player: str, *digests: str) -> None:
        """Tell all processes, also those of older releases, which know only digests."""
        messages = (*digests, f"{CHANGED}{player}")
        for message in messages:
            self.cache.receive(message.encode())
        self._send(*(("PUBLISH", CHANNEL, message) for message in messages))

    def _run(self, script: str, player: str, *arguments: str | bytes | int) -> Any:
        (answer,) = self._send(scripts.call(script, player, *arguments))
        return answer

    def _send(self, *commands: Command) -> list[Any]:
        return send(self._client, *commands)


def _player_key(player: str) -> str:
    return f"player:{player}"


def _session_commands(player: str, token_digest: str) -> tuple[Command, ...]:
    names = (f"token:{token_digest}", f"gone:{token_digest}", "sealed", "erased")
    return ("HMGET", scripts.account_key(player), *names), ("GET", _player_key(player))
