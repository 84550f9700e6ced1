import { SERVER_TIME, script } from "../../platform/lua-script.js";
import { HINTS } from "./hints.js";

/**
 * An owner's turns that are due, of each session the oldest, the oldest first, at most `limit`; claimed for `leaseMs`, or, where that is 0,
 * only looked at. Answers what becomes of the hint, the owner, which claim it is (when it ends), then fields and rows in turn.
 */
export const CLAIM = script(
  ["own", "pending", "claims"],
  `${HINTS}${SERVER_TIME}
local gen, nowMs, limit, leaseMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local rows = call('HGETALL', K.pending)
local first = {}
for at = 1, #rows, 2 do
  local session, turn = string.match(rows[at], '^(.*):(%d+)$')
  if not first[session] or tonumber(turn) < first[session].turn then
    first[session] = { session = session, turn = tonumber(turn), field = rows[at], json = rows[at + 1] }
  end
end
local least
local due = {}
for _, each in pairs(first) do
  local row = cjson.decode(each.json)
  each.at = row[3]
  if not least or row[4] < least then least = row[4] end
  if row[4] <= nowMs then due[#due + 1] = each end
end
local verdict = settle('due', gen, least)
if verdict == 'gone' then return { verdict } end
local own = call('HMGET', K.own, 'name', 'erasing')
local time = now()
local claim = leaseMs > 0 and string.format('%.0f', time + leaseMs) or ''
local reply = { verdict, own[1] or '', claim }
if leaseMs > 0 and own[2] then return reply end
table.sort(due, function(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.session < b.session
end)
local taken = 0
for _, each in ipairs(due) do
  if taken >= limit then break end
  local claimed = leaseMs > 0 and call('HGET', K.claims, each.field)
  if not claimed or tonumber(claimed) < time then
    if leaseMs > 0 then call('HSET', K.claims, each.field, claim) end
    taken = taken + 1
    reply[#reply + 1] = each.field
    reply[#reply + 1] = each.json
  end
end
return reply`,
);

/** Claims a turn for `leaseMs` from now. Answers which claim it is then; nothing where it is another's, or the owner is being erased. */
export const RENEW_CLAIM = script(
  ["own", "claims"],
  `${SERVER_TIME}
if call('HGET', K.own, 'erasing') or call('HGET', K.claims, ARGV[1]) ~= ARGV[2] then return false end
local claim = string.format('%.0f', now() + ARGV[3])
call('HSET', K.claims, ARGV[1], claim)
return claim`,
);

/** Lets a turn go, where this is its claim, or whichever it is. */
export const LET_GO = script(
  ["claims"],
  `if ARGV[2] == '' or call('HGET', K.claims, ARGV[1]) == ARGV[2] then call('HDEL', K.claims, ARGV[1]) end`,
);

/** Whether a worker has a turn of the owner, or of the session that the fields begin with. */
export const CLAIMED = script(
  ["claims"],
  `${SERVER_TIME}
local time = now()
local claims = call('HGETALL', K.claims)
for at = 1, #claims, 2 do
  if string.sub(claims[at], 1, #ARGV[1]) == ARGV[1] and tonumber(claims[at + 1]) >= time then return 1 end
end
return 0`,
);

/** Keeps a failed attempt of a turn, and lets it go. */
export const RECORD_ATTEMPT = script(
  ["own", "pending", "failed", "claims"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
for _, key in ipairs({ K.pending, K.failed }) do
  local row = call('HGET', key, given.field)
  if row then
    local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
    if asks then return asks end
    row = cjson.decode(row)
    row[4], row[5], row[7] = given.dueMs, given.attempts, given.errorCode
    call('HSET', key, given.field, cjson.encode(row))
    call('HDEL', K.claims, given.field)
  end
end
return { 'done' }`,
);

/** A turn's row as it was elsewhere, where there is one. */
export const RESTORE_PENDING = script(
  ["own", "pending", "failed", "claims"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
local row = call('HGET', K.pending, given.field) or call('HGET', K.failed, given.field)
if not row then return { 'gone' } end
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
row = cjson.decode(row)
row[4], row[5], row[7] = given.dueMs, given.attempts, given.errorCode
for _, key in ipairs({ K.pending, K.failed, K.claims }) do call('HDEL', key, given.field) end
call('HSET', K[given.state], given.field, cjson.encode(row))
return { 'done' }`,
);

/** A session's failed turns are pending again, due now. Answers how many. */
export const RETRY_FAILED = script(
  ["own", "pending", "failed", "claims"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
local again = {}
local rows = call('HGETALL', K.failed)
for at = 1, #rows, 2 do
  if string.sub(rows[at], 1, #given.prefix) == given.prefix then again[#again + 1] = at end
end
if #again == 0 then return { '0' } end
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
for _, at in ipairs(again) do
  local row = cjson.decode(rows[at + 1])
  row[4], row[5], row[7] = given.dueMs, 0, ''
  call('HSET', K.pending, rows[at], cjson.encode(row))
  call('HDEL', K.failed, rows[at])
  call('HDEL', K.claims, rows[at])
end
return { tostring(#again) }`,
);

/** How many turns of an owner have failed, and what becomes of the hint. */
export const COUNT_FAILED = script(
  ["own", "failed"],
  `${HINTS}
local failed = call('HLEN', K.failed)
return { settle('failed', ARGV[1], failed > 0 and 0 or nil), tostring(failed) }`,
);
