"""The changes of webhooks and deliveries as scripts: each is atomic, and all keys of a player are in one slot of a cluster.

KEYS of each: 1 the webhooks (hash; id -> JSON), 2 the deliveries (hash; name -> JSON), 3 their times of creation (sorted set),
4 when the pending ones are due (sorted set), 5 positions (hash; source -> number), then the due sets of the player's partition:
6 deliveries, 7 news; 8 the webhooks that were removed within a day (sorted set by time in seconds). ARGV 1 is the player's member of these due sets.
"""

from typing import Final

_COMMON: Final = """
local webhooks, deliveries, made, pending, positions, due, news, removed_ids = unpack(KEYS)
local player = ARGV[1]
local function set_due()
  local first = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')
  if first[1] then
    redis.call('ZADD', due, first[2], player)
  else
    redis.call('ZREM', due, player)
  end
end
local function forget(name)
  redis.call('HDEL', deliveries, name)
  redis.call('ZREM', made, name)
  redis.call('ZREM', pending, name)
end
"""
ADD: Final = (
    _COMMON
    + """
if redis.call('HEXISTS', webhooks, ARGV[2]) == 1 then
  return 'known'
elseif redis.call('ZSCORE', removed_ids, ARGV[2]) then
  return 'removed'
elseif redis.call('HLEN', webhooks) >= tonumber(ARGV[4]) then
  return 'full'
end
redis.call('HSET', webhooks, ARGV[2], ARGV[3])
redis.call('ZADD', news, ARGV[5], player)
return 'added'
"""
)
"""ARGV the id of the webhook, itself, the limit, and the time at which news are due. Returns an `AddedWebhook`."""
REPLACE: Final = (
    _COMMON
    + """
if redis.call('HGET', webhooks, ARGV[2]) ~= ARGV[3] then
  return 0
end
redis.call('HSET', webhooks, ARGV[2], ARGV[4])
if ARGV[5] ~= '' then
  redis.call('ZADD', news, ARGV[5], player)
end
return 1
"""
)
"""ARGV the id of the webhook, itself as it is stored and as it becomes, and the time at which news are due ('' for no change). Returns whether it was replaced."""
REMOVE: Final = (
    _COMMON
    + """
local removed = redis.call('HDEL', webhooks, ARGV[2])
if removed == 1 then
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', removed_ids, '-inf', now - 86400)
  redis.call('ZADD', removed_ids, now, ARGV[2])
  redis.call('EXPIRE', removed_ids, 86400)
end
for _, name in ipairs(redis.call('HKEYS', deliveries)) do
  if string.sub(name, 1, #ARGV[2] + 1) == ARGV[2] .. '/' then
    forget(name)
  end
end
if redis.call('HLEN', webhooks) == 0 then
  redis.call('DEL', positions)
end
set_due()
return removed
"""
)
"""ARGV the id of the webhook. Returns how many were removed."""
ERASE: Final = (
    _COMMON
    + """
redis.call('DEL', webhooks, deliveries, made, pending, positions, removed_ids)
redis.call('ZREM', due, player)
redis.call('ZREM', news, player)
"""
)
SET_NEWS: Final = (
    _COMMON
    + """
set_due()
if ARGV[3] ~= '' and redis.call('ZSCORE', news, player) ~= ARGV[3] then
  return 0
end
if ARGV[2] == '' then
  return redis.call('ZREM', news, player)
end
return redis.call('ZADD', news, ARGV[2], player)
"""
)
"""ARGV the time at which news are due ('' for none), and the time that is replaced ('' for any)."""
RECORD: Final = (
    _COMMON
    + """
local source, position = ARGV[2], tonumber(ARGV[3])
if redis.call('HLEN', webhooks) == 0 then
  return 0
end
for i = 7, #ARGV, 5 do
  local webhook, name, delivery, at, next_at = unpack(ARGV, i, i + 4)
  if redis.call('HEXISTS', webhooks, webhook) == 1 and redis.call('HSETNX', deliveries, name, delivery) == 1 then
    redis.call('ZADD', made, at, name)
    redis.call('ZADD', pending, next_at, name)
  end
end
if ARGV[4] == '1' then
  redis.call('HDEL', positions, source)
elseif position > tonumber(redis.call('HGET', positions, source) or '-1') then
  redis.call('HSET', positions, source, ARGV[3])
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', made, '-inf', ARGV[5])) do
  forget(name)
end
for _, name in ipairs(redis.call('ZRANGE', made, 0, -tonumber(ARGV[6]) - 1)) do
  forget(name)
end
set_due()
return 1
"""
)
"""ARGV the source, its position, 1 if it is the last; the time before which deliveries are forgotten, and how many are kept;
then for each new delivery its webhook, its name, itself, when it was made, and when it is due."""
TAKE: Final = (
    _COMMON
    + """
local names = redis.call('ZRANGEBYSCORE', pending, '-inf', ARGV[2], 'LIMIT', 0, ARGV[4])
local taken = {}
for _, name in ipairs(names) do
  local delivery = redis.call('HGET', deliveries, name)
  if delivery then
    redis.call('ZADD', pending, ARGV[3], name)
    taken[#taken + 1] = delivery
  else
    redis.call('ZREM', pending, name)
  end
end
set_due()
return taken
"""
)
"""ARGV now, the end of the lease, and the limit. Returns the deliveries."""
HOLD: Final = (
    _COMMON
    + """
for i = 3, #ARGV do
  redis.call('ZADD', pending, 'XX', ARGV[2], ARGV[i])
end
redis.call('ZADD', due, 'XX', ARGV[2], player)
"""
)
"""ARGV when the deliveries of the player are due, and the names of those that were taken and are due again then."""
SETTLE: Final = (
    _COMMON
    + """
local stored = redis.call('HGET', deliveries, ARGV[2])
local known = stored and cjson.decode(stored)
local is_same = known and known.since == tonumber(ARGV[5]) and known.attempts == tonumber(ARGV[6])
if is_same then
  redis.call('HSET', deliveries, ARGV[2], ARGV[3])
  if ARGV[4] == '' then
    redis.call('ZREM', pending, ARGV[2])
  else
    redis.call('ZADD', pending, ARGV[4], ARGV[2])
  end
end
set_due()
return is_same and 1 or 0
"""
)
"""ARGV the name of the delivery, itself, when it is due ('' if it is not pending), and its `since` and `attempts` before.
Returns whether it was stored."""
