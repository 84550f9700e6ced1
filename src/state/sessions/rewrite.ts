import type { Owner } from "../../domain/owner.js";
import { type JournalRecord, MAX_RECORD_BYTES } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { StateEngine } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { firstSeqOf, JournalRows, recordsIn } from "./journal-rows.js";
import { nextGeneration } from "./keys.js";
import { emptyTrash } from "./remove.js";
import { readHead, type StoredHead, withRecords } from "./session-row.js";
import { StagedJournal } from "./staged-journal.js";

type Change = (record: JournalRecord) => JournalRecord | null;

/** The session may be written while its journal is rewritten: so often it is begun anew. */
const MAX_TRIES = 5;

/**
 * Writes a journal anew beside itself, and goes over to it by one commit. What a crash leaves is nothing that anybody reads, and goes with
 * the next rewrite or removal.
 */
export async function rewriteJournal(engine: StateEngine, owner: Owner, sessionId: string, change: Change): Promise<void> {
  await emptyTrash(engine, ownerPartition(owner), sessionId);
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const head = await readHead(engine, owner, sessionId);
    if (!(await changesAny(engine, head, sessionId, change))) return;
    const generation = nextGeneration(head.generation);
    const staged = await StagedJournal.begin(engine, owner, sessionId, generation);
    let after: StoredHead;
    try {
      after = await writeChanged(staged, engine, head, sessionId, change);
    } catch (error) {
      await staged.discard().catch(() => undefined);
      throw error;
    }
    if (!(await staged.replace(head, { ...after, generation })).ok) continue;
    return emptyTrash(engine, ownerPartition(owner), sessionId);
  }
  throw new AppError("SESSION_CHANGED");
}

async function changesAny(engine: StateEngine, head: StoredHead, sessionId: string, change: Change): Promise<boolean> {
  for await (const rows of new JournalRows(engine, sessionId, head).forwards())
    for (const record of rows.flatMap((row) => recordsIn(row))) {
      const changed = changedRecord(record, change);
      if (changed === null || JSON.stringify(changed) !== JSON.stringify(record)) return true;
    }
  return false;
}

/** The head as the rows that were written have it. */
async function writeChanged(
  staged: StagedJournal,
  engine: StateEngine,
  head: StoredHead,
  sessionId: string,
  change: Change,
): Promise<StoredHead> {
  let after: StoredHead = { ...head, messages: 0, rewinds: [], summaries: [] };
  for await (const page of new JournalRows(engine, sessionId, head).forwards()) {
    const rows = page.map((row) => ({
      firstSeq: firstSeqOf(row.key),
      records: recordsIn(row).flatMap((record) => changedRecord(record, change) ?? []),
    }));
    for (const { records } of rows) after = withRecords(after, records);
    await staged.addRows(rows.filter(({ records }) => records.length > 0));
  }
  return { ...after, lastSeq: head.lastSeq };
}

/** Null for a record that goes. The session's own always stays. @throws RECORD_TOO_LARGE */
function changedRecord(record: JournalRecord, change: Change): JournalRecord | null {
  const changed = change(structuredClone(record)) ?? (record.type === "session" ? record : null);
  if (changed === null) return null;
  const after = { ...changed, seq: record.seq };
  if (Buffer.byteLength(JSON.stringify(after)) > MAX_RECORD_BYTES) throw new AppError("RECORD_TOO_LARGE");
  return after;
}
