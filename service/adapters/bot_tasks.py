"""What is remembered of the tasks of hosted bots, on the log's server.

The keys of a bot share a hash tag, so that scripts can change them together on a cluster: `tasks` is a hash of records by
task, `times` a sorted set of the tasks by when they were asked, `calling` a hash from turns to the times until which a call
may last, and `days` a hash of numbers by `<day>:<name>`. `erased` exists if the bot was deleted: nothing is noted of it any more.
Backups leave them out, as they do the index.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from redis import Redis, RedisCluster

from events.redis_log import send
from events.redis_pool import Command
from service.repository.bot_tasks import KEPT_DAYS, KEPT_TASKS, Begun, Day, TaskRecord, bucket_of

DAY_MS: Final = 24 * 3_600_000
_KEEP_S: Final = (KEPT_DAYS + 1) * 86_400
"""Seconds after which the keys of a bot that gets no task any more are removed."""
_MANY_CALLS: Final = 64
"""A bot with more calls than this has some that were never ended, because their process died. They are removed."""

_STORE: Final = f"""
local function store(task, record, at)
  redis.call('HSET', KEYS[1], task, record)
  redis.call('ZADD', KEYS[2], 'NX', at, task)
  local old = redis.call('ZRANGE', KEYS[2], 0, -{KEPT_TASKS + 1})
  for _, one in ipairs(old) do
    redis.call('HDEL', KEYS[1], one)
    redis.call('ZREM', KEYS[2], one)
  end
  for i = 1, 4 do
    redis.call('EXPIRE', KEYS[i], {_KEEP_S})
  end
end
local function outcome_of(task)
  local known = redis.call('HGET', KEYS[1], task)
  return known and cjson.decode(known)['outcome']
end
"""
_UNLESS_ERASED: Final = """
if redis.call('EXISTS', KEYS[5]) == 1 then
  return 0
end
"""
_BEGIN: Final = (
    _STORE
    + f"""
if redis.call('EXISTS', KEYS[5]) == 1 then
  return 'ended'
end
if redis.call('HLEN', KEYS[3]) > {_MANY_CALLS} then
  local calls = redis.call('HGETALL', KEYS[3])
  for i = 1, #calls, 2 do
    if tonumber(calls[i + 1]) <= tonumber(ARGV[3]) then
      redis.call('HDEL', KEYS[3], calls[i])
    end
  end
end
"""
    + """
local outcome = outcome_of(ARGV[1])
local until_ms = tonumber(redis.call('HGET', KEYS[3], ARGV[4]) or 0)
if outcome and outcome ~= 'late' then
  return 'ended'
end
if until_ms > tonumber(ARGV[3]) then
  return 'busy'
end
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
store(ARGV[1], ARGV[2], ARGV[3])
return 'begun'
"""
)
"""ARGV the task, its record, when it was asked, its turn, and until when the call may last."""
_EXTEND: Final = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 1
"""
"""KEYS the turns; ARGV the turn of a call, and until when it may last. A call that has ended stays ended."""
_NOTE: Final = (
    _UNLESS_ERASED
    + _STORE
    + """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  store(ARGV[1], ARGV[2], ARGV[3])
end
return 1
"""
)
"""ARGV the task, its record, and when it was asked."""
_END: Final = (
    _UNLESS_ERASED
    + _STORE
    + """
redis.call('HDEL', KEYS[3], ARGV[4])
local outcome = outcome_of(ARGV[1])
if outcome and outcome ~= 'declined' then
  return 0
end
store(ARGV[1], ARGV[2], ARGV[3])
local day = ARGV[5]
if redis.call('HEXISTS', KEYS[4], day .. ':tasks') == 0 then
  for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
    if tonumber(string.match(field, '^(%d+):')) <= tonumber(day) - tonumber(ARGV[6]) then
      redis.call('HDEL', KEYS[4], field)
    end
  end
end
if not outcome then
  redis.call('HINCRBY', KEYS[4], day .. ':tasks', 1)
end
for i = 7, #ARGV do
  redis.call('HINCRBY', KEYS[4], day .. ':' .. ARGV[i], 1)
end
if outcome then
  redis.call('HINCRBY', KEYS[4], day .. ':' .. outcome, -1)
end
return 1
"""
)
"""ARGV the task, its record, when it was asked, its turn, the day, for how many days numbers are kept, and what to count."""

_record: Final = msgspec.json.Decoder(TaskRecord).decode
_encode: Final = msgspec.json.Encoder().encode


class RedisBotTasks:
    """`BotTasks`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def begin(self, bot: str, record: TaskRecord, until: int) -> Begun:
        found = self._run(_BEGIN, bot, record.task, _encode(record), record.asked_at, record.turn, until)
        answers: Mapping[bytes, Begun] = {b"begun": "begun", b"busy": "busy", b"ended": "ended"}
        return answers[found]

    def extend(self, bot: str, record: TaskRecord, until: int) -> None:
        send(self._client, ("EVAL", _EXTEND, 1, _keys(bot)[2], record.turn, until))

    def note(self, bot: str, *records: TaskRecord) -> None:
        send(self._client, *(_eval(_NOTE, bot, one.task, _encode(one), one.asked_at) for one in records))

    def end(self, bot: str, record: TaskRecord) -> bool:
        day = (record.ended_at or record.asked_at) // DAY_MS
        counted = [record.outcome or "failed", *([] if record.ms is None else [f"ms{bucket_of(record.ms)}"])]
        arguments: list[str | bytes | int] = [
            record.task,
            _encode(record),
            record.asked_at,
            record.turn,
            day,
            KEPT_DAYS,
            *counted,
        ]
        return bool(self._run(_END, bot, *arguments))

    def find(self, bot: str, task: str) -> TaskRecord | None:
        stored: bytes | None
        (stored,) = send(self._client, ("HGET", _keys(bot)[0], task))
        return None if stored is None else _record(stored)

    def newest(self, bot: str, skip: int, limit: int) -> Sequence[TaskRecord]:
        records, times, *_ = _keys(bot)
        ids: list[bytes]
        (ids,) = send(self._client, ("ZREVRANGE", times, skip, skip + limit - 1))
        stored: list[bytes | None] = send(self._client, ("HMGET", records, *ids))[0] if ids else []
        return [_record(one) for one in stored if one is not None]

    def days(self, bots: Sequence[str]) -> Mapping[str, Sequence[Day]]:
        found: list[Mapping[bytes, bytes]] = (
            send(self._client, *(("HGETALL", _keys(bot)[3]) for bot in bots)) if bots else []
        )
        return {bot: _days(fields) for bot, fields in zip(bots, found, strict=True)}

    def forget(self, bot: str) -> None:
        *keys, erased = _keys(bot)
        # In this order, so that nothing is noted in between. The mark outlives every match that has a call in flight.
        send(self._client, ("SET", erased, 1, "EX", _KEEP_S))
        send(self._client, *(("DEL", key) for key in keys))

    def _run(self, script: str, bot: str, *arguments: str | bytes | int) -> Any:
        (answer,) = send(self._client, _eval(script, bot, *arguments))
        return answer


def _eval(script: str, bot: str, *arguments: str | bytes | int) -> Command:
    keys = _keys(bot)
    return ("EVAL", script, len(keys), *keys, *arguments)


def _days(fields: Mapping[bytes, bytes]) -> Sequence[Day]:
    outcomes: dict[int, dict[str, int]] = {}
    times: dict[int, dict[int, int]] = {}
    for field, number in fields.items():
        day, _, name = field.decode().partition(":")
        if name.startswith("ms"):
            times.setdefault(int(day), {})[int(name[2:])] = int(number)
        elif name != "tasks" and int(number):
            outcomes.setdefault(int(day), {})[name] = int(number)
    return [Day(day, outcomes.get(day, {}), times.get(day, {})) for day in sorted({*outcomes, *times}, reverse=True)]


def _keys(bot: str) -> tuple[str, str, str, str, str]:
    prefix = f"index:{{{bot}}}:"
    return f"{prefix}tasks", f"{prefix}times", f"{prefix}calling", f"{prefix}days", f"{prefix}erased"
