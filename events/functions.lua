#!lua name=moonstone_3
-- Three writes to a match and one read, each atomic. The server runs one Function at a time but never rolls one back, so
-- all checks come before the first write, and nothing after the first write can fail. If a Function changes, the number in
-- all names is raised, so that processes of the old and the new release can run side by side.
--
-- Keys of a match:
--   1 events    stream; ids <version>-0; fields e = stored bytes, h = their SHA-256, s = their SHA-1, which Lua can compute
--   2 commands  hash; command id -> "<version> <digest>"
--   3 seed      string
--   4 snapshot  sorted set; snapshot bytes -> version
-- Keys of its partition: one due set per kind; match id -> milliseconds. The caller passes times in the order of these keys.

-- The newest version and its hash. The hash is empty if the stored bytes no longer match their SHA-1.
local function head(events)
  local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
  if not last then
    return nil
  end
  local entry = {}
  for i = 1, #last[2], 2 do
    entry[last[2][i]] = last[2][i + 1]
  end
  local changed = entry.s and entry.s ~= redis.sha1hex(entry.e or '')
  return tonumber(string.match(last[1], '^%d+')), not changed and entry.h or ''
end

-- The due sets are the keys after the first `before` ones. `times` has one time for each; '' means that nothing is due, and
-- '=' before a time that it only replaces another one.
local function replace_due(match, keys, before, times)
  for i, time in ipairs(times) do
    if time == '' then
      redis.call('ZREM', keys[before + i], match)
    elseif string.sub(time, 1, 1) == '=' then
      redis.call('ZADD', keys[before + i], 'XX', string.sub(time, 2), match)
    else
      redis.call('ZADD', keys[before + i], time, match)
    end
  end
end

-- KEYS  events, commands, seed, snapshot, then the due sets
-- ARGV  match, command id, digest, expected version, expected hash, seed, snapshot, then a time for each due set,
--       then for each event: its stored bytes, their hash
local function append(keys, args)
  local events, commands, seed = keys[1], keys[2], keys[3]
  local match, command, digest = args[1], args[2], args[3]
  local seen = redis.call('HGET', commands, command)
  if seen then
    local version, known = string.match(seen, '^(%d+) (.*)$')
    return { known == digest and 'SEEN' or 'REUSED', tonumber(version) }
  end
  local expected = tonumber(args[4])
  local version, hash = head(events)
  if version then
    if version ~= expected or hash ~= args[5] then
      return { 'CONFLICT', version, hash }
    end
  elseif expected ~= 0 or redis.call('EXISTS', commands) == 1 then -- commands without events: the match lost its events
    return { 'CONFLICT' }
  end

  local times = { unpack(args, 8, 3 + #keys) }
  for i = 4 + #keys, #args, 2 do
    expected = expected + 1
    redis.call('XADD', events, string.format('%d-0', expected), 'e', args[i], 'h', args[i + 1], 's', redis.sha1hex(args[i]))
  end
  redis.call('HSET', commands, command, string.format('%d %s', expected, digest))
  if args[6] ~= '' then
    redis.call('SET', seed, args[6])
  end
  replace_due(match, keys, 4, times)
  if args[7] ~= '' then -- pcall: a key of a wrong type must not interrupt an append that is half written
    redis.pcall('ZREMRANGEBYSCORE', keys[4], '(' .. args[4], '+inf')
    redis.pcall('ZADD', keys[4], expected, args[7])
  end
  redis.call('PUBLISH', 'wake:' .. match, expected)
  return { 'APPENDED', expected }
end

-- KEYS  events, snapshot    ARGV  last version, '' for the newest
-- Returns the newest snapshot up to that version, or nil, and the events from the snapshot's version on.
local function recall(keys, args)
  local last = args[1]
  local found = redis.pcall('ZREVRANGEBYSCORE', keys[2], last == '' and '+inf' or last, 0, 'WITHSCORES', 'LIMIT', 0, 1)
  local events = redis.call('XRANGE', keys[1], (found[2] or '1') .. '-0', last == '' and '+' or last .. '-0')
  return { found[1] or false, events }
end

-- KEYS  a due set    ARGV  now, end of the claim, limit
local function claim(keys, args)
  local due = redis.call('ZRANGEBYSCORE', keys[1], '-inf', args[1], 'WITHSCORES', 'LIMIT', 0, args[3])
  for i = 1, #due, 2 do
    redis.call('ZADD', keys[1], args[2], due[i])
  end
  return due
end

-- KEYS  events, then the due sets    ARGV  match, version, then a time for each due set
local function rearm(keys, args)
  if head(keys[1]) ~= tonumber(args[2]) then
    return 0
  end
  replace_due(args[1], keys, 1, { unpack(args, 3) })
  return 1
end

redis.register_function('moonstone_3_append', append)
redis.register_function { function_name = 'moonstone_3_recall', callback = recall, flags = { 'no-writes' } }
redis.register_function('moonstone_3_claim', claim)
redis.register_function('moonstone_3_rearm', rearm)
