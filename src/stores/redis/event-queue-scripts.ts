import { SERVER_TIME, script } from "../../platform/lua-script.js";
import { DEAD_EVENT_KEYS, EVENT_QUEUE_KEYS, PLACES } from "./event-keys.js";

/** For scripts with the keys of the queue, server time and places: what waits. Those that are given up need their keys as well. */
export const ENQUEUE = `
local function idIn(member) return string.match(member, '[^:]*$') end
local function first(tag)
  local member = beginning(K.line, tag .. ':', nil, 1)[1]
  return member and idIn(member)
end
local function enqueue(tag, place, id, json)
  if call('HSETNX', K.waiting, id, place .. json) == 0 then return end
  call('ZADD', K.line, 0, tag .. ':' .. place .. ':' .. id)
  call('ZADD', K.due, 'NX', string.format('%.0f', now()), tag)
end
-- Takes one out of the line. Whether it was there.
local function leave(tag, id)
  local row = call('HGET', K.waiting, id)
  if not row or call('ZREM', K.line, tag .. ':' .. placeIn(row) .. ':' .. id) == 0 then return false end
  call('HDEL', K.waiting, id)
  return true
end
-- An owner with nothing to deliver.
local function rest(tag)
  call('ZREM', K.due, tag)
  call('HDEL', K.tries, tag)
end
-- Those that were given up.
local function bury(tag, tenant, id, json, ms)
  local place = placed(call('INCR', K.count))
  if call('HSETNX', K.dead, id, place .. json) == 0 then return end
  call('ZADD', K.deadLine, 0, 't:' .. tenant .. ':' .. place .. ':' .. id, 0, 'o:' .. tag .. ':' .. place .. ':' .. id)
  call('ZADD', K.deadTimes, ms, id)
end
-- Takes one out of those that were given up. Whether it was there.
local function revive(tag, tenant, id)
  local row = call('HGET', K.dead, id)
  if not row or call('ZREM', K.deadLine, 't:' .. tenant .. ':' .. placeIn(row) .. ':' .. id) == 0 then return false end
  call('ZREM', K.deadLine, 'o:' .. tag .. ':' .. placeIn(row) .. ':' .. id)
  call('ZREM', K.deadTimes, id)
  call('HDEL', K.dead, id)
  return true
end
`;

/** Owners that are due, at most so many, for so many milliseconds: of each the tries of the first event, and that event, in turn. */
export const CLAIM_EVENTS = script(
  EVENT_QUEUE_KEYS,
  `${SERVER_TIME}${PLACES}${ENQUEUE}
local time, found = now(), {}
for _, tag in ipairs(call('ZRANGEBYSCORE', K.due, '-inf', string.format('%.0f', time), 'LIMIT', 0, ARGV[1])) do
  local id = first(tag)
  if id then
    call('ZADD', K.due, string.format('%.0f', time + ARGV[2]), tag)
    found[#found + 1] = call('HGET', K.tries, tag) or '0'
    found[#found + 1] = kept(call('HGET', K.waiting, id))
  else
    rest(tag)
  end
end
return found`,
);

/** An owner's events that wait, in order, at most so many. */
export const NEXT_EVENTS = script(
  ["waiting", "line"],
  `${PLACES}
local found = {}
for _, member in ipairs(beginning(K.line, ARGV[1] .. ':', nil, ARGV[2])) do
  found[#found + 1] = kept(call('HGET', K.waiting, string.match(member, '[^:]*$')))
end
return found`,
);

export const DELIVERED = script(EVENT_QUEUE_KEYS, `${SERVER_TIME}${PLACES}${ENQUEUE}leave(ARGV[1], ARGV[2])`);

/** The owner's marks, the id, what is kept of it from now on, and since when, in milliseconds. */
export const BURY_EVENT = script(
  [...EVENT_QUEUE_KEYS, ...DEAD_EVENT_KEYS, "count"],
  `${SERVER_TIME}${PLACES}${ENQUEUE}
if leave(ARGV[1], ARGV[3]) then bury(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]) end`,
);

/** As it was elsewhere: the same, of one that doesn't wait. */
export const RESTORE_DEAD = script(
  [...DEAD_EVENT_KEYS, "count"],
  `${SERVER_TIME}${PLACES}${ENQUEUE}bury(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])`,
);

/** As it was elsewhere: the owner's tag, the id, and what is delivered. */
export const RESTORE_WAITING = script(
  [...EVENT_QUEUE_KEYS, "count"],
  `${SERVER_TIME}${PLACES}${ENQUEUE}enqueue(ARGV[1], placed(call('INCR', K.count)), ARGV[2], ARGV[3])`,
);

/** The owner's tag, the tries of their first event, and in how many milliseconds they are due: at once for what came meanwhile. */
export const RELEASE_OWNER = script(
  EVENT_QUEUE_KEYS,
  `${SERVER_TIME}${PLACES}${ENQUEUE}
local tag = ARGV[1]
if not first(tag) then return rest(tag) end
call('HSET', K.tries, tag, ARGV[2])
call('ZADD', K.due, string.format('%.0f', now() + ARGV[3]), tag)`,
);

/** In how many milliseconds somebody may be claimed; nil where nothing waits. */
export const NEXT_DUE = script(
  ["due"],
  `${SERVER_TIME}
local next = call('ZRANGE', K.due, 0, 0, 'WITHSCORES')[2]
return next and string.format('%.0f', tonumber(next) - now())`,
);

/** A tenant's, in order, behind the one with this id, at most so many. */
export const DEAD_EVENTS = script(
  ["dead", "deadLine"],
  `${PLACES}
local prefix = 't:' .. ARGV[1] .. ':'
local row = call('HGET', K.dead, ARGV[2])
local after = row and prefix .. placeIn(row) .. ':' .. ARGV[2]
local known = after and call('ZSCORE', K.deadLine, after)
local found = {}
for _, member in ipairs(beginning(K.deadLine, prefix, known and '(' .. after, ARGV[3])) do
  found[#found + 1] = kept(call('HGET', K.dead, string.match(member, '[^:]*$')))
end
return found`,
);

/** The owner's marks, the id, and what is delivered. Whether it was there. */
export const RETRY_EVENT = script(
  [...EVENT_QUEUE_KEYS, ...DEAD_EVENT_KEYS, "count"],
  `${SERVER_TIME}${PLACES}${ENQUEUE}
local tag, tenant, id = ARGV[1], ARGV[2], ARGV[3]
if not revive(tag, tenant, id) then return 0 end
enqueue(tag, placed(call('INCR', K.count)), id, ARGV[4])
return 1`,
);

/** Drops what was given up before a time, at most so many. How many went. */
export const PRUNE_DEAD = script(
  DEAD_EVENT_KEYS,
  `${PLACES}
local old = call('ZRANGEBYSCORE', K.deadTimes, '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(old) do
  local row = call('HGET', K.dead, id)
  local marks = cjson.decode(kept(row)).marks
  call('ZREM', K.deadLine, 't:' .. marks[2] .. ':' .. placeIn(row) .. ':' .. id, 'o:' .. marks[1] .. ':' .. placeIn(row) .. ':' .. id)
  call('ZREM', K.deadTimes, id)
  call('HDEL', K.dead, id)
end
return #old`,
);
