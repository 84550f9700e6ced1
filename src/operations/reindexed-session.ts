import type { Owner } from "../domain/owner.js";
import type { RecordOf, Session } from "../domain/session.js";
import { searchable } from "../history/history.js";
import { isAppError } from "../platform/errors.js";
import type { ConversationHistory } from "../ports/history.js";
import type { HistoryMessage } from "../ports/resources.js";
import { type SessionStore, sessionLockKey } from "../ports/session-store.js";

export interface ReindexedSessionParts {
  readonly store: SessionStore;
  readonly history: ConversationHistory;
  /** A session's summary as history knows it. */
  readonly summaryMessage: (sessionId: string, record: RecordOf<"summary">) => HistoryMessage;
}

/** What ends the work: `stop` wants no more of it; `signal` aborts then too, and when somebody takes something out of the stores. */
export interface Ending {
  readonly stop: AbortSignal;
  readonly signal: AbortSignal;
}

/** Longer than a turn may hold its session, in milliseconds. */
const TURN_ENDS_MS = 150_000;
/** How long a stop may still wait for a session, in milliseconds. */
const STOP_MS = 1_000;

/**
 * Brings one session into history, also while turns are written; what is there stays. What is pending is left to the write-back, which may
 * have added it meanwhile: a message has one place. Whatever was taken out of the session meanwhile, by any process, is out of history at
 * the end. Returns how many messages history did not have.
 */
export async function reindexSession(parts: ReindexedSessionParts, owner: Owner, sessionId: string, ending: Ending): Promise<number> {
  const { store, history, summaryMessage } = parts;
  const { signal } = ending;
  const session = await store.index.get(owner, sessionId);
  if (session === null || !belongs(session)) return 0;
  const { summary, lastSeq } = await store.journal.window(owner, sessionId, { rounds: 1, signal });
  const pending = new Set((await store.index.pendingOf(owner, sessionId)).map(({ turn }) => turn));
  const given: string[] = summary === null ? [] : [summary.id];
  async function* settled() {
    for await (const message of searchable(store, owner, sessionId)) {
      if (pending.has(message.turn)) continue;
      given.push(message.message_id);
      yield message;
    }
  }
  let added: number | null = null;
  try {
    const messages = await history.addSession(owner, sessionId, settled(), { signal });
    const told = summary === null ? 0 : await history.addEvents(owner, [summaryMessage(sessionId, summary)], { signal });
    added = messages + told;
    return added;
  } finally {
    // Who ended it without a stop takes out of history what there is, when this is over.
    const isOthers = signal.aborted && !ending.stop.aborted;
    if (added !== 0 && given.length > 0 && !isOthers) await takeBack(parts, owner, sessionId, { given, lastSeq }, ending);
  }
}

/** Whether a session is one for history. */
export function belongs(session: Pick<Session, "message_count" | "metadata">): boolean {
  return session.message_count > 0 && session.metadata.incognito !== true;
}

/**
 * Takes out of history what was given to it and has gone since. Who empties or purges a session holds its lock; who takes a turn back or
 * replaces a summary writes that down before it goes from history. So what is still written down under the lock goes from history after
 * this, if at all.
 */
async function takeBack(
  { store, history }: ReindexedSessionParts,
  owner: Owner,
  sessionId: string,
  { given, lastSeq }: { readonly given: readonly string[]; readonly lastSeq: number },
  { stop, signal }: Ending,
): Promise<void> {
  const options = stop.aborted ? { waitMs: STOP_MS, owner } : { waitMs: TURN_ENDS_MS, owner, signal };
  const lease = await store.locks.acquire(sessionLockKey(owner, sessionId), options).catch((error: unknown) => {
    if (isAppError(error, "OWNER_ERASED")) return null;
    throw error;
  });
  try {
    if (lease === null || (await store.index.get(owner, sessionId)) === null) {
      await history.removeSession(owner, sessionId);
      return;
    }
    const now = await store.journal.window(owner, sessionId, { rounds: 1 });
    if (now.lastSeq === lastSeq) return;
    const kept = new Set(now.summary === null ? [] : [now.summary.id]);
    for await (const { message_id } of searchable(store, owner, sessionId)) kept.add(message_id);
    const gone = given.filter((id) => !kept.has(id));
    if (gone.length > 0) await history.removeMessages(owner, gone);
  } finally {
    await lease?.release();
  }
}
