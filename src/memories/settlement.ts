import type { MemoryRecord } from "../domain/memory-record.js";
import { AppError } from "../platform/errors.js";
import type { Settlement } from "../ports/memories.js";
import { inOwnWords } from "./own-words.js";
import type { Reconciled, ReconcileRules } from "./reconcile.js";
import { approved, rejected, waits } from "./waiting.js";

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
