"""Players and the digests of their tokens, as records of the log's server; known tokens stay in the process for a while."""

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
"""Where a token's digest or a player's id is told when what is known of it no longer holds."""
KNOWN_SECONDS: Final = 30
KNOWN_AT_ONCE: Final = 4096
"""Tokens, and as many players."""

_Known: TypeAlias = OrderedDict[str, tuple[Player, float]]
"""Players by token or id, and until when they are known (monotonic)."""

_decode = msgspec.json.Decoder(Player).decode


class RedisAccounts:
    """`Accounts`, and the `Hearer` (events.feed) of `CHANNEL`: without a listener it remembers no token and no player.

    A revocation is heard at once; one that is missed while the server is away counts after `KNOWN_SECONDS` at the latest.
    """

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client
        self._lock = Lock()
        self._known: _Known = OrderedDict()
        self._people: _Known = OrderedDict()
        self._listening = False
        self._heard = 0

    def add(self, player: Player, token_digest: str) -> None:
        # A token without a player would be refused; a player without a token hurts nobody.
        send(self._client, ("SET", _player_key(player.id), msgspec.json.encode(player)))
        failpoints.point("player-added")
        self.add_token(player.id, token_digest)

    def by_token(self, token_digest: str) -> Player | None:
        player = self.remembered(token_digest)
        if player is not None:
            return player
        with self._lock:
            heard = self._heard
        (owner,) = send(self._client, ("GET", _token_key(token_digest)))
        player = self.players([owner.decode()]).get(owner.decode()) if owner else None
        if player is not None:
            self._remember(self._known, token_digest, player, heard)
        return player

    def remembered(self, token_digest: str) -> Player | None:
        with self._lock:
            player, until = self._known.get(token_digest, (None, 0.0))
        return player if until > time.monotonic() else None

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        now = time.monotonic()
        with self._lock:
            people = {entry[0].id: entry[0] for known in ids if (entry := self._people.get(known)) and entry[1] > now}
            heard = self._heard
        missing = [player for player in ids if player not in people]
        stored: list[bytes | None] = (
            send(self._client, *(("GET", _player_key(player)) for player in missing)) if missing else []
        )
        for player in (_decode(record) for record in stored if record):
            people[player.id] = player
            self._remember(self._people, player.id, player, heard)
        return people

    def add_token(self, player: str, token_digest: str) -> None:
        send(self._client, ("SET", _token_key(token_digest), player))

    def revoke(self, token_digest: str) -> None:
        send(self._client, ("DEL", _token_key(token_digest)))
        self._tell(token_digest)

    def rename(self, player: str, name: str) -> None:
        """Give a player another name, or none: no match holds it."""
        known = self.players([player]).get(player)
        if known is not None:
            renamed = msgspec.structs.replace(known, name=name)
            send(self._client, ("SET", _player_key(player), msgspec.json.encode(renamed)))
            self._tell(player)

    def hear(self, message: bytes) -> None:
        about = message.decode(errors="replace")
        with self._lock:
            self._heard += 1
            stale = [digest for digest, (player, _) in self._known.items() if about in {digest, player.id}]
            for digest in stale:
                del self._known[digest]
            self._people.pop(about, None)

    def lapse(self) -> None:
        with self._lock:
            self._heard += 1
            self._listening = True
            self._known.clear()
            self._people.clear()

    def _tell(self, about: str) -> None:
        self.hear(about.encode())
        send(self._client, ("PUBLISH", CHANNEL, about))

    def _remember(self, known: _Known, key: str, player: Player, heard: int) -> None:
        with self._lock:
            # What was read before a message may be what the message was about.
            if self._listening and heard == self._heard:
                known[key] = (player, time.monotonic() + KNOWN_SECONDS)
                known.move_to_end(key)
                if len(known) > KNOWN_AT_ONCE:
                    known.popitem(last=False)


def _player_key(player: str) -> str:
    return f"player:{player}"


def _token_key(digest: str) -> str:
    return f"token:{digest}"
