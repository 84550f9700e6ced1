import type { JournalRecord, RecordOf } from "../../domain/session.js";
import type { WindowRead } from "../../ports/session-store.js";
import type { StoredEntry } from "../engine.js";
import { RoundCollector } from "../journal/round-collector.js";
import { standing } from "../journal/selected-records.js";
import { firstSeqOf, type JournalRows, recordsIn } from "./journal-rows.js";
import { journalPrefix } from "./keys.js";
import { rewindMarks, type StoredHead, standingSummary } from "./session-row.js";

/** Rows that a round takes as a rule: what was said, answered, and made of it. */
const ROWS_OF_ROUND = 4;
const LEAST_ROWS = 8;
const MOST_ROWS = 100;

/** Newest rows to be read for a window of so many rounds. */
export function windowRows(rounds: number): number {
  return Math.min(MOST_ROWS, Math.max(0, rounds) * ROWS_OF_ROUND + LEAST_ROWS);
}

/**
 * The window of a session whose newest rows were read with its head. `newest`: at most {@link windowRows}, newest first, of whichever
 * generation.
 */
export async function windowOf(
  journal: JournalRows,
  sessionId: string,
  head: StoredHead,
  newest: readonly StoredEntry[],
  rounds: number,
): Promise<WindowRead> {
  const limit = windowRows(rounds);
  const prefix = journalPrefix(sessionId, head.generation);
  const own = newest.filter(({ key }) => key.startsWith(prefix));
  // Rows of another generation, which is being written or deleted, may stand before the journal's own.
  const isWhole = own.length === newest.length;
  const collector = new RoundCollector(rounds);
  const stands = standing(rewindMarks(head));
  const wanted = standingSummary(head);
  let summary: RecordOf<"summary"> | null = null;
  let upTo = Number.POSITIVE_INFINITY;
  let bytesRead = 0;
  const take = (record: JournalRecord) => {
    if (record.type === "rewind" && record.seq <= upTo) upTo = record.body.to_seq;
    if (!stands(record)) return;
    if (record.type === "summary" && record.seq === wanted) summary = record;
    if (!collector.complete) collector.add(record);
  };
  const options = { limit, skipTo: () => upTo + 1, ...(isWhole && { first: own }) };
  pages: for await (const rows of journal.backwards(head, head.lastSeq + 1, options)) {
    for (const row of rows) {
      if (firstSeqOf(row.key) > head.lastSeq) continue;
      bytesRead += Buffer.byteLength(row.value);
      for (const record of recordsIn(row).toReversed()) take(record);
      if (collector.complete) break pages;
    }
  }
  if (summary === null && wanted !== null) {
    const row = await journal.holding(head, wanted);
    bytesRead += row === null ? 0 : Buffer.byteLength(row.value);
    for (const record of row === null ? [] : recordsIn(row)) if (record.type === "summary" && record.seq === wanted) summary = record;
  }
  const { lastSeq, lastTurn } = head;
  return { rounds: collector.rounds(), summary, lastUserMessage: collector.lastUserMessage, lastSeq, lastTurn, bytesRead };
}
