import type { Owner } from "../domain/owner.js";
import type { Session } from "../domain/session.js";
import { searchable, summaryMessage } from "../history/history.js";
import { insteadOf } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationHistory } from "../ports/history.js";
import { type ListedSession, type SessionStore, sessionLockKey } from "../ports/session-store.js";

export interface ReindexParts extends ReindexedSessionParts {
  /** Runs work on one owner's stores while nobody takes something out of them; begins it again when it was ended for that. */
  readonly during: (owner: Owner, signal: AbortSignal, work: (signal: AbortSignal) => Promise<number>) => Promise<number>;
  readonly logger: Logger;
}

export interface ReindexOptions {
  /** `missing`: sessions of which history holds less than was said; `all`: every session. What is there stays. */
  readonly which: "missing" | "all";
  readonly signal?: AbortSignal;
  readonly onProgress?: (report: ReindexReport) => void;
}

export interface ReindexReport {
  readonly sessions: number;
  /** Messages that history did not have. */
  readonly added: number;
  readonly failed: number;
}

/** Sessions looked at together: what the index says of them is one query, and what history holds of them another. */
const PAGE = 200;

/**
 * Brings history level with the journals: no model is called, and what was kept out of memory stays out. Safe to break off and
 * to repeat, also beside turns, of this process and of others. What is still pending is left to the write-back.
 */
export async function reindexHistory(parts: ReindexParts, options: ReindexOptions): Promise<ReindexReport> {
  let report: ReindexReport = { sessions: 0, added: 0, failed: 0 };
  const { signal = new AbortController().signal } = options;
  const tell = (more: ReindexReport) => {
    report = { sessions: report.sessions + more.sessions, added: report.added + more.added, failed: report.failed + more.failed };
    options.onProgress?.(report);
  };
  for await (const page of parts.store.index.pages(PAGE)) {
    let behind: readonly ListedSession[];
    try {
      behind = options.which === "all" ? page : await behindIn(parts.history, page);
      tell({ sessions: page.length - behind.length, added: 0, failed: 0 });
    } catch (error) {
      parts.logger.warn({ sessions: page.length, err: error }, "it can't be seen which sessions are in history");
      tell({ sessions: page.length, added: 0, failed: page.length });
      continue;
    }
    for (const { owner, session } of behind) {
      if (signal.aborted) return report;
      try {
        const added = await parts.during(owner, signal, (during) =>
          reindexSession(parts, owner, session.id, { stop: signal, signal: during }),
        );
        tell({ sessions: 1, added, failed: 0 });
      } catch (error) {
        if (signal.aborted) return report;
        parts.logger.warn({ session_id: session.id, err: error }, "a session could not be brought into history");
        tell({ sessions: 1, added: 0, failed: 1 });
      }
    }
    if (signal.aborted) return report;
  }
  return report;
}

/**
 * Sessions of which history holds less than was said. What was said off the record counts as said: such a session is among them each
 * time, and looking at it changes nothing.
 */
async function behindIn(history: ConversationHistory, page: readonly ListedSession[]): Promise<readonly ListedSession[]> {
  const wanted = page.filter(({ session }) => belongs(session));
  const held = await history.counts(wanted.map(({ owner, session }) => ({ owner, sessionId: session.id })));
  return wanted.filter(({ session }) => (held.get(session.id) ?? 0) < session.message_count + (session.summary === null ? 0 : 1));
}

export interface ReindexedSessionParts {
  readonly store: SessionStore;
  readonly history: ConversationHistory;
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
  const { store, history } = parts;
  const { signal } = ending;
  const session = await store.index.get(owner, sessionId);
  if (session === null || !belongs(session)) return 0;
  const { summary, lastSeq } = await store.journal.window(owner, sessionId, { rounds: 1, signal });
  const pending = new Set((await store.turns.of(owner, sessionId)).map(({ turn }) => turn));
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
  const lease = await store.locks.acquire(sessionLockKey(owner, sessionId), options).catch(insteadOf("OWNER_ERASED", null));
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
  const caughtUp = during(owner, signal, (ended) => catchUp(owner, sessionId, { signal: ended }));
  return caughtUp.catch(insteadOf("SESSION_NOT_FOUND", 0));
}
