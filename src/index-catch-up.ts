import type { JournalRecord } from "./session.js";
import type { SessionStore } from "./session-store.js";

/** Sessions fold at most so many records at once, so that a rebuild holds up nobody for long. */
export const FOLD_BATCH = 500;

export interface CatchUp {
  /** Sessions whose journal had more than the index. */
  readonly sessions: number;
  readonly records: number;
}

/**
 * Folds into the index whatever the journals have beyond it: at start, and, after `index.clear()`, to rebuild it.
 * No model and no other store is called; sessions that are up to date cost one look.
 */
export async function catchUpIndex(
  store: Pick<SessionStore, "journal" | "index">,
  options: { readonly onProgress?: (looked: number) => void; readonly signal?: AbortSignal } = {},
): Promise<CatchUp> {
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  let looked = 0;
  let sessions = 0;
  let records = 0;
  for await (const { owner, sessionId, lastSeq } of store.journal.list()) {
    options.signal?.throwIfAborted();
    const indexed = await store.index.indexedSeq(sessionId);
    if (indexed < lastSeq) {
      const before = records;
      let batch: JournalRecord[] = [];
      const fold = async () => {
        await store.index.apply(owner, sessionId, batch);
        records += batch.length;
        batch = [];
      };
      for await (const record of store.journal.read(owner, sessionId, {
        fromSeq: indexed + 1,
        includeRewound: true,
        includeTorn: true,
        ...signal,
      })) {
        batch.push(record);
        if (batch.length >= FOLD_BATCH) await fold();
      }
      if (batch.length > 0) await fold();
      if (records > before) sessions += 1;
    }
    looked += 1;
    options.onProgress?.(looked);
  }
  return { sessions, records };
}
