import type { Owner } from "../../domain/owner.js";
import type { SessionIndex, ShortTermMemory } from "../../ports/session-store.js";
import { inBatches } from "../journal/selected-records.js";

export interface CatchUp {
  /** Sessions whose journal had more than the index. */
  readonly sessions: number;
  readonly records: number;
}

export interface CatchUpOptions {
  readonly onProgress?: (looked: number) => void;
  readonly signal?: AbortSignal;
  /** Which to look at. Default: all. */
  readonly sessions?: ReturnType<ShortTermMemory["list"]>;
}

export interface IndexedJournals {
  readonly journal: Pick<ShortTermMemory, "list" | "read">;
  readonly index: Pick<SessionIndex, "indexedSeq" | "apply">;
}

/**
 * Folds into the index whatever the journals have beyond it: at start, and, after `index.clear()`, to rebuild it.
 * No model and no other store is called; sessions that are up to date cost one look.
 */
export async function catchUpIndex(store: IndexedJournals, options: CatchUpOptions = {}): Promise<CatchUp> {
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  let looked = 0;
  let sessions = 0;
  let records = 0;
  for await (const { owner, sessionId, lastSeq } of options.sessions ?? store.journal.list()) {
    options.signal?.throwIfAborted();
    const folded = (await store.index.indexedSeq(owner, sessionId)) < lastSeq ? await catchUpSession(store, owner, sessionId, signal) : 0;
    records += folded;
    if (folded > 0) sessions += 1;
    looked += 1;
    options.onProgress?.(looked);
  }
  return { sessions, records };
}

/** The same for one session. Returns how many records were folded in. */
export async function catchUpSession(
  { journal, index }: IndexedJournals,
  owner: Owner,
  sessionId: string,
  signal: { readonly signal?: AbortSignal } = {},
): Promise<number> {
  const fromSeq = (await index.indexedSeq(owner, sessionId)) + 1;
  let folded = 0;
  const records = journal.read(owner, sessionId, { fromSeq, includeRewound: true, includeTorn: true, ...signal });
  for await (const batch of inBatches(records)) {
    await index.apply(owner, sessionId, batch);
    folded += batch.length;
  }
  return folded;
}
