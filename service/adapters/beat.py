"""The sweepers' shared beat on the log's server, and the outages of the service that its gaps show.

Every running sweeper writes the beat. A gap is an outage if it is long, or if a sweeper saw the log fail or hang during it.
Gaps are measured by the server's clock and stored in the time of the process, by which deadlines are judged.
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
"""The braces put the key into the same cluster slot as `KEY`."""
BEAT_MS: Final = 150
"""Minimum time between two stored beats. An earlier beat, of any process, writes nothing."""
GAP_MS: Final = 3_000
"""A longer gap is always an outage."""
DOUBT_MS: Final = 250
"""A longer gap is an outage if the log failed during it. A running sweeper does not pause for this long."""
RETURN_MS: Final = 2_500
"""For players an outage lasts this much longer, so that a client that waits out `Retry-After: 2` is back in time."""
LATE_MS: Final = 500
"""A beat that the server reads this long after it was sent does not count. A server that hung reads everything that was
sent to it in the meantime, although the senders have given up.
"""
TRIES: Final = 5
"""Attempts of one beat. An attempt does not count if the server reads it more than `LATE_MS` from the expected time."""
KEEP_MS: Final = 60 * 24 * 3_600_000
"""How long outages are kept: 60 days."""
SHOWN_MS: Final = 60_000
"""How long an outage is shown to processes of the previous release, which give it back to all matches immediately."""

FRESH_MS: Final = 20
"""For this long, the outages that were read last are not read again: matches in real time need them for each action."""
READ_BACK_MS: Final = 10_000
"""Outages are read at least as far back as this, so that other matches need no read of their own."""

Span: TypeAlias = tuple[int, int]
"""From and to, in milliseconds of server time."""

# ARGV[1] is the time of the process. KEYS[1] is a hash whose field `at` is the newest beat. KEYS[2] is a sorted set of outages
# `<from>:<to>`, scored by their ends. The previous release stores outages in the hash, under the last beat before each or as
# `jump:<end>`; for it, this release writes `gap:<end>` there.
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

_OUTAGES: Final = f"""{_SIZES}{_COMMON}
local spans = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[2], '+inf')
for _, outage in pairs(older) do spans[#spans + 1] = span(outage[1], outage[2]) end
return {{ silence, spans }}
"""


class Beaten(msgspec.Struct, frozen=True):
    """The gap before a beat: its length `silence_ms`, and whether it was stored as an outage (`found`).

    `returning_ms`: for this time, players may still be reconnecting after an outage, and no deadline should be enforced.
    """

    found: bool
    silence_ms: int
    returning_ms: int


class _Outages(msgspec.Struct, frozen=True):
    """The outages that ended after `since` (server time), as read at `read_at` (monotonic), both in milliseconds.

    `silence_ms`: the time since the newest beat.
    """

    since: int
    read_at: int
    silence_ms: int
    spans: tuple[Span, ...]

    def is_complete(self, start: int) -> bool:
        """Whether no outage since `start` can have been stored after they were read.

        One that is stored now began before they were read. A gap in the beats would have shown it.
        """
        age_ms = round(time.monotonic() * 1000) - self.read_at
        return self.since <= start and age_ms <= FRESH_MS and self.silence_ms + FRESH_MS <= DOUBT_MS


class Beat:
    """Writes beats and reads outages, for one thread. A beat may be sent twice: the second one finds no gap."""

    def __init__(self, client: Redis | RedisCluster, now: Callable[[], int] = wall_clock) -> None:
        self._client = client
        self._now = now
        self._outages: _Outages | None = None
        self._server_lead = 0
        """How far the server's clock is ahead of this process's monotonic clock, in milliseconds."""

    def beat(self, longest_ms: int = GAP_MS) -> Beaten:
        """Write the beat, and store the gap before it as an outage if it was longer than `longest_ms`.

        Requests may have been refused with `Retry-After` during such an outage.

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
        """Store an outage that ends now and that no gap shows; no request was refused during it.

        Raises:
            LogUnavailable: the server does not answer.
        """
        self._eval(_NOTED, ms)

    def lost(self, start: int, end: int, silence_ms: int) -> int:
        """How many milliseconds between two server times were outages.

        A gap that lasts now and is longer than `silence_ms` counts too, since sweepers may not have seen its cause yet.

        Raises:
            LogUnavailable: the server does not answer.
        """
        known = self._outages
        if known is None or not known.is_complete(start):
            self._outages = known = self._read(start)
        spans = list(known.spans)
        if known.silence_ms > silence_ms:
            now = self._now()
            spans.append((now - known.silence_ms, now))
        return covered(spans, start, end)

    def _read(self, start: int) -> _Outages:
        since = min(start, self._now() - READ_BACK_MS)
        read_at = round(time.monotonic() * 1000)
        silence_ms, found = self._eval(_OUTAGES, since)
        parts = (one.partition(b":") for one in found)
        return _Outages(since, read_at, silence_ms, tuple((int(first), int(last)) for first, _, last in parts))

    def _eval(self, script: str, *values: int) -> Any:
        (reply,) = send(self._client, ("EVAL", script, 2, KEY, OUTAGES, self._now(), *values))
        return reply


def covered(spans: Sequence[Span], start: int, end: int) -> int:
    """How much of the time from `start` to `end` lies in at least one of the spans."""
    total = 0
    for first, last in sorted(spans):
        total += max(0, min(last, end) - max(first, start))
        start = max(start, last)
    return total
