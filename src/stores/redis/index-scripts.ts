import { script } from "../../platform/lua-script.js";
import { INDEX_KEYS, ORDER_KEYS } from "./keys.js";

/** Ids behind a position, newest activity first, with their times. */
export const LISTED = script(
  ["listed"],
  `local from = 0
if ARGV[2] ~= '' then
  from = call('ZCOUNT', K.listed, '(' .. ARGV[1], '+inf')
  for _, id in ipairs(call('ZREVRANGEBYSCORE', K.listed, ARGV[1], ARGV[1])) do
    if id >= ARGV[2] then from = from + 1 end
  end
end
return call('ZREVRANGE', K.listed, from, from + ARGV[3] - 1, 'WITHSCORES')`,
);

/** Of each session that is asked for: its state (empty where there is none), and how many turns are pending and failed. */
export const VIEWS = script(
  ["states", "pending", "failed"],
  `local function counts(key)
  local of = {}
  for _, field in ipairs(call('HKEYS', key)) do
    local id = string.match(field, '^(.*):')
    of[id] = (of[id] or 0) + 1
  end
  return of
end
local pending, failed = counts(K.pending), counts(K.failed)
local reply = {}
for _, id in ipairs(ARGV) do
  reply[#reply + 1] = call('HGET', K.states, id) or ''
  reply[#reply + 1] = tostring(pending[id] or 0)
  reply[#reply + 1] = tostring(failed[id] or 0)
end
return reply`,
);

/** Drops all that the index has of a session. `ARGV[2]`: its member in the set of external ids. */
export const REMOVE_INDEXED = script(
  [...INDEX_KEYS, "standings", "texts"],
  `local id = ARGV[1]
if call('HDEL', K.states, id) == 0 then return 0 end
call('HDEL', K.indexed, id)
call('ZREM', K.external, ARGV[2])
for _, name in ipairs({ '${ORDER_KEYS.join("', '")}' }) do call('ZREM', K[name], id) end
for _, key in ipairs({ K.pending, K.failed, K.claims }) do
  for _, field in ipairs(call('HKEYS', key)) do
    if string.sub(field, 1, #id + 1) == id .. ':' then call('HDEL', key, field) end
  end
end
local kept = call('HGETALL', K.idempotency)
for at = 1, #kept, 2 do
  if cjson.decode(kept[at + 1])[2] == id then
    call('HDEL', K.idempotency, kept[at])
    call('ZREM', K.idempotencyAt, kept[at])
  end
end
call('UNLINK', K.standings, K.texts)
return 1`,
);

/** Drops all that the index has of an owner but what lies in their sessions' own keys. How many sessions, keys and turns went. */
export const ERASE_INDEXED = script(
  INDEX_KEYS,
  `local counts = { call('HLEN', K.states), call('HLEN', K.idempotency), call('HLEN', K.pending) + call('HLEN', K.failed) }
call('UNLINK', unpack(KEYS))
return counts`,
);
