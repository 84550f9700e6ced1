import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, parseOwner } from "../../domain/owner.js";
import { script } from "../../platform/lua-script.js";
import { HINTS } from "./hints.js";

/**
 * An owner's outbox: events that lie with the owner, written by the script that writes what they tell of, until they are carried over to
 * the event log, whose keys are of another slot. An entry is `<place>:<JSON>`; places grow, also over an erasure.
 */

/** What is kept of an event, in the outbox and in the log. */
export interface KeptRow {
  readonly v: 1;
  readonly owner: Owner;
  /** Whether it is also to be delivered. */
  readonly queued: boolean;
  readonly event: OwnerEvent;
}

export function parsedRow(json: string): KeptRow {
  return JSON.parse(json) as KeptRow;
}

export function outboxRows(owner: Owner, events: readonly OwnerEvent[], queued: boolean): readonly string[] {
  parseOwner(owner);
  return events.map((event) => JSON.stringify({ v: 1, owner, queued, event } satisfies KeptRow));
}

/** For scripts with `K.own` and `K.outbox`, behind all of their checks. */
export const TELL = `
local function tell(rows)
  for _, row in ipairs(rows) do
    call('RPUSH', K.outbox, string.format('%.0f', call('HINCRBY', K.own, 'told', 1)) .. ':' .. row)
  end
end
`;

/** Puts rows there by themselves. */
export const PUT_TOLD = script(
  ["own", "outbox"],
  `${HINTS}${TELL}
local given = cjson.decode(ARGV[1])
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
tell(given.told)
return { 'put' }`,
);

/** Drops entries up to a place. */
export const DROP_TOLD = script(
  ["outbox"],
  `local first = call('LINDEX', K.outbox, 0)
while first and tonumber(string.match(first, '^(%d+)')) <= tonumber(ARGV[1]) do
  call('LPOP', K.outbox)
  first = call('LINDEX', K.outbox, 0)
end`,
);

/** What becomes of the hint. */
export const SETTLE_TOLD = script(["own", "outbox"], `${HINTS}return settle('told', ARGV[1], call('LLEN', K.outbox) > 0 and 0 or nil)`);

/** Drops all but what tells of an erasure. Answers the last place that was given, and how many went. */
export const ERASE_TOLD = script(
  ["own", "outbox"],
  `local gone = 0
for _, entry in ipairs(call('LRANGE', K.outbox, 0, -1)) do
  if cjson.decode(string.match(entry, '^%d+:(.*)$')).event.type ~= 'owner.erased' then gone = gone + call('LREM', K.outbox, 1, entry) end
end
return { tonumber(call('HGET', K.own, 'told') or '0'), gone }`,
);
