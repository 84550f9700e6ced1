import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { FOLD_BATCH } from "../jsonl/index-catch-up.js";

/** Reads a journal from a seq on, also what was taken back. */
export type ReadJournal = (owner: Owner, sessionId: string, fromSeq: number) => AsyncIterable<JournalRecord>;

/**
 * The records to fold, in batches: those given, or, when the index is behind them (an apply that failed, or two that
 * overtook each other), all that the journal has from there on.
 */
export async function* withoutGap(
  owner: Owner,
  sessionId: string,
  indexedSeq: number,
  records: readonly JournalRecord[],
  readJournal: ReadJournal | undefined,
): AsyncGenerator<readonly JournalRecord[]> {
  const first = records.find(({ seq }) => seq > indexedSeq);
  if (first === undefined) return;
  if (first.seq === indexedSeq + 1 || readJournal === undefined || (indexedSeq === 0 && first.type === "session")) {
    for (let at = 0; at < records.length; at += FOLD_BATCH) yield records.slice(at, at + FOLD_BATCH);
    return;
  }
  let batch: JournalRecord[] = [];
  for await (const record of readJournal(owner, sessionId, indexedSeq + 1)) {
    batch.push(record);
    if (batch.length < FOLD_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
