import type { Memory } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { AppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import { type Reconciled, type ReconcileRules, reconcile, reconcileRecord } from "./reconcile.js";
import { activated, closed } from "./record-changes.js";

/** What waits for the guest's word, and what their yes or no makes of it. */

/** In talk a thing is asked about at most so often; what was brought along is mentioned once. */
const MAX_ASKED = 2;
const MAX_ASKED_BROUGHT_ALONG = 1;
/** What was only inferred is asked about once it was seen so often. */
const INFERRED_ASKED_FROM = 3;
const SHOWN = 20;

export function waits(record: Memory): boolean {
  return record.status === "review" || record.pending_change !== null;
}

/** Hard ones first, then as they were said. `talk`: only those that may still be asked about. */
export function toConfirm(records: Iterable<MemoryRecord>, now: Date, { talk }: { readonly talk: boolean }): MemoryRecord[] {
  return [...records]
    .filter((record) => waits(record) && !isOver(record, now) && (!talk || mayBeAsked(record)))
    .sort((a, b) => rank(a) - rank(b) || saidAt(a) - saidAt(b) || (a.id < b.id ? -1 : 1))
    .slice(0, SHOWN);
}

function mayBeAsked(record: MemoryRecord): boolean {
  const { pending_change: change } = record;
  if (change !== null) return change.asked < (change.reason === "brought_along" ? MAX_ASKED_BROUGHT_ALONG : MAX_ASKED);
  if (record.reason === "inferred" && record.seen_count < INFERRED_ASKED_FROM) return false;
  return record.asked < (record.reason === "brought_along" ? MAX_ASKED_BROUGHT_ALONG : MAX_ASKED);
}

function isOver(record: MemoryRecord, now: Date): boolean {
  return record.valid_until !== null && Date.parse(record.valid_until) <= now.getTime();
}

function rank(record: MemoryRecord): number {
  return record.strength === "hard" ? 0 : 1;
}

function saidAt(record: MemoryRecord): number {
  return Date.parse(record.pending_change?.stated_at ?? record.stated_at);
}

/** The record as asked about once more. */
export function asked(record: MemoryRecord, now: Date): MemoryRecord {
  const updated_at = now.toISOString();
  if (record.pending_change === null) return { ...record, asked: record.asked + 1, updated_at };
  return { ...record, pending_change: { ...record.pending_change, asked: record.pending_change.asked + 1 }, updated_at };
}

/** The guest's yes. @throws INVALID_REQUEST for what neither waits nor holds */
export function approved(records: Iterable<MemoryRecord>, record: MemoryRecord, rules: ReconcileRules): Reconciled {
  const { pending_change: change } = record;
  const { now } = rules;
  if (record.status === "review") return reconcileRecord(records, activated(record, now.toISOString(), now), rules);
  if (change === null) {
    if (record.status === "active") return reconcile([], [], rules);
    throw new AppError("INVALID_REQUEST", { detail: "Only a memory in review can be approved." });
  }
  const id = derivedId("memory", record.id, "change", change.stated_at);
  const { op, statement, source } = change;
  return reconcile(records, [{ op, id, target_id: record.id, statement, waits: null, stated_at: now.toISOString(), source }], {
    ...rules,
    minConfidence: 0,
  });
}

/** The guest's no. Null where nothing waits. */
export function rejected(record: MemoryRecord, now: Date): MemoryRecord | null {
  if (record.status === "review") return closed(record, "superseded", now);
  return record.pending_change === null ? null : { ...record, pending_change: null, updated_at: now.toISOString() };
}
