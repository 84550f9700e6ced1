import type { ProposalRecord } from "../domain/turn-record.js";
import type { TurnToRemember } from "../ports/memories.js";
import type { CheckedReading } from "./checked-operation.js";
import type { ProposedChange } from "./proposed-change.js";
import type { Reconciled } from "./reconciled.js";
import { waits } from "./waiting.js";

/** Of one message: more than a reading may propose. */
const MOST = 60;

/** What became of what a reading proposed, in the order in which it did; what was refused last. No words: where they stand. */
export function proposalsOf(
  { text }: Pick<TurnToRemember, "text">,
  { off_record, refused = [] }: CheckedReading,
  changes: readonly ProposedChange[],
  reconciled: Reconciled,
): readonly ProposalRecord[] {
  const puts = new Map(reconciled.puts.map((record) => [record.id, record]));
  const taken = changes.map((change): ProposalRecord => {
    const { op, id, target_id, source } = change;
    const memoryId = op === "add" || op === "supersede" ? (reconciled.resolved.get(id) ?? id) : target_id;
    const record = memoryId === null ? undefined : puts.get(memoryId);
    // What was said off the record is pointed at no more than it is kept.
    const quote_at = off_record === null ? spanOf(text, source?.quote ?? "") : null;
    const reason = reconciled.reasons.get(id);
    if (reason !== undefined) return { op, quote_at, outcome: "refused", reason, memory_id: null };
    const waiting =
      change.waits ?? (record !== undefined && waits(record) ? (record.pending_change?.reason ?? record.reason ?? null) : null);
    if (waiting !== null)
      return { op, quote_at, outcome: "asked", reason: waiting, memory_id: record === undefined ? target_id : memoryId };
    const isConfirmed = op === "confirm" || (memoryId !== null && reconciled.confirmed.includes(memoryId));
    return { op, quote_at, outcome: isConfirmed ? "confirmed" : "kept", reason: null, memory_id: memoryId };
  });
  const dropped = refused.map(
    ({ op, quote_at, reason }): ProposalRecord => ({
      ...{ op, outcome: "refused", reason, memory_id: null },
      quote_at: off_record === null ? quote_at : null,
    }),
  );
  return [...taken, ...dropped].slice(0, MOST);
}

function spanOf(text: string, quote: string): ProposalRecord["quote_at"] {
  const start = quote === "" ? -1 : text.indexOf(quote);
  return start === -1 ? null : { start, end: start + quote.length };
}
