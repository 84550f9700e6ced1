import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseOwner } from "../../src/domain/owner.js";
import { type JournalRecord, journalRecordSchema } from "../../src/domain/session.js";

export interface JournalOnDisk {
  readonly sessionId: string;
  /** Whose it is. */
  readonly user: string;
  readonly records: readonly JournalRecord[];
  /** Whole lines that are no record. */
  readonly unreadable: number;
  /** Records that were not taken back by an edit. */
  readonly standing: readonly JournalRecord[];
}

/** The journals as they lie there, read with nothing of the code that is tested but the schema. A torn last line is left out. */
export async function readJournals(dir: string): Promise<JournalOnDisk[]> {
  const names = (await readdir(dir)).filter((name) => /^.{36}\.jsonl$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const lines = (await readFile(join(dir, name), "utf8")).split("\n").slice(0, -1);
      const records = lines.flatMap((line) => recordOf(line) ?? []);
      const user = records[0]?.type === "session" ? parseOwner(records[0].body.owner).user : "";
      return { sessionId: name.slice(0, 36), user, records, unreadable: lines.length - records.length, standing: standingOf(records) };
    }),
  );
}

function recordOf(line: string): JournalRecord | null {
  try {
    return journalRecordSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

function standingOf(records: readonly JournalRecord[]): JournalRecord[] {
  const rewinds = records.flatMap((record) => (record.type === "rewind" ? [{ from: record.body.to_seq, to: record.seq }] : []));
  return records.filter(({ seq }) => !rewinds.some(({ from, to }) => seq > from && seq < to));
}
