import { createHash } from "node:crypto";
import { type Owner, parseOwner } from "../../domain/owner.js";
import type { EventScope } from "../../ports/event-log.js";
import { tagOf } from "./keys.js";

/** Digits of a place in the log or the queue, with zeros before it: so that text sorts as the number does. */
const PLACE_DIGITS = 16;
const MARK_CHARS = 32;

/**
 * The keys of the event log and of its queue. They belong to no owner and share a slot of a Cluster, so that one script may touch them all.
 * A place is a number with 16 digits.
 *
 * - `count` (string): the last place that was given.
 * - `places` (hash): id to place; `events` (hash): place to what is kept, behind the marks of owner and tenant, 32 characters each.
 * - `order` (zset by text): each place under `a:` (all), `o:<owner>:` and `t:<tenant>:`; `times` (zset): places by when it happened.
 * - `erased` (hash): up to which entry of their outbox an owner's events are gone.
 * - `waiting` (hash): id to place and what is to be delivered; `line` (zset by text): `<owner>:<place>:<id>`.
 * - `due` (zset): owners with something to deliver, by when they may be claimed; `tries` (hash): how often their first event was tried.
 * - `dead` (hash): id to place and what was given up; `deadLine` (zset by text): `o:<owner>:<place>:<id>`, `t:<tenant>:<place>:<id>`;
 *   `deadTimes` (zset): ids by when they were given up.
 */
export const EVENT_LOG_KEYS = ["count", "places", "events", "order", "times", "erased"] as const;
export const EVENT_QUEUE_KEYS = ["waiting", "line", "due", "tries"] as const;
export const DEAD_EVENT_KEYS = ["dead", "deadLine", "deadTimes"] as const;

export type EventKey = (typeof EVENT_LOG_KEYS)[number] | (typeof EVENT_QUEUE_KEYS)[number] | (typeof DEAD_EVENT_KEYS)[number];

export function eventKeysOf(prefix: string): Readonly<Record<EventKey, string>> {
  const names = [...EVENT_LOG_KEYS, ...EVENT_QUEUE_KEYS, ...DEAD_EVENT_KEYS];
  return Object.fromEntries(names.map((name) => [name, `${prefix}:{events}:${name}`])) as Record<EventKey, string>;
}

/** Half of the SHA-256 of a tenant. */
export function tenantMarkOf(tenant: string): string {
  return createHash("sha256").update(tenant).digest("hex").slice(0, MARK_CHARS);
}

/** The marks that an owner's events stand under. */
export function marksOf(owner: Owner): readonly [tag: string, tenant: string] {
  return [tagOf(owner), tenantMarkOf(parseOwner(owner).tenant)];
}

/** What the members of a scope begin with in `order`; ends with a colon. */
export function scopePrefix(scope: EventScope): string {
  if (scope === "all") return "a:";
  return "owner" in scope ? `o:${tagOf(scope.owner)}:` : `t:${tenantMarkOf(scope.tenant)}:`;
}

/** What a row of `events` keeps behind the marks. */
export function unmarked(row: string): string {
  return row.slice(2 * MARK_CHARS);
}

/** What a row of `waiting` or `dead` keeps behind its place. */
export function unplaced(row: string): string {
  return row.slice(PLACE_DIGITS);
}

/** For scripts: places, and the rows of the log. */
export const PLACES = `
local function placed(number) return string.format('%0${PLACE_DIGITS}.0f', number) end
local function kept(row) return string.sub(row, ${PLACE_DIGITS} + 1) end
local function placeIn(row) return string.sub(row, 1, ${PLACE_DIGITS}) end
local function behindMarks(row) return string.sub(row, ${2 * MARK_CHARS} + 1) end
local function members(row, place)
  local tag, tenant = string.sub(row, 1, ${MARK_CHARS}), string.sub(row, ${MARK_CHARS} + 1, ${2 * MARK_CHARS})
  return 'a:' .. place, 'o:' .. tag .. ':' .. place, 't:' .. tenant .. ':' .. place
end
local function tells(json) return cjson.decode(json).event end
-- All members of a set by text that begin with this, which ends with a colon, at most so many.
local function beginning(key, prefix, from, limit)
  return call('ZRANGEBYLEX', key, from or '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. ';', 'LIMIT', 0, limit or -1)
end
`;
