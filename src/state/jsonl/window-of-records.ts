import type { JournalRecord, MessageRecord, RecordOf } from "../../domain/session.js";
import type { WindowRead } from "../../ports/session-store.js";
import { RoundCollector } from "../journal/round-collector.js";

/** The window of records that all stand, oldest first: where there is no end of a file to start from. */
export function windowOfRecords(records: readonly JournalRecord[], rounds: number): Omit<WindowRead, "lastSeq" | "lastTurn" | "bytesRead"> {
  const collector = new RoundCollector(rounds);
  let summary: RecordOf<"summary"> | null = null;
  for (const record of records.toReversed()) {
    if (record.type === "summary") summary ??= record;
    if (!collector.complete) collector.add(record);
    else if (summary !== null) break;
  }
  const lastUserMessage: MessageRecord | null = collector.lastUserMessage;
  return { rounds: collector.rounds(), summary, lastUserMessage };
}
