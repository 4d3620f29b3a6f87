"""Seeks on the log's server: hashes of the seeks and the times of their streams by player, and of pairings by match.

The keys share a hash tag, so that scripts can change them together on a cluster. Backups leave them out, as they do the
index.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace
from redis import Redis, RedisCluster

from events.redis_log import WAKE_CHANNEL, send
from service.repository.ports import news_of
from service.repository.seeks import DONE_S, Pairing, Seek, Waiting

PREFIX: Final = "index:{seeks}:"
WAITING: Final = f"{PREFIX}waiting"
SEEN: Final = f"{PREFIX}seen"
PAIRINGS: Final = f"{PREFIX}pairings"

_ADD: Final = """
local known = redis.call('GET', KEYS[3]) or redis.call('HGET', KEYS[1], ARGV[1])
if known then
  return known
end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return false
end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
"""
"""KEYS waiting, seen, the seek that is done; ARGV the player, the seek, and the limit."""
_REMOVE: Final = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
"""
"""KEYS waiting, seen; ARGV the player and the seek."""
_SEE: Final = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local time = redis.call('TIME')
return redis.call('HSET', KEYS[2], ARGV[1], string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000)))
"""
"""KEYS waiting, seen; ARGV the player."""
_PAIR: Final = """
for i = 4, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then
    return 0
  end
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
for i = 4, #ARGV, 3 do
  redis.call('HDEL', KEYS[1], ARGV[i])
  redis.call('HDEL', KEYS[2], ARGV[i])
  redis.call('SET', KEYS[3 + (i - 1) / 3], ARGV[i + 2], 'EX', ARGV[3])
end
return 1
"""
"""KEYS waiting, seen, pairings, then each seek that is done; ARGV the match, the pairing, the seconds for which done
seeks are kept, then for each seek its player, itself as it waits, and itself as it is done."""
_FINISH: Final = """
if redis.call('HDEL', KEYS[2], ARGV[1]) == 0 then
  return 0
end
for i = 3, #KEYS do
  redis.call('DEL', KEYS[i])
end
for i = 2, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
return 1
"""
"""KEYS waiting, pairings, then each seek that waits again or is over, as it is done; ARGV the match, then for each seek
that waits again its player and itself."""

_encode = msgspec.json.Encoder().encode
_seek = msgspec.json.Decoder(Seek).decode
_pairing = msgspec.json.Decoder(Pairing).decode


class RedisSeeks:
    """`Seeks`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def add(self, seek: Seek, limit: int) -> Seek | None:
        keys = (WAITING, SEEN, _done_key(seek.id))
        found = self._found("EVAL", _ADD, 3, *keys, seek.player, _encode(seek), limit)
        send(self._client, ("PUBLISH", WAKE_CHANNEL + news_of(seek.player), seek.created_at))
        return found

    def of(self, player: str) -> Seek | None:
        return self._found("HGET", WAITING, player)

    def done(self, seek_id: str) -> Seek | None:
        return self._found("GET", _done_key(seek_id))

    def _found(self, *command: str | bytes | int) -> Seek | None:
        found: bytes | None
        (found,) = send(self._client, command)
        return None if found is None else _seek(found)

    def remove(self, seek: Seek) -> bool:
        (removed,) = send(self._client, ("EVAL", _REMOVE, 2, WAITING, SEEN, seek.player, _encode(seek)))
        return bool(removed)

    def see(self, player: str) -> None:
        send(self._client, ("EVAL", _SEE, 2, WAITING, SEEN, player))

    def waiting(self) -> Sequence[Waiting]:
        stored: list[bytes]
        (stored,) = send(self._client, ("HVALS", WAITING))
        found = [_seek(one) for one in stored]
        if not found:
            return ()
        times: list[bytes | None]
        (times,) = send(self._client, ("HMGET", SEEN, *(seek.player for seek in found)))
        return [Waiting(seek, int(time or 0)) for seek, time in zip(found, times, strict=True)]

    def pair(self, pairing: Pairing) -> bool:
        match = pairing.match
        keys = (WAITING, SEEN, PAIRINGS, *(_done_key(seek.id) for seek in pairing.seeks))
        stored = [
            part for seek in pairing.seeks for part in (seek.player, _encode(seek), _encode(replace(seek, match=match)))
        ]
        (paired,) = send(self._client, ("EVAL", _PAIR, len(keys), *keys, match, _encode(pairing), DONE_S, *stored))
        return bool(paired)

    def pairings(self) -> Sequence[Pairing]:
        found: list[bytes]
        (found,) = send(self._client, ("HVALS", PAIRINGS))
        return [_pairing(stored) for stored in found]

    def finish(self, pairing: Pairing, again: Sequence[Seek], ended: Sequence[Seek]) -> None:
        keys = (WAITING, PAIRINGS, *(_done_key(seek.id) for seek in (*again, *ended)))
        stored = [part for seek in again for part in (seek.player, _encode(seek))]
        send(self._client, ("EVAL", _FINISH, len(keys), *keys, pairing.match, *stored))


def _done_key(seek_id: str) -> str:
    return f"{PREFIX}done:{seek_id}"
