import type { JournalRecord } from "./session.js";

/** The turns of a session that the user asked not to keep, of records in any order. A mark that was edited away with its turn is none. */
export function turnsOffRecord(records: Iterable<JournalRecord>): ReadonlySet<number> {
  const turns = new Set<number>();
  for (const record of records) if (record.type === "off_record") turns.add(record.body.of_turn);
  return turns;
}

/** The same of records that are still being read. */
export async function readTurnsOffRecord(records: AsyncIterable<JournalRecord>): Promise<ReadonlySet<number>> {
  const turns = new Set<number>();
  for await (const record of records) if (record.type === "off_record") turns.add(record.body.of_turn);
  return turns;
}
