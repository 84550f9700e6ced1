import type { JournalRecord } from "./session.js";

/** The turns of a session that the user asked not to keep, of records in any order. A mark that was edited away with its turn is none. */
export async function turnsOffRecord(records: AsyncIterable<JournalRecord> | Iterable<JournalRecord>): Promise<ReadonlySet<number>> {
  const turns = new Set<number>();
  for await (const record of records) if (record.type === "off_record") turns.add(record.body.of_turn);
  return turns;
}
