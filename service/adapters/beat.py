"""The sweepers' common beat in the log's server: how the time is known in which no sweeper ran."""

from collections.abc import Sequence
from typing import Final

import msgspec
from redis import Redis, RedisCluster

from events.redis_log import send

KEY: Final = "beat"
GAP_MS: Final = 3_000
"""A longer silence is an outage of ours."""

# One hash: `at` is the newest beat in the server's milliseconds; every other field is an outage that is not settled, its
# id (the last beat before it, where the server found it) and its length. One script, so that one sweeper notes an outage
# and none loses it.
_BEAT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('HGET', KEYS[1], 'at')
if last and now - last > tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], last, string.format('%d', now - last))
end
redis.call('HSET', KEYS[1], 'at', string.format('%d', now))
return redis.call('HGETALL', KEYS[1])
"""


_SILENCE: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silence = 0
local fields = redis.call('HGETALL', KEYS[1])
for place = 1, #fields, 2 do
  local ms = tonumber(fields[place + 1])
  if fields[place] == 'at' then
    ms = now - ms > tonumber(ARGV[1]) and now - ms or 0
  end
  silence = silence + ms
end
return silence
"""


class Outage(msgspec.Struct, frozen=True, order=True):
    """A time of `ms` milliseconds without a beat; `id` names it in every process."""

    id: str
    ms: int


class Beat:
    """Safe to send twice: a second beat right after the first finds no gap, and outages stay until they are settled."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def beat(self) -> Sequence[Outage]:
        """Tell that a sweeper runs now; the outages that are not settled, the earliest first.

        Raises:
            LogUnavailable: the server does not answer.
        """
        reply: list[bytes]
        (reply,) = send(self._client, ("EVAL", _BEAT, 1, KEY, GAP_MS))
        fields = dict(zip(reply[::2], reply[1::2], strict=True))
        return sorted(Outage(name.decode(), int(ms)) for name, ms in fields.items() if name != b"at")

    def note(self, outage: Outage) -> Sequence[Outage]:
        """Tell of time that was lost though the server saw none pass; all outages that are not settled, as `beat` has them.

        Raises:
            LogUnavailable: the server does not answer.
        """
        send(self._client, ("HSET", KEY, outage.id, outage.ms))
        return self.beat()

    def silence(self) -> int:
        """Milliseconds of all outages that are not settled, one that lasts included.

        Raises:
            LogUnavailable: the server does not answer.
        """
        ms: int
        (ms,) = send(self._client, ("EVAL", _SILENCE, 1, KEY, GAP_MS))
        return ms

    def settle(self, outage: Outage) -> None:
        """Every match has its time back."""
        send(self._client, ("HDEL", KEY, outage.id))
