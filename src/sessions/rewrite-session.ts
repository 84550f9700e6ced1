import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import { newId } from "../platform/ids.js";
import type { AppendOptions, SessionStore } from "../ports/session-store.js";

/**
 * Changes what stands in a session. Out of the index first, which then takes from the journal what is there: also when the rewriting
 * fails, or a crash comes between. `goOn`: the time and the fence of a record with which numbers go on behind what is gone, so that the
 * index is level with the journal. Default: none is written, where the newest record stays.
 */
export async function rewriteSession(
  { journal, index }: Pick<SessionStore, "journal" | "index">,
  owner: Owner,
  sessionId: string,
  change: (record: JournalRecord) => JournalRecord | null,
  goOn?: Pick<AppendOptions, "fence"> & { readonly now: Date },
): Promise<void> {
  await index.remove(owner, sessionId);
  try {
    await journal.rewrite(owner, sessionId, change);
    if (goOn !== undefined) {
      const { now, ...options } = goOn;
      const body = { by: "derived" } as const;
      await journal.append(owner, sessionId, [{ type: "session_patch", id: newId(), turn: 0, at: now.toISOString(), body }], options);
    }
  } finally {
    await index.apply(owner, sessionId, await recordsOf(journal, owner, sessionId));
  }
}

/** All, in order, with what was taken back. @throws SESSION_NOT_FOUND */
export async function recordsOf(
  journal: Pick<SessionStore["journal"], "read">,
  owner: Owner,
  sessionId: string,
): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of journal.read(owner, sessionId, { includeRewound: true, includeTorn: true })) records.push(record);
  return records;
}
