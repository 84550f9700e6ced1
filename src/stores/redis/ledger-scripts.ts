import { script } from "../../platform/lua-script.js";
import { HINTS } from "./hints.js";

const PUT = `
local function put(slot, entry) call('HSET', K.ledger, slot, call('HINCRBY', K.own, 'entries', 1) .. ':' .. entry) end
`;

/** The owner's hash, of which the keys have only a half; then slots and entries in turn. */
export const ADD_ENTRIES = script(
  ["own", "ledger"],
  `${PUT}
call('HSET', K.own, 'hash', ARGV[1])
for at = 2, #ARGV, 2 do put(ARGV[at], ARGV[at + 1]) end`,
);

/** As it was: the owner's hash, the epoch, whether an erasure is open; then slots and entries in turn. */
export const RESTORE_LEDGER = script(
  ["own", "ledger"],
  `${HINTS}${PUT}
local given = cjson.decode(ARGV[1])
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
call('DEL', K.ledger)
call('HSET', K.own, 'hash', given.hash, 'epoch', string.format('%.0f', given.epoch))
if given.erasing then call('HSET', K.own, 'erasing', 1) else call('HDEL', K.own, 'erasing') end
for at = 2, #ARGV, 2 do put(ARGV[at], ARGV[at + 1]) end
return { 'restored' }`,
);

/** Answers `begun`; `open` with the entry of an erasure that is; or `moved` where the epoch is another. */
export const BEGIN_ERASURE = script(
  ["own", "ledger"],
  `${HINTS}${PUT}
local given = cjson.decode(ARGV[1])
local open = call('HGET', K.ledger, given.slot)
if open then return { 'open', open } end
if tonumber(call('HGET', K.own, 'epoch') or '0') ~= given.epoch - 1 then return { 'moved' } end
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
call('HSET', K.own, 'epoch', given.epoch, 'erasing', 1, 'hash', given.hash)
put(given.slot, given.entry)
return { 'begun' }`,
);

/** Puts what stays in place of the ledger, unless it was written since it was read. */
export const COMPLETE_ERASURE = script(
  ["own", "ledger"],
  `${PUT}
if (call('HGET', K.own, 'entries') or '0') ~= ARGV[1] then return 0 end
call('DEL', K.ledger)
for at = 2, #ARGV, 2 do put(ARGV[at], ARGV[at + 1]) end
call('HDEL', K.own, 'erasing')
return 1`,
);

/** The slot of the erasure; slot and entry that say that it was withdrawn. */
export const WITHDRAW_ERASURE = script(
  ["own", "ledger"],
  `${PUT}
if call('HDEL', K.ledger, ARGV[1]) == 0 then return end
call('HDEL', K.own, 'erasing')
put(ARGV[2], ARGV[3])`,
);

/** What becomes of the hint, and the entry of the erasure where one is open. */
export const LOOK_ERASURE = script(
  ["own", "ledger"],
  `${HINTS}
local open = call('HGET', K.ledger, ARGV[2])
local verdict = settle('erasing', ARGV[1], open and 0 or nil)
if verdict == 'gone' then return { verdict } end
return { verdict, open }`,
);
