import { z } from "zod";
import { isId } from "../platform/ids.js";
import { MEMORY_EVENTS, type Memory, type MemoryEvent, type RestorableMemory } from "./memory.js";

/** A memory with what only the store and the rules need to know of it. */
export interface MemoryRecord extends Memory {
  /** False for what was only inferred: a candidate, in `review` until it was seen often enough. */
  readonly explicit: boolean;
  /** How often the guest was asked about it in talk, while it waits. */
  readonly asked: number;
  /** Null when it was never recalled for its likeness to a message. */
  readonly last_recalled_at: string | null;
  /** The messages that said it again, oldest first, at most `MAX_CONFIRMATIONS`: a replay doesn't confirm twice. */
  readonly confirmed_by: readonly string[];
  /** What happened to it since it was added. Holds no text. */
  readonly events: readonly StoredEvent[];
}

interface StoredEvent {
  readonly at: string;
  readonly event: MemoryEvent["event"];
}

export const MAX_CONFIRMATIONS = 100;
export const MAX_EVENTS = 200;
export const storedEventSchema = z.object({
  at: z.string(),
  event: z.enum(MEMORY_EVENTS),
});

/** What clients see of a record. */
export function memoryOf(record: MemoryRecord): Memory {
  const { explicit: _explicit, asked: _asked, last_recalled_at: _recalled, confirmed_by: _confirmed, events: _events, ...memory } = record;
  return memory;
}

/** A memory of an export as a record again: what only the store knew starts anew, but for what happened to it. */
export function recordOf({ history = [], ...memory }: Omit<RestorableMemory, "said">): MemoryRecord {
  const own = history.flatMap(({ at, event, memory_id }) => {
    const parsed = storedEventSchema.safeParse({ at, event });
    // That it expired follows from its end.
    return memory_id === memory.id && parsed.success && parsed.data.event !== "expired" ? [parsed.data] : [];
  });
  return {
    ...memory,
    explicit: true,
    asked: 0,
    last_recalled_at: null,
    confirmed_by: [],
    events: own.length > 0 ? own.slice(-MAX_EVENTS) : [{ at: memory.created_at, event: "added" }],
  };
}

/** Oldest statement first. */
export function byStated(a: Memory, b: Memory): number {
  return Date.parse(a.stated_at) - Date.parse(b.stated_at) || (a.id < b.id ? -1 : 1);
}

/** True while a memory holds: active, begun, and not over. */
export function holdsAt(record: Memory, now: Date): boolean {
  return record.status === "active" && isValidAt(record, now);
}

/** Whether it held then, as far as is known now: also what is superseded or over since. */
export function heldAt(record: MemoryRecord, then: Date): boolean {
  return (record.status === "active" || (record.status === "superseded" && !neverHeld(record))) && isValidAt(record, then);
}

/** Whether it waited for the guest's word and was closed without it: what held and ended has an end. */
export function neverHeld({ status, superseded_by, valid_until, updated_at, events }: MemoryRecord): boolean {
  if (status !== "superseded" || superseded_by !== null) return false;
  return events.at(-1)?.event === "expired" || valid_until === null || Date.parse(valid_until) > Date.parse(updated_at);
}

/** Whether the guest is to be asked: it does not hold before, or a change of it doesn't. */
export function isWaiting({ status, pending_change }: Pick<Memory, "status" | "pending_change">): boolean {
  return status === "review" || (status === "active" && pending_change !== null);
}

/** True while a memory is known and does not hold yet. */
export function beginsAfter(record: Memory, now: Date): boolean {
  return record.status === "active" && timesOf(record).from > now.getTime();
}

export function isValidAt(record: Memory, at: Date): boolean {
  const { from, until } = timesOf(record);
  return from <= at.getTime() && at.getTime() < until;
}

/** When it was last said, in milliseconds since 1970. */
export function lastConfirmedAt(record: Memory): number {
  return timesOf(record).confirmed;
}

interface Times {
  readonly from: number;
  readonly until: number;
  readonly confirmed: number;
}

/** In milliseconds since 1970. Each turn looks at all of a guest's memories: worked out once for as long as one is held. */
const times = new WeakMap<Memory, Times>();

function timesOf(record: Memory): Times {
  const known = times.get(record);
  if (known !== undefined) return known;
  const parsed = {
    from: Date.parse(record.valid_from),
    until: record.valid_until === null ? Number.POSITIVE_INFINITY : Date.parse(record.valid_until),
    confirmed: Date.parse(record.last_confirmed_at),
  };
  times.set(record, parsed);
  return parsed;
}

export function seconds(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

/** Ids of the memories that one was made of: a habit's bookings, what a narrative tells. Empty for what a message stated. */
export function madeOf({ type, tags, entities }: Pick<Memory, "type" | "tags" | "entities">): readonly string[] {
  return type === "narrative" || tags.includes(HABIT) ? entities.filter(isId) : [];
}

/** Stands among the tags of what the guest did, and of what doing so again and again amounts to. */
export const HAPPENED = "happened";
export const HABIT = "habit";
