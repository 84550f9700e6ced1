import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { ReindexOptions, ReindexReport } from "./reindex.js";

export interface ReindexBesideTurnsParts {
  readonly store: { readonly journal: Pick<SessionStore["journal"], "list">; readonly index: Pick<SessionStore["index"], "indexedSeq"> };
  /** Folds into the index what a session's journal has beyond it. */
  readonly catchUp: (owner: Owner, sessionId: string, options: { readonly signal: AbortSignal }) => Promise<number>;
  /** Runs work on one owner's stores while nobody takes something out of them; begins it again when it was ended for that. */
  readonly during: <T>(owner: Owner, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Null where there is no history. */
  readonly history: ((options: ReindexOptions) => Promise<ReindexReport>) | null;
  readonly logger: Logger;
}

/** Counts of a run; `sessions`: those that the list lacked something of. */
export interface ReindexedBesideTurns extends Readonly<Record<string, number>> {
  readonly sessions: number;
  readonly sessions_searched: number;
  readonly messages_added_to_history: number;
  readonly sessions_failed: number;
}

/**
 * Brings the list of sessions, then history, level with the journals while turns are written. Nothing is emptied: who lists sessions
 * meanwhile sees all of them. A session that can't be brought level holds up no other. `onProgress`: sessions, each counted twice.
 */
export async function reindexBesideTurns(
  parts: ReindexBesideTurnsParts,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
): Promise<ReindexedBesideTurns> {
  let total = 0;
  for await (const _ of parts.store.journal.list()) total += 1;
  const listed = { looked: 0, sessions: 0, failed: 0 };
  for await (const { owner, sessionId, lastSeq } of parts.store.journal.list()) {
    signal.throwIfAborted();
    try {
      if ((await levelled(parts, owner, sessionId, { lastSeq, signal })) > 0) listed.sessions += 1;
    } catch (error) {
      signal.throwIfAborted();
      parts.logger.warn({ session_id: sessionId, err: error }, "a session could not be brought into the list");
      listed.failed += 1;
    }
    listed.looked += 1;
    onProgress(listed.looked, total * 2);
  }
  const { sessions, added, failed } = (await parts.history?.({
    which: "all",
    signal,
    onProgress: (report) => onProgress(total + report.sessions, total * 2),
  })) ?? { sessions: 0, added: 0, failed: 0 };
  return {
    sessions: listed.sessions,
    sessions_searched: sessions,
    messages_added_to_history: added,
    sessions_failed: listed.failed + failed,
  };
}

/** One that is purged meanwhile stays gone: who purges it waits for what runs here, and keeps out what comes. */
async function levelled(
  { store, catchUp, during }: ReindexBesideTurnsParts,
  owner: Owner,
  sessionId: string,
  { lastSeq, signal }: { readonly lastSeq: number; readonly signal: AbortSignal },
): Promise<number> {
  if ((await store.index.indexedSeq(owner, sessionId)) >= lastSeq) return 0;
  try {
    return await during(owner, signal, (ended) => catchUp(owner, sessionId, { signal: ended }));
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return 0;
    throw error;
  }
}
