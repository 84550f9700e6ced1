import type { Memory } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { AppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import type { Settlement } from "../ports/memories.js";
import { inOwnWords } from "./checks/brought-along.js";
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

/** What was asked in the answer before, and what the guest says to it. */
interface Asked {
  readonly asked: readonly string[];
  readonly text: string;
  readonly now: Date;
}

interface Settled {
  /** The memories with what was settled, without those that are to be forgotten. */
  readonly work: Map<string, MemoryRecord>;
  readonly touched: ReadonlySet<string>;
  readonly forgotten: Reconciled["forgotten"];
}

/** What the guest's answers make of what waits. One that waits no more is passed over. @throws MEMORY_NOT_FOUND, INVALID_REQUEST */
export function settled(
  settlements: readonly Settlement[],
  records: ReadonlyMap<string, MemoryRecord>,
  rules: ReconcileRules,
  asked: Asked,
): Settled {
  for (const settlement of settlements) mustSettle(settlement, records, asked);
  const work = new Map(records);
  const touched = new Set<string>();
  const forgotten: Reconciled["forgotten"][number][] = [];
  for (const { memory_id, answer } of settlements) {
    const record = work.get(memory_id);
    if (record === undefined || !waits(record)) continue;
    touched.add(memory_id);
    const no = answer === "no" ? rejected(record, asked.now) : null;
    const outcome = answer === "yes" ? approved(work.values(), record, rules) : { puts: no === null ? [] : [no], forgotten: [] };
    for (const put of outcome.puts) {
      work.set(put.id, put);
      touched.add(put.id);
    }
    forgotten.push(...outcome.forgotten);
    for (const id of outcome.forgotten) work.delete(id);
  }
  return { work, touched, forgotten };
}

/** @throws MEMORY_NOT_FOUND, INVALID_REQUEST */
function mustSettle(
  { memory_id, answer, quote }: Settlement,
  records: ReadonlyMap<string, MemoryRecord>,
  { asked: ids, text }: Asked,
): void {
  const record = records.get(memory_id);
  if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
  const refuse = (detail: string) => new AppError("INVALID_REQUEST", { detail });
  if (!ids.includes(memory_id)) throw refuse("The guest was not asked about this in the answer before.");
  if (!inOwnWords(quote, text)) throw refuse("The quote is not in the guest's own words of this message.");
  // A no to taking it away keeps it: nothing that must hold is lost by that.
  const keeps = record.pending_change !== null && record.pending_change.statement === null;
  if (answer === "no" && record.strength === "hard" && !keeps && ids.length > 1)
    throw refuse("A no to what must hold counts only when it alone was asked. Ask about it again, by itself.");
}
