import { SERVER_TIME, script } from "../../platform/lua-script.js";
import { DEAD_EVENT_KEYS, EVENT_LOG_KEYS, EVENT_QUEUE_KEYS, PLACES } from "./event-keys.js";
import { ENQUEUE } from "./event-queue-scripts.js";

/** Takes an event out of the log. */
const DROP = `
local function drop(place)
  local row = call('HGET', K.events, place)
  if not row then return end
  call('HDEL', K.events, place)
  call('HDEL', K.places, tells(behindMarks(row)).id)
  call('ZREM', K.order, members(row, place))
  call('ZREM', K.times, place)
end
`;

/**
 * Adds what an owner's outbox holds, in order. Those whose id is there are passed over, and those that an erasure took while they were on
 * their way. The owner's marks; then of each its place in the outbox, id, type, time in milliseconds, whether it is to be delivered, JSON.
 */
export const LOG_EVENTS = script(
  [...EVENT_LOG_KEYS, ...EVENT_QUEUE_KEYS],
  `${SERVER_TIME}${PLACES}${ENQUEUE}
local tag, tenant = ARGV[1], ARGV[2]
local erasedTo = tonumber(call('HGET', K.erased, tag) or '0')
for at = 3, #ARGV, 6 do
  local from, id, kind, ms, queued, json = unpack(ARGV, at, at + 5)
  if (tonumber(from) > erasedTo or kind == 'owner.erased') and call('HEXISTS', K.places, id) == 0 then
    local place = placed(call('INCR', K.count))
    local row = tag .. tenant .. json
    call('HSET', K.places, id, place)
    call('HSET', K.events, place, row)
    for _, member in ipairs({ members(row, place) }) do call('ZADD', K.order, 0, member) end
    call('ZADD', K.times, ms, place)
    if queued == '1' then enqueue(tag, place, id, json) end
  end
end`,
);

/** Rows of a scope, in order, behind the event of this id, or from the beginning where the scope has no such; at most so many. */
export const READ_EVENTS = script(
  ["places", "events", "order"],
  `${PLACES}
local prefix = ARGV[1]
local place = call('HGET', K.places, ARGV[2])
local known = place and call('ZSCORE', K.order, prefix .. place)
local rows = {}
for _, member in ipairs(beginning(K.order, prefix, known and '(' .. prefix .. place, ARGV[3])) do
  rows[#rows + 1] = call('HGET', K.events, string.sub(member, #prefix + 1))
end
return rows`,
);

/** The last row of a scope, or nil. */
export const NEWEST_EVENT = script(
  ["events", "order"],
  `local prefix = ARGV[1]
local last = call('ZREVRANGEBYLEX', K.order, '(' .. string.sub(prefix, 1, -2) .. ';', '[' .. prefix, 'LIMIT', 0, 1)[1]
return last and call('HGET', K.events, string.sub(last, #prefix + 1))`,
);

/** Drops what happened before a time, at most so many. How many went. */
export const PRUNE_EVENTS = script(
  EVENT_LOG_KEYS,
  `${PLACES}${DROP}
local old = call('ZRANGEBYSCORE', K.times, '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, place in ipairs(old) do drop(place) end
return #old`,
);

/**
 * Drops an owner's events, also those that wait or were given up, but for those that tell of an erasure, and refuses what is on its way
 * from their outbox up to a place. How many went from the log.
 */
export const ERASE_EVENTS = script(
  [...EVENT_LOG_KEYS, ...EVENT_QUEUE_KEYS, ...DEAD_EVENT_KEYS],
  `${SERVER_TIME}${PLACES}${ENQUEUE}${DROP}
local tag, tenant, place = ARGV[1], ARGV[2], tonumber(ARGV[3])
if place > tonumber(call('HGET', K.erased, tag) or '0') then call('HSET', K.erased, tag, ARGV[3]) end
local gone = 0
local own = 'o:' .. tag .. ':'
for _, member in ipairs(beginning(K.order, own)) do
  local at = string.sub(member, #own + 1)
  if tells(behindMarks(call('HGET', K.events, at))).type ~= 'owner.erased' then
    drop(at)
    gone = gone + 1
  end
end
for _, member in ipairs(beginning(K.line, tag .. ':')) do
  local id = idIn(member)
  if tells(kept(call('HGET', K.waiting, id))).type ~= 'owner.erased' then leave(tag, id) end
end
for _, member in ipairs(beginning(K.deadLine, own)) do
  local id = idIn(member)
  if tells(kept(call('HGET', K.dead, id))).type ~= 'owner.erased' then revive(tag, tenant, id) end
end
if not first(tag) then rest(tag) end
return gone`,
);

/** What is left of an owner, but for what tells of an erasure. */
export const EVENT_RESIDUE = script(
  ["events", "order", "waiting", "line", "dead", "deadLine"],
  `${PLACES}
local tag, left = ARGV[1], 0
local own = 'o:' .. tag .. ':'
local function count(json)
  if tells(json).type ~= 'owner.erased' then left = left + 1 end
end
local function last(member) return string.match(member, '[^:]*$') end
for _, member in ipairs(beginning(K.order, own)) do count(behindMarks(call('HGET', K.events, last(member)))) end
for _, member in ipairs(beginning(K.line, tag .. ':')) do count(kept(call('HGET', K.waiting, last(member)))) end
for _, member in ipairs(beginning(K.deadLine, own)) do count(kept(call('HGET', K.dead, last(member)))) end
return left`,
);
