import { script } from "../../platform/lua-script.js";
import { TELL } from "./event-outbox.js";
import { HINTS, type Need, type Offer } from "./hints.js";
import { INDEXED_KEYS, type KeyName, LASTING_KEYS, ORDER_KEYS, SESSION_KEYS } from "./keys.js";

/** A command on one of the session's or owner's keys. */
export type Command = readonly [command: string, key: KeyName, ...args: (string | number)[]];

/** What the script is given: what must hold, then what is done. */
export interface WritePlan {
  readonly kind: "create" | "append" | "fold";
  readonly owner: string;
  readonly sessionId: string;
  readonly incarnation: string;
  /** The last seq before the write; of a fold, the last that the index has. */
  readonly lastSeq: number;
  /** Whether the write changes the index, which must then be level with the journal. */
  readonly indexes: boolean;
  /** -1: not checked. */
  readonly fence: number;
  readonly leaseKey: string;
  /** The session's lock ends with the write, if it has that fence. */
  readonly endsLock: boolean;
  /** Of a create; -1: not checked. */
  readonly epoch: number;
  readonly needs: readonly Need[];
  readonly offer: Offer | null;
  readonly commands: readonly Command[];
  /** What is put into the owner's outbox. */
  readonly told: readonly string[];
  /** Idempotency keys, by hash, with the time of their message, and what is kept. */
  readonly keys: readonly (readonly [field: string, atMs: number, kept: string])[];
  /** Turns that are planned, given up, and done. */
  readonly planned: readonly number[];
  readonly failed: readonly (readonly [turn: number, attempts: number, errorCode: string])[];
  readonly done: readonly number[];
  /** Turns that were answered behind this seq are no more; -1: none. */
  readonly takenBackTo: number;
  /** What the session's keys live for, in milliseconds; 0: for ever. */
  readonly ttlMs: number;
}

/** How long an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/**
 * A write of a session, all or nothing: first the checks, then the records and all that the index makes of them. Answers with one word,
 * `written` where it happened; `hint` asks for hints. Rows of `pending` and `failed` are arrays: seq of the user's message,
 * seq of the answer, time, due time, attempts, planned (0 or 1), error code.
 */
export const WRITE = script(
  [...LASTING_KEYS, "journals", ...INDEXED_KEYS, ...ORDER_KEYS, ...SESSION_KEYS],
  `${HINTS}${TELL}
local plan = cjson.decode(ARGV[1])
local id = plan.sessionId
local DAY = ${IDEMPOTENCY_MS}
local head = call('HMGET', K.head, 'last_seq', 'fence', 'incarnation')
if plan.kind == 'create' then
  local own = call('HMGET', K.own, 'epoch', 'erasing')
  if own[2] or (plan.epoch >= 0 and tonumber(own[1] or '0') ~= plan.epoch) then return { 'erased' } end
  if head[1] then return { 'changed' } end
else
  if not head[1] then return { 'gone' } end
  if (head[3] or '') ~= plan.incarnation then return { 'moved' } end
  if plan.kind == 'append' and tonumber(head[1]) ~= plan.lastSeq then return { 'moved' } end
  if plan.indexes and tonumber(call('HGET', K.indexed, id) or '0') ~= plan.lastSeq then return { 'moved' } end
  if plan.fence >= 0 then
    local lease = call('HGET', K.leases, plan.leaseKey)
    if tonumber(head[2] or '0') > plan.fence then return { 'fenced' } end
    if lease and tonumber(string.match(lease, '^(%d+)')) > plan.fence then return { 'fenced' } end
  end
end
-- What a fold finds was said long ago: it takes no key from a newer message, and refuses none.
local function overtaken(key)
  local kept = plan.kind == 'fold' and call('HGET', K.idempotency, key[1])
  return kept and cjson.decode(kept)[1] > key[2]
end
for _, key in ipairs(plan.keys) do
  local kept = plan.kind ~= 'fold' and call('HGET', K.idempotency, key[1])
  if kept then
    local before = cjson.decode(kept)
    local own = before[2] == id and before[1] <= key[2]
    if not own and before[1] > key[2] - DAY then return { 'taken' } end
  end
end
local asks = lacking(plan.needs, plan.offer ~= cjson.null and plan.offer)
if asks then return asks end

call('HSET', K.own, 'name', plan.owner)
tell(plan.told)
-- Before turns are added: what a rewind takes back was there before it.
local function over(field)
  for _, key in ipairs({ K.pending, K.failed, K.claims }) do call('HDEL', key, field) end
end
for _, turn in ipairs(plan.done) do over(id .. ':' .. turn) end
if plan.takenBackTo >= 0 then
  for _, key in ipairs({ K.pending, K.failed }) do
    local rows = call('HGETALL', key)
    for at = 1, #rows, 2 do
      if string.sub(rows[at], 1, #id + 1) == id .. ':' and cjson.decode(rows[at + 1])[2] > plan.takenBackTo then over(rows[at]) end
    end
  end
end
for _, command in ipairs(plan.commands) do
  call(command[1], K[command[2]], unpack(command, 3))
end
for _, key in ipairs(plan.keys) do
  local at = string.format('%.0f', key[2])
  local old = call('ZRANGEBYSCORE', K.idempotencyAt, '-inf', '(' .. string.format('%.0f', key[2] - DAY))
  for _, field in ipairs(old) do call('HDEL', K.idempotency, field) end
  call('ZREMRANGEBYSCORE', K.idempotencyAt, '-inf', '(' .. string.format('%.0f', key[2] - DAY))
  if not overtaken(key) then
    call('HSET', K.idempotency, key[1], key[3])
    call('ZADD', K.idempotencyAt, at, key[1])
  end
  call('PEXPIRE', K.idempotency, DAY)
  call('PEXPIRE', K.idempotencyAt, DAY)
end
for _, turn in ipairs(plan.planned) do
  local field = id .. ':' .. turn
  for _, key in ipairs({ K.pending, K.failed }) do
    local row = call('HGET', key, field)
    if row then
      row = cjson.decode(row)
      row[6] = 1
      call('HSET', key, field, cjson.encode(row))
    end
  end
end
for _, given in ipairs(plan.failed) do
  local field = id .. ':' .. given[1]
  local row = call('HGET', K.pending, field) or call('HGET', K.failed, field)
  if row then
    row = cjson.decode(row)
    row[5] = given[2]
    row[7] = given[3]
    call('HDEL', K.pending, field)
    call('HDEL', K.claims, field)
    call('HSET', K.failed, field, cjson.encode(row))
  end
end
if plan.endsLock then
  local lease = call('HGET', K.leases, plan.leaseKey)
  if lease and tonumber(string.match(lease, '^(%d+)')) == plan.fence then call('HDEL', K.leases, plan.leaseKey) end
end
if plan.ttlMs > 0 then
  for at = ${LASTING_KEYS.length + 1}, #KEYS do call('PEXPIRE', KEYS[at], plan.ttlMs) end
end
return { 'written' }`,
);
