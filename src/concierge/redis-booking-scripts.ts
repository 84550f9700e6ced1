import { type Owner, ownerHash } from "../domain/owner.js";
import { script } from "../platform/lua-script.js";

/**
 * What Redis holds of bookings, all in one slot of a Cluster, so that a sale, its guest and the seats it takes change in one step.
 *
 * - `sold` (hash): by event, seats by section as JSON.
 * - `sales` (hash): each booking's id, with the row of a sale that was made anonymous, or nothing where it is a guest's.
 * - `references` (hash): whose reference is whose booking's.
 * - Of a guest: `quotes`, `bookings` (hashes of rows by id), `calls` (hash: what was booked from which quote and call) and
 *   `happenings` (zset by seq, from 1).
 */
const SHARED = ["sold", "sales", "references"] as const;
export const GUESTS = ["quotes", "bookings", "calls", "happenings"] as const;
export const BOOKING_KEYS = [...SHARED, ...GUESTS] as const;
export type BookingKey = (typeof BOOKING_KEYS)[number];

/** Behind the prefix, in every key. */
export const BOOKINGS_TAG = "{concierge}";

/** `prefix`: that every key of the installation begins with. */
export function bookingKeys(prefix: string, owner: Owner): Readonly<Record<BookingKey, string>> {
  const guest = new Set<string>(GUESTS);
  const hash = ownerHash(owner);
  return Object.fromEntries(
    BOOKING_KEYS.map((name) => [name, `${prefix}:${BOOKINGS_TAG}:${guest.has(name) ? `${hash}:` : ""}${name}`]),
  ) as Record<BookingKey, string>;
}

/** `prefix`: that every key of the installation begins with. */
export function salesKeys(prefix: string): Readonly<Record<(typeof SHARED)[number], string>> {
  return Object.fromEntries(SHARED.map((name) => [name, `${prefix}:${BOOKINGS_TAG}:${name}`])) as Record<(typeof SHARED)[number], string>;
}

/** For scripts: seats of a section are taken (or given back). */
const SEATS = `
local function soldIn(event) return cjson.decode(call('HGET', K.sold, event) or '{}') end
local function take(event, section, quantity)
  local sold = soldIn(event)
  sold[section] = (sold[section] or 0) + quantity
  call('HSET', K.sold, event, cjson.encode(sold))
end
`;

/** For scripts: what happened is told under the guest's next seq. */
const TELL = `
local function tell(happening)
  local last = call('ZREVRANGE', K.happenings, 0, 0, 'WITHSCORES')
  call('ZADD', K.happenings, tonumber(last[2] or '0') + 1, happening)
end
`;

/** A new quote of a guest, whose old ones go that were not booked. */
export const ADD_QUOTE = script(
  ["quotes"],
  `local rows = call('HGETALL', K.quotes)
for at = 1, #rows, 2 do
  local row = cjson.decode(rows[at + 1])
  if row.booking_id == cjson.null and row.expires_at < ARGV[1] then call('HDEL', K.quotes, rows[at]) end
end
call('HSET', K.quotes, ARGV[2], ARGV[3])`,
);

/** `known` with the booking of the same quote or call, `full` with the seats that are left, or `booked`. */
export const BOOK = script(
  BOOKING_KEYS,
  `${SEATS}${TELL}
local given = cjson.decode(ARGV[1])
local known = call('HGET', K.calls, given.quote) or call('HGET', K.calls, given.call)
if known then return { 'known', call('HGET', K.bookings, known) } end
local left = given.places - (soldIn(given.event)[given.section] or 0)
if left < given.quantity then return { 'full', tostring(left) } end
take(given.event, given.section, given.quantity)
call('HSET', K.sales, given.id, '')
call('HSET', K.references, given.reference, given.id)
call('HSET', K.bookings, given.id, ARGV[2])
call('HSET', K.calls, given.quote, given.id, given.call, given.id)
call('HSET', K.quotes, given.quoteId, ARGV[3])
tell(ARGV[4])
return { 'booked' }`,
);

export const CANCEL = script(
  ["sold", "bookings", "happenings"],
  `${SEATS}${TELL}
local kept = call('HGET', K.bookings, ARGV[1])
local row = kept and cjson.decode(kept)
if not row or row.status ~= 'confirmed' then return 0 end
row.status, row.cancelled_at = 'cancelled', ARGV[2]
call('HSET', K.bookings, ARGV[1], cjson.encode(row))
if row.holds_seats == 1 then take(row.event_id, row.section, -row.quantity) end
tell(ARGV[3])
return 1`,
);

/** Rows of an export that become the guest's: of a sale that is there, only who it was for. Answers how many. */
export const RESTORE = script(
  ["sales", "references", "bookings"],
  `local restored = 0
for at = 1, #ARGV do
  local row = cjson.decode(ARGV[at])
  local kept = call('HGET', K.sales, row.id)
  local sale = kept and kept ~= '' and cjson.decode(kept)
  local may = not kept
  if sale then
    may = true
    for _, name in ipairs({ 'event_id', 'section', 'quantity', 'status' }) do
      if sale[name] ~= row[name] then may = false end
    end
  end
  local taken = row.reference ~= cjson.null and call('HGET', K.references, row.reference)
  if may and (not taken or taken == row.id) then
    if sale then
      for _, name in ipairs({ 'owner', 'reference', 'companions', 'waived' }) do sale[name] = row[name] end
      row = sale
    end
    call('HSET', K.sales, row.id, '')
    if row.reference ~= cjson.null then call('HSET', K.references, row.reference, row.id) end
    call('HSET', K.bookings, row.id, cjson.encode(row))
    restored = restored + 1
  end
end
return restored`,
);

/** Keys of the guest that bookings go to. */
const OTHERS = ["quotesTo", "bookingsTo", "callsTo", "happeningsTo"] as const;

export function handOverKeys(prefix: string, from: Owner, to: Owner): Readonly<Record<BookingKey | (typeof OTHERS)[number], string>> {
  const { quotes, bookings, calls, happenings } = bookingKeys(prefix, to);
  return { ...bookingKeys(prefix, from), quotesTo: quotes, bookingsTo: bookings, callsTo: calls, happeningsTo: happenings };
}

/** Bookings and quotes become another guest's: their owner, ids of the bookings, sessions by their ids before (JSON). */
export const HAND_OVER = script(
  [...GUESTS, ...OTHERS],
  `local to, sessions = ARGV[1], cjson.decode(ARGV[3])
local moved = {}
for _, id in ipairs(cjson.decode(ARGV[2])) do
  local kept = call('HGET', K.bookings, id)
  if kept then
    moved[id] = true
    local row = cjson.decode(kept)
    row.owner = to
    if row.session_id ~= cjson.null then row.session_id = sessions[row.session_id] or row.session_id end
    call('HSET', K.bookingsTo, id, cjson.encode(row))
    call('HDEL', K.bookings, id)
  end
end
local calls = call('HGETALL', K.calls)
for at = 1, #calls, 2 do
  local field = calls[at]
  if moved[calls[at + 1]] then
    call('HDEL', K.calls, field)
    for before, after in pairs(sessions) do
      local head = 'call:["' .. before .. '"'
      if string.sub(field, 1, #head) == head then
        field = 'call:["' .. after .. '"' .. string.sub(field, #head + 1)
        break
      end
    end
    call('HSET', K.callsTo, field, calls[at + 1])
  end
end
local quotes = call('HGETALL', K.quotes)
for at = 1, #quotes, 2 do
  local row = cjson.decode(quotes[at + 1])
  local session = sessions[row.session_id]
  if session then
    row.owner, row.session_id = to, session
    call('HSET', K.quotesTo, quotes[at], cjson.encode(row))
    call('HDEL', K.quotes, quotes[at])
  end
end
local last = tonumber(call('ZREVRANGE', K.happeningsTo, 0, 0, 'WITHSCORES')[2] or '0')
for _, kept in ipairs(call('ZRANGE', K.happenings, 0, -1)) do
  local happening = cjson.decode(kept)
  if moved[happening.booking_id] then
    happening.owner = to
    last = last + 1
    call('ZADD', K.happeningsTo, last, cjson.encode(happening))
    call('ZREM', K.happenings, kept)
  end
end`,
);

/** Sales stay, without a guest. Answers how many quotes and bookings there were. */
export const ERASE = script(
  ["sales", "references", ...GUESTS],
  `local touched = call('HLEN', K.quotes)
for _, kept in ipairs(call('HVALS', K.bookings)) do
  local row = cjson.decode(kept)
  if row.reference ~= cjson.null then call('HDEL', K.references, row.reference) end
  for _, name in ipairs({ 'owner', 'session_id', 'turn', 'call_id', 'quote_id', 'reference' }) do row[name] = cjson.null end
  row.companions, row.waived = '[]', '[]'
  call('HSET', K.sales, row.id, cjson.encode(row))
  touched = touched + 1
end
call('UNLINK', K.quotes, K.bookings, K.calls, K.happenings)
return touched`,
);

/** For scripts: a sale as it was elsewhere, with the seats that it holds. False where it is there already. */
const SELL = `${SEATS}
local row = cjson.decode(ARGV[1])
local function sell(kept)
  if call('HSETNX', K.sales, row.id, kept) == 0 then return false end
  if row.status == 'confirmed' and row.holds_seats == 1 then take(row.event_id, row.section, row.quantity) end
  return true
end
`;

/** A guest's booking as it was elsewhere, and which quote and call it came of. */
export const MOVE_BOOKING = script(
  BOOKING_KEYS,
  `${SELL}
if not sell('') then return end
if row.reference ~= cjson.null then call('HSET', K.references, row.reference, row.id) end
call('HSET', K.bookings, row.id, ARGV[1])
for at = 2, #ARGV do call('HSET', K.calls, ARGV[at], row.id) end`,
);

/** A sale that was made anonymous, as it was elsewhere. */
export const MOVE_SALE = script(
  SHARED,
  `${SELL}
sell(ARGV[1])`,
);
