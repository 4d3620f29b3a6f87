"""Players and the digests of their tokens, stored in the log's server. Each process caches them for a while."""

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Final, TypeAlias

import msgspec
from redis import Redis, RedisCluster

from events.redis_log import send
from service.observability import failpoints
from service.repository.ports import Player

CHANNEL: Final = "accounts"
"""The pub/sub channel on which the digest of a revoked token is published."""
CACHE_SECONDS: Final = 30
CACHE_SIZE: Final = 4096
"""Maximum number of tokens in the cache, and of players."""

_Cache: TypeAlias = OrderedDict[str, tuple[Player, float]]
"""Players by token digest or id, and when the entry expires (seconds of `time.monotonic`)."""

_decode = msgspec.json.Decoder(Player).decode


class RedisAccounts:
    """`Accounts`, and the `Subscriber` (events.listener) of `CHANNEL`. Without a listener it caches nothing.

    A revocation takes effect in all processes at once. If its message is lost while the server is down, it takes effect
    after `CACHE_SECONDS` at the latest.
    """

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client
        self._lock = Lock()
        self._by_token: _Cache = OrderedDict()
        self._by_id: _Cache = OrderedDict()
        self._listening = False
        self._revocations = 0

    def add(self, player: Player, token_digest: str) -> None:
        # In this order, because a token without a player would be an error; a player without a token does no harm.
        send(self._client, ("SET", _player_key(player.id), msgspec.json.encode(player)))
        failpoints.point("player-added")
        self.add_token(player.id, token_digest)

    def by_token(self, token_digest: str) -> Player | None:
        player = self.remembered(token_digest)
        if player is not None:
            return player
        with self._lock:
            seen_revocations = self._revocations
        (owner,) = send(self._client, ("GET", _token_key(token_digest)))
        player = self.players([owner.decode()]).get(owner.decode()) if owner else None
        if player is not None:
            self._cache(self._by_token, token_digest, player, seen_revocations)
        return player

    def remembered(self, token_digest: str) -> Player | None:
        with self._lock:
            player, until = self._by_token.get(token_digest, (None, 0.0))
        return player if until > time.monotonic() else None

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        now = time.monotonic()
        with self._lock:
            found = {entry[0].id: entry[0] for id_ in ids if (entry := self._by_id.get(id_)) and entry[1] > now}
            seen_revocations = self._revocations
        missing = [player for player in ids if player not in found]
        stored: list[bytes | None] = (
            send(self._client, *(("GET", _player_key(player)) for player in missing)) if missing else []
        )
        for player in (_decode(record) for record in stored if record):
            found[player.id] = player
            self._cache(self._by_id, player.id, player, seen_revocations)
        return found

    def add_token(self, player: str, token_digest: str) -> None:
        send(self._client, ("SET", _token_key(token_digest), player))

    def revoke(self, token_digest: str) -> None:
        send(self._client, ("DEL", _token_key(token_digest)))
        self._announce(token_digest)

    def receive(self, message: bytes) -> None:
        with self._lock:
            self._revocations += 1
            self._by_token.pop(message.decode(errors="replace"), None)

    def messages_missed(self) -> None:
        with self._lock:
            self._revocations += 1
            self._listening = True
            self._by_token.clear()
            self._by_id.clear()

    def _announce(self, token_digest: str) -> None:
        self.receive(token_digest.encode())
        send(self._client, ("PUBLISH", CHANNEL, token_digest))

    def _cache(self, cache: _Cache, key: str, player: Player, seen_revocations: int) -> None:
        with self._lock:
            # A revocation that arrived during the read may be of this token.
            if self._listening and seen_revocations == self._revocations:
                cache[key] = (player, time.monotonic() + CACHE_SECONDS)
                cache.move_to_end(key)
                if len(cache) > CACHE_SIZE:
                    cache.popitem(last=False)


def _player_key(player: str) -> str:
    return f"player:{player}"


def _token_key(digest: str) -> str:
    return f"token:{digest}"
