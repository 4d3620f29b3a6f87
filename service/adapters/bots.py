"""Hosted bots on the log's server.

`bot:<id>` has what is stored of a bot, as JSON. `bots:of:<owner>` is a hash from the ids of an owner's bots to the times at
which they were added, `bots:public` a sorted set of the ids of public bots, all with score 0, and `bots:in:<id>` a hash from
matches to the times at which a bot was admitted to them. Each command uses one key, so a cluster needs no hash tags.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from redis import Redis, RedisCluster

from events.record import MatchId
from events.redis_log import send
from events.redis_pool import Command
from service.observability import failpoints
from service.repository.bots import Admitted, Bot

PUBLIC: Final = "bots:public"
_ADMIT: Final = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return 2
end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
"""
"""KEYS a hash of times; ARGV a field, its time, and how many fields there may be. Returns a number of `_ADMITTED`."""
_ADMITTED: Final[tuple[Admitted, ...]] = ("full", "new", "known")
_RELEASE: Final = """
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
"""
"""KEYS a hash of times; ARGV a field, which is removed if it has this time."""
_REPLACE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
"""
"""KEYS a bot; ARGV itself before and after. Returns whether it was replaced."""

_bot: Final = msgspec.json.Decoder(Bot).decode
_encode: Final = msgspec.json.Encoder().encode


class RedisBots:
    """`Bots`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def add(self, bot: Bot, limit: int) -> bool:
        # In this order: an id in the owner's list without a bot can be removed, and a bot that no list has could not.
        (added,) = send(self._client, ("EVAL", _ADMIT, 1, _owner_key(bot.owner), bot.id, bot.created_at, limit))
        if added:
            failpoints.point("bot-listed")
            send(self._client, ("SET", _bot_key(bot.id), _encode(bot)), _listed(bot))
        return bool(added)

    def change(self, bot: str, changed: Callable[[Bot], Bot]) -> Bot | None:
        while True:
            before: bytes | None
            (before,) = send(self._client, ("GET", _bot_key(bot)))
            if before is None:
                return None
            after = changed(_bot(before))
            (replaced,) = send(self._client, ("EVAL", _REPLACE, 1, _bot_key(bot), before, _encode(after)))
            if replaced:
                send(self._client, _listed(after))
                return after

    def remove(self, bot: str, owner: str) -> None:
        keys = (_bot_key(bot), _match_key(bot))
        send(self._client, ("ZREM", PUBLIC, bot), *(("DEL", key) for key in keys))
        send(self._client, ("HDEL", _owner_key(owner), bot))

    def find(self, ids: Sequence[str]) -> Mapping[str, Bot]:
        stored: list[bytes | None] = send(self._client, *(("GET", _bot_key(one)) for one in ids)) if ids else []
        return {bot.id: bot for bot in (_bot(record) for record in stored if record)}

    def of(self, owner: str) -> Sequence[str]:
        times = self._times(_owner_key(owner))
        return sorted(times, key=lambda one: (times[one], one))

    def owners(self) -> Iterator[str]:
        for key in self._client.scan_iter(match=_owner_key("*"), count=1_000):
            yield key.decode().removeprefix(_owner_key(""))

    def public(self, after: str, limit: int) -> Sequence[str]:
        found: list[bytes]
        (found,) = send(self._client, ("ZRANGE", PUBLIC, f"({after}", "+", "BYLEX", "LIMIT", 0, limit))
        return [one.decode() for one in found]

    def admit(self, bot: str, match_id: MatchId, at: int, limit: int) -> Admitted:
        answer: int
        (answer,) = send(self._client, ("EVAL", _ADMIT, 1, _match_key(bot), match_id, at, limit))
        return _ADMITTED[answer]

    def seat(self, bot: str, match_id: MatchId, at: int) -> None:
        send(self._client, ("HSET", _match_key(bot), match_id, at))

    def release(self, bot: str, match_id: MatchId, at: int) -> None:
        send(self._client, ("EVAL", _RELEASE, 1, _match_key(bot), match_id, at))

    def admitted(self, bot: str) -> Mapping[MatchId, int]:
        return self._times(_match_key(bot))

    def _times(self, key: str) -> Mapping[str, int]:
        stored: Mapping[bytes, bytes]
        (stored,) = send(self._client, ("HGETALL", key))
        return {name.decode(): int(at) for name, at in stored.items()}


def _listed(bot: Bot) -> Command:
    """The command by which the public list has a bot, or does not have it."""
    return ("ZADD", PUBLIC, 0, bot.id) if bot.public else ("ZREM", PUBLIC, bot.id)


def _bot_key(bot: str) -> str:
    return f"bot:{bot}"


def _owner_key(owner: str) -> str:
    return f"bots:of:{owner}"


def _match_key(bot: str) -> str:
    return f"bots:in:{bot}"
