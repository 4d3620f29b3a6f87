"""The sweepers' common beat in the log's server, and the outages that it shows.

A silence of the beat is an outage of ours if it was long, or if a sweeper saw the log fail or hang meanwhile. Silences are
measured by the server's clock and noted in that of the process, by which deadlines are judged.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from redis import Redis, RedisCluster

from events.redis_log import send
from service.adapters.clock import wall_clock

KEY: Final = "beat"
OUTAGES: Final = "{beat}:outages"
"""The braces put it into the slot of `KEY`."""
BEAT_MS: Final = 150
"""A beat right after another one, of whatever process, writes nothing."""
GAP_MS: Final = 3_000
"""A longer silence is an outage of ours."""
DOUBT_MS: Final = 250
"""So is a longer silence in which the log failed. No sweeper that runs is silent for so long."""
RETURN_MS: Final = 2_500
"""An outage lasts so much longer for players: who was told meanwhile to come again in two seconds does so by then."""
LATE_MS: Final = 500
"""A beat that the server reads later than this after it was sent does not count: a server that hung reads all that was sent
meanwhile, when nobody waits for it any more.
"""
TRIES: Final = 5
KEEP_MS: Final = 60 * 24 * 3_600_000
SHOWN_MS: Final = 60_000
"""For so long an outage is shown to processes of the release before, which give it back to all matches at once."""

Span: TypeAlias = tuple[int, int]
"""Server milliseconds, from and to."""

# ARGV[1] is the time of the process. KEYS: a hash with the newest beat `at`, and a sorted set of outages `<from>:<to>` by their ends. The release before notes
# outages in the hash, by the last beat before each, or as `jump:<end>`; what this one shows it there is `gap:<end>`.
_SIZES: Final = f"""
local BEAT_MS, GAP_MS, LATE_MS = {BEAT_MS}, {GAP_MS}, {LATE_MS}
local RETURN_MS, KEEP_MS, SHOWN_MS = {RETURN_MS}, {KEEP_MS}, {SHOWN_MS}
"""

_COMMON: Final = """
local time = redis.call('TIME')
local server = time[1] * 1000 + math.floor(time[2] / 1000)
local now = tonumber(ARGV[1])
local fields = redis.call('HGETALL', KEYS[1])
local last, older, shown = nil, {}, {}
for at = 1, #fields, 2 do
  local name, value = fields[at], tonumber(fields[at + 1])
  if name == 'at' then
    last = value
  elseif string.sub(name, 1, 4) == 'gap:' then
    shown[name] = tonumber(string.sub(name, 5))
  else
    local jumped = string.match(name, '^jump:(%d+)$')
    local to = jumped and tonumber(jumped) or tonumber(name) and tonumber(name) + value
    if to then older[name] = { to - value, to } end
  end
end
local silence = last and server - last or 0
local function span(from, to) return string.format('%d:%d', from, to) end
"""

_NOTE: Final = """
local function note(from, to)
  redis.call('ZADD', KEYS[2], to, span(from, to))
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - KEEP_MS)
end
local function note_silence(ms, returning)
  note(now - ms, now + returning)
  if ms > GAP_MS then redis.call('HSET', KEYS[1], 'gap:' .. string.format('%d', server), ms) end
end
"""

_BEAT: Final = f"""{_SIZES}{_COMMON}{_NOTE}
local longest, expected = tonumber(ARGV[2]), tonumber(ARGV[3])
if math.abs(server - expected) > LATE_MS then return {{ server }} end
local found = silence > longest and 1 or 0
if found == 1 then note_silence(silence, RETURN_MS) end
if not last or silence < 0 or silence >= BEAT_MS then
  redis.call('HSET', KEYS[1], 'at', string.format('%d', server))
end
for name, outage in pairs(older) do
  note(outage[1], outage[2])
  redis.call('HDEL', KEYS[1], name)
end
for name, at in pairs(shown) do
  if server - at > SHOWN_MS then redis.call('HDEL', KEYS[1], name) end
end
local newest = redis.call('ZREVRANGEBYSCORE', KEYS[2], now + RETURN_MS, now, 'WITHSCORES', 'LIMIT', 0, 1)
return {{ server, found, silence, newest[2] and tonumber(newest[2]) - now or 0 }}
"""

_NOTED: Final = f"{_SIZES}{_COMMON}{_NOTE}note_silence(tonumber(ARGV[2]), 0)"

_LOST: Final = f"""{_SIZES}{_COMMON}
local spans = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[2], '+inf')
for _, outage in pairs(older) do spans[#spans + 1] = span(outage[1], outage[2]) end
if silence > tonumber(ARGV[3]) then spans[#spans + 1] = span(now - silence, now) end
return spans
"""


class Beaten(msgspec.Struct, frozen=True):
    """`found`: whether the silence before this beat, of `silence_ms`, is noted as an outage. Players may come back from an
    outage for `returning_ms` more, which no deadline should be enforced in.
    """

    found: bool
    silence_ms: int
    returning_ms: int


class Beat:
    """Safe to send twice: a second beat right after the first finds no silence. For one thread."""

    def __init__(self, client: Redis | RedisCluster, now: Callable[[], int] = wall_clock) -> None:
        self._client = client
        self._now = now
        self._server_lead = 0
        """How far the server's clock is ahead of this process's steady one, in milliseconds."""

    def beat(self, longest_ms: int = GAP_MS) -> Beaten:
        """Tell that a sweeper runs now, and note a silence before it that was longer than `longest_ms`.

        Players may have been told meanwhile to come again.

        Raises:
            LogUnavailable: the server does not answer.
        """
        for _ in range(TRIES):
            steady = round(time.monotonic() * 1000)
            reply: list[int] = self._eval(_BEAT, longest_ms, steady + self._server_lead)
            if len(reply) > 1:
                return Beaten(bool(reply[1]), reply[2], reply[3])
            self._server_lead = reply[0] - round(time.monotonic() * 1000)
        return Beaten(False, 0, 0)

    def note(self, ms: int) -> None:
        """Note an outage that ends now, that no beat shows, and in which nobody was told to come again.

        Raises:
            LogUnavailable: the server does not answer.
        """
        self._eval(_NOTED, ms)

    def lost(self, start: int, end: int, silence_ms: int) -> int:
        """Milliseconds between two server times that were outages.

        A silence that is longer than `silence_ms` and lasts is one too: sweepers may not have seen yet what it was.

        Raises:
            LogUnavailable: the server does not answer.
        """
        found: Sequence[bytes] = self._eval(_LOST, start, silence_ms)
        spans = [(int(first), int(last)) for first, _, last in (one.partition(b":") for one in found)]
        return covered(spans, start, end)

    def _eval(self, script: str, *values: int) -> Any:
        (reply,) = send(self._client, ("EVAL", script, 2, KEY, OUTAGES, self._now(), *values))
        return reply


def covered(spans: Sequence[Span], start: int, end: int) -> int:
    """How much of the time from `start` to `end` lies in one of the spans at least."""
    total = 0
    for first, last in sorted(spans):
        total += max(0, min(last, end) - max(first, start))
        start = max(start, last)
    return total
