"""The counts of all API processes, in the queue's server. They may be lost: then limits begin anew.

Times are those of that server's clock. Every script replaces values that cannot be right, such as keys of a wrong
type or times that are too far away. Keys expire once they mean nothing any more, so memory is bounded by the rate of
requests.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from redis import Redis

from events.redis_pool import exchange
from service.repository.limits import Policy

PROCESSES: Final = "api:processes"
"""A sorted set of API processes, scored by the time of their last report in milliseconds."""
DEAD_AFTER_MS: Final = 7_000
"""The streams of a process that did not report for this long no longer count."""
FORGOTTEN_AFTER_MS: Final = 60_000
MAX_CLOCK_STEP_MS: Final = 5_000
"""A quota that is full again later than after a whole window was counted before the server's clock was set back. Up to
this much, all of it is spent; beyond, it begins anew.
"""
STREAM_TTL_MS: Final = 20 * 60_000
"""Longer than a stream may be open. Expires what a killed process left behind."""

# KEYS: a string for each policy and key, with the time in microseconds at which its quota is full again. ARGV: for
# each the quota, the window in seconds, and the number of requests wanted.
_TAKE: Final = f"""
local MAX_CLOCK_STEP_US = {1000 * MAX_CLOCK_STEP_MS}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answers = {{}}
for n, key in ipairs(KEYS) do
  local quota, window, wanted = tonumber(ARGV[3 * n - 2]), ARGV[3 * n - 1] * 1000000, tonumber(ARGV[3 * n])
  local each = window / quota
  local stored = redis.pcall('GET', key)
  local full_at = type(stored) == 'string' and tonumber(stored) or now
  if not (full_at >= now and full_at <= now + window + MAX_CLOCK_STEP_US) then full_at = now end
  full_at = math.min(full_at, now + window)
  local granted = math.max(math.min(wanted, math.floor((now + window - full_at) / each + 0.001)), 0)
  if granted > 0 then
    full_at = full_at + granted * each
    redis.call('SET', key, string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000) + 1)
  end
  local left = math.max(math.floor((now + window - full_at) / each + 0.001), 0)
  local wait = granted > 0 and 0 or math.max(full_at + each - window - now, 1)
  answers[n] = {{ granted, left, math.ceil(full_at - now), math.ceil(wait) }}
end
return answers
"""

_COMMON: Final = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local DEAD_AFTER_MS, FORGOTTEN_AFTER_MS, STREAM_TTL_MS = {DEAD_AFTER_MS}, {FORGOTTEN_AFTER_MS}, {STREAM_TTL_MS}
local function repair(key, kind)
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then redis.call('DEL', key) end
end
"""

# KEYS: PROCESSES. ARGV: the id of a process. Returns whether it was known, and how many processes are alive.
_REPORT: Final = f"""{_COMMON}
repair(KEYS[1], 'zset')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - FORGOTTEN_AFTER_MS)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + FORGOTTEN_AFTER_MS, '+inf')
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], FORGOTTEN_AFTER_MS)
return {{ 1 - added, redis.call('ZCOUNT', KEYS[1], now - DEAD_AFTER_MS, now + DEAD_AFTER_MS) }}
"""

# KEYS: a hash of a holder's streams; PROCESSES. ARGV: the id of a process, a stream (`<process>.<number>`), the
# limit, how many streams the process has open, how many processes are expected, and the share of the limit that the
# process has alone. If fewer processes than expected are alive, this server may have lost its data, and does not know
# the streams of the others.
_ENTER: Final = f"""{_COMMON}
repair(KEYS[1], 'hash')
repair(KEYS[2], 'zset')
local own, others = 0, 0
for _, stream in ipairs(redis.call('HKEYS', KEYS[1])) do
  local process = string.match(stream, '^(%x+)%.') or ''
  local at = tonumber(redis.call('ZSCORE', KEYS[2], process) or nil)
  if process == ARGV[1] then
    if stream ~= ARGV[2] then own = own + 1 end
  elseif at and math.abs(now - at) < DEAD_AFTER_MS then
    others = others + 1
  elseif not at then
    redis.call('HDEL', KEYS[1], stream)
  end
end
own = math.max(own, tonumber(ARGV[4]))
if own + others >= tonumber(ARGV[3]) then return 0 end
local alive = redis.call('ZCOUNT', KEYS[2], now - DEAD_AFTER_MS, now + DEAD_AFTER_MS)
if alive < tonumber(ARGV[5]) and own >= tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], STREAM_TTL_MS)
return 1
"""

# KEYS: for each stream the hash of its holder's streams. ARGV: the streams. It does not remove streams of dead processes:
# the next stream that the holder opens does.
_REGISTER: Final = f"""{_COMMON}
for n, key in ipairs(KEYS) do
  repair(key, 'hash')
  redis.call('HSET', key, ARGV[n], 1)
  redis.call('PEXPIRE', key, STREAM_TTL_MS)
end
return 1
"""

_LEAVE: Final = "redis.pcall('HDEL', KEYS[1], ARGV[1]) return 1"
_BATCH: Final = 100
"""Streams that are registered in one call."""


class Wanted(msgspec.Struct, frozen=True):
    """So many requests of a key. `quota` may be a part of that of the policy."""

    policy: Policy
    key: str
    quota: float
    count: int = 1


class Granted(msgspec.Struct, frozen=True):
    """How many requests were granted and are left, and the seconds until the quota is full, and until one more."""

    count: int
    left: int
    reset_s: float
    wait_s: float


class LimitsStore:
    """The scripts, for one API process. Its methods raise a RedisError if the server fails, and may be repeated."""

    def __init__(self, client: Redis, process: str) -> None:
        self._client = client
        self._process = process

    def take(self, wanted: Sequence[Wanted]) -> Sequence[Granted]:
        """Grant as many of the wanted requests as are left."""
        keys = [f"limit:{one.policy.name}:{one.key}" for one in wanted]
        values = [value for one in wanted for value in (str(one.quota), one.policy.window, one.count)]
        answers: Sequence[tuple[int, int, int, int]] = self._eval(_TAKE, keys, *values)
        return [Granted(count, left, reset / 1e6, wait / 1e6) for count, left, reset, wait in answers]

    def report(self) -> tuple[bool, int]:
        """Report that this process is alive. Returns whether it was known, and how many processes are alive."""
        known, alive = self._eval(_REPORT, [PROCESSES], self._process)
        return bool(known), alive

    def enter(self, holder: str, stream: str, limit: int, own: int, processes: int) -> bool:
        """Count a stream of this process, unless `limit` other ones are open.

        `own`: how many streams of the holder this process has open; `processes`: how many processes are expected.
        While some of them have not reported, this process may have its share of the limit.
        """
        values = (self._process, stream, limit, own, processes, max(1, limit // processes))
        return bool(self._eval(_ENTER, [_streams(holder), PROCESSES], *values))

    def register(self, streams: Sequence[tuple[str, str]]) -> None:
        """Count streams that are open already: pairs of stream and holder."""
        for first in range(0, len(streams), _BATCH):
            batch = streams[first : first + _BATCH]
            self._eval(_REGISTER, [_streams(holder) for _, holder in batch], *(stream for stream, _ in batch))

    def leave(self, holder: str, stream: str) -> bool:
        """Count a stream no more. Returns True: the server has done it."""
        return bool(self._eval(_LEAVE, [_streams(holder)], stream))

    def _eval(self, script: str, keys: Sequence[str], *values: str | int) -> Any:
        """The result of a script, without redis-py's own layers, which cost more than most scripts."""
        (reply,) = exchange(self._client, [("EVAL", script, len(keys), *keys, *values)])
        if isinstance(reply, Exception):
            raise reply
        return reply


def _streams(holder: str) -> str:
    return f"streams:{holder}"
