import type { MemoryRecord } from "./record.js";
import { MAX_EVENTS } from "./record.js";
import { normalised } from "./same-statement.js";

/**
 * A slot holds what is said of one thing: (subject, category, aspect), lasting and temporary apart. Within it the newest
 * statement holds and the older ones are its past:
 * - a soft statement is superseded by the next explicit one, soft or hard;
 * - a hard one by the next explicit hard one alone;
 * - what was only inferred gives way to anything explicit and to newer inferences, and replaces nothing explicit.
 * The chain is found from the records alone, ordered by (last stated, message, id), so that it doesn't matter in which
 * order they arrived.
 */
export type Slot = string;

const WITHOUT_SLOT = new Set(["episodic", "summary", "narrative"]);

/** Null for what stands by itself: events, summaries, and statements that don't say which aspect they are about. */
export function slotOf(record: MemoryRecord, temporary: boolean): Slot | null {
  const aspect = normalised(record.aspect);
  if (aspect === "" || WITHOUT_SLOT.has(record.type)) return null;
  return JSON.stringify([normalised(record.subject), record.category, aspect, temporary]);
}

/** When and by what message a memory was last stated: what orders statements. */
function compareStated(a: MemoryRecord, b: MemoryRecord): number {
  return (
    Date.parse(a.last_confirmed_at) - Date.parse(b.last_confirmed_at) ||
    compareText(lastMessage(a), lastMessage(b)) ||
    compareText(a.id, b.id)
  );
}

function lastMessage(record: MemoryRecord): string {
  return record.confirmed_by.at(-1) ?? record.source?.message_id ?? "";
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The records of one slot as its rules have them; only those that change are returned. `members` are the active ones and
 * those that another member superseded.
 */
export function settle(members: readonly MemoryRecord[], now: Date): MemoryRecord[] {
  const ordered = [...members].sort(compareStated);
  return ordered.flatMap((record, index) => {
    const successor =
      ordered.slice(index + 1).find((later) => replaces(later, record)) ??
      (record.explicit ? undefined : ordered.slice(0, index).findLast((earlier) => earlier.explicit && replaces(earlier, record)));
    if (successor === undefined) return [];
    if (record.status === "superseded" && record.superseded_by === successor.id) return [];
    return [supersededBy(record, successor, now)];
  });
}

function replaces(successor: MemoryRecord, record: MemoryRecord): boolean {
  return (successor.explicit || !record.explicit) && (record.strength === "soft" || successor.strength === "hard");
}

export function supersededBy(record: MemoryRecord, successor: MemoryRecord, now: Date): MemoryRecord {
  const from = successor.stated_at > record.stated_at ? successor.stated_at : successor.last_confirmed_at;
  return ended(record, from, successor.id, now);
}

/** The record as past: it ends at `at`, or where it would have ended before. */
export function ended(record: MemoryRecord, at: string, successorId: string | null, now: Date): MemoryRecord {
  const end = record.valid_until !== null && Date.parse(record.valid_until) < Date.parse(at) ? record.valid_until : at;
  const already = record.status === "superseded";
  return {
    ...record,
    status: "superseded",
    superseded_by: successorId,
    valid_until: Date.parse(end) < Date.parse(record.valid_from) ? record.valid_from : end,
    events: already ? record.events : withEvent(record, now, "superseded"),
    updated_at: now.toISOString(),
  };
}

export function withEvent(record: MemoryRecord, now: Date, event: MemoryRecord["events"][number]["event"]): MemoryRecord["events"] {
  return [...record.events, { at: now.toISOString(), event }].slice(-MAX_EVENTS);
}
