"""The Lua scripts that change an account. KEYS are its two hashes, which share a slot on a cluster.

Fields of the first: `token:<digest>` (a token as JSON), `gone:<digest>` (when it was revoked, in seconds), `recovery`
(the digest of the code), `sealed` (tokens that are not listed are invalid) and `erased` (when, in milliseconds). The
second has the hour of the last use of tokens, in milliseconds, by digest.

The keys that lead from a digest to the account (`token_links`) are in other slots, and are removed after the script. If
the process dies in between, a repeated command gets the digests of `gone:` again, so that it can finish this. They are
kept for a day.
"""

from typing import Final

from events.redis_pool import Command

_YESTERDAY: Final = "local yesterday = tonumber(redis.call('TIME')[1]) - 86400\n"
_REMOVE: Final = (
    _YESTERDAY
    + """
local function remove(kept)
  local revoked, stored = {}, redis.call('HGETALL', KEYS[1])
  for i = 1, #stored, 2 do
    local kind, digest = string.match(stored[i], '^(%a+):(.*)$')
    if kind == 'token' and digest ~= kept then
      redis.call('HDEL', KEYS[1], stored[i])
      redis.call('HDEL', KEYS[2], digest)
      redis.call('HSET', KEYS[1], 'gone:' .. digest, string.format('%d', yesterday + 86400))
      table.insert(revoked, digest)
    elseif kind == 'gone' and tonumber(stored[i + 1]) < yesterday then
      redis.call('HDEL', KEYS[1], stored[i])
    elseif kind == 'gone' then
      table.insert(revoked, digest)
    end
  end
  return revoked
end
"""
)
ADD: Final = (
    _YESTERDAY
    + """
if redis.call('HEXISTS', KEYS[1], 'erased') == 1 then
  return {'erased'}
end
for _, digest in ipairs({ARGV[5], ARGV[1]}) do
  local known = redis.call('HGET', KEYS[1], 'token:' .. digest)
  if known then
    return {'known', digest, known}
  elseif redis.call('HEXISTS', KEYS[1], 'gone:' .. digest) == 1 then
    return {'removed'}
  end
end
local answer, count, now = {'added'}, 0, tonumber(ARGV[4])
local stored = redis.call('HGETALL', KEYS[1])
for i = 1, #stored, 2 do
  local digest = string.match(stored[i], '^token:(.*)$')
  if digest then
    local expires_at = cjson.decode(stored[i + 1])['expires_at']
    if type(expires_at) == 'number' and expires_at <= now then
      redis.call('HDEL', KEYS[1], stored[i])
      redis.call('HDEL', KEYS[2], digest)
      redis.call('HSET', KEYS[1], 'gone:' .. digest, string.format('%d', yesterday + 86400))
      table.insert(answer, digest)
    else
      count = count + 1
    end
  elseif string.match(stored[i], '^gone:') and tonumber(stored[i + 1]) < yesterday then
    redis.call('HDEL', KEYS[1], stored[i])
  end
end
if count >= tonumber(ARGV[3]) then
  answer[1] = 'full'
else
  redis.call('HSET', KEYS[1], 'token:' .. ARGV[1], ARGV[2])
end
return answer
"""
)
"""ARGV the digest, the token, the limit, the time, and the digest that the token may have got from an earlier request.
Returns the result, then the digest and the token if it is known, or else the digests of expired tokens."""
REVOKE: Final = """
local is_listed = redis.call('HEXISTS', KEYS[1], 'token:' .. ARGV[1]) == 1
local is_open = redis.call('HEXISTS', KEYS[1], 'sealed') == 0 and redis.call('HEXISTS', KEYS[1], 'gone:' .. ARGV[1]) == 0
if not (is_listed or is_open) or redis.call('HEXISTS', KEYS[1], 'erased') == 1 then
  return 0
end
redis.call('HDEL', KEYS[1], 'token:' .. ARGV[2])
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[1], 'gone:' .. ARGV[2], redis.call('TIME')[1])
return 1
"""
"""ARGV the digests of the token that asks and of the token to revoke."""
REVOKE_OTHERS: Final = (
    _REMOVE
    + """
if redis.call('HEXISTS', KEYS[1], 'erased') == 1 or redis.call('HEXISTS', KEYS[1], 'gone:' .. ARGV[1]) == 1 then
  return false
end
if redis.call('HEXISTS', KEYS[1], 'token:' .. ARGV[1]) == 0 then
  if redis.call('HEXISTS', KEYS[1], 'sealed') == 1 then
    return false
  end
  redis.call('HSET', KEYS[1], 'token:' .. ARGV[1], ARGV[2])
end
redis.call('HSET', KEYS[1], 'sealed', 1)
return remove(ARGV[1])
"""
)
"""ARGV the digest of the token that asks, and the token as it is then listed. Returns the digests of revoked tokens."""
RECOVER: Final = (
    _REMOVE
    + """
if redis.call('HGET', KEYS[1], 'recovery') ~= ARGV[1] then
  return false
end
local revoked = remove(ARGV[2])
redis.call('HSET', KEYS[1], 'token:' .. ARGV[2], ARGV[3], 'sealed', 1)
return revoked
"""
)
"""ARGV the digests of the recovery code and of the new token, and the token. Returns the digests of revoked tokens."""
REPLACE_ALL: Final = (
    _REMOVE
    + """
if redis.call('HEXISTS', KEYS[1], 'erased') == 1 then
  return false
end
local revoked = remove(ARGV[1])
redis.call('HSET', KEYS[1], 'token:' .. ARGV[1], ARGV[2], 'sealed', 1)
return revoked
"""
)
"""ARGV the digest of the new token, and the token. Returns the digests of revoked tokens."""
SET_RECOVERY: Final = """
if redis.call('HEXISTS', KEYS[1], 'erased') == 1 then
  return 0
end
redis.call('HSET', KEYS[1], 'recovery', ARGV[1])
return 1
"""
"""ARGV the digest of the recovery code."""
ERASE: Final = (
    _REMOVE
    + """
local revoked = remove('')
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'recovery', 'sealed')
redis.call('HSETNX', KEYS[1], 'erased', ARGV[1])
return revoked
"""
)
"""ARGV the time. Returns the digests of revoked tokens. The account keeps them until their other keys are removed."""
ADOPT: Final = """
local is_closed = redis.call('HEXISTS', KEYS[1], 'sealed') + redis.call('HEXISTS', KEYS[1], 'erased')
if is_closed + redis.call('HEXISTS', KEYS[1], 'gone:' .. ARGV[1]) > 0 then
  return redis.call('HEXISTS', KEYS[1], 'token:' .. ARGV[1])
end
redis.call('HSETNX', KEYS[1], 'token:' .. ARGV[1], ARGV[2])
return 1
"""
"""ARGV a digest, and the token as it is listed if it is not yet. Returns whether it is listed now."""
USE: Final = """
if redis.call('HEXISTS', KEYS[1], 'token:' .. ARGV[1]) == 0 then
  return 0
end
return redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
"""
"""ARGV the digest of a token, and the hour of its last use in server milliseconds."""


def call(script: str, player: str, *arguments: str | bytes | int) -> Command:
    """The command that runs a script on the account of a player."""
    return ("EVAL", script, 2, account_key(player), uses_key(player), *arguments)


def account_key(player: str) -> str:
    return f"account:{player}"


def uses_key(player: str) -> str:
    return f"uses:{{{account_key(player)}}}"
