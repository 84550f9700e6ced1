import type { ConversationHistory, HistoryMessage } from "./history.js";
import type { Owner } from "./owner.js";
import type { Logger } from "./platform/logger.js";
import { searchable } from "./searchable.js";
import type { RecordOf } from "./session.js";
import type { SessionStore } from "./session-store.js";

export interface ReindexParts {
  readonly store: SessionStore;
  readonly history: ConversationHistory;
  /** A session's summary as history knows it. */
  readonly summaryMessage: (sessionId: string, record: RecordOf<"summary">) => HistoryMessage;
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

/**
 * Brings history level with the journals: no model is called, and what was kept out of memory stays out. Safe to break off and
 * to repeat. What is still pending is left to the write-back.
 */
export async function reindexHistory(parts: ReindexParts, options: ReindexOptions): Promise<ReindexReport> {
  let report: ReindexReport = { sessions: 0, added: 0, failed: 0 };
  const { signal = new AbortController().signal } = options;
  for await (const { owner, sessionId } of parts.store.journal.list()) {
    if (signal.aborted) return report;
    try {
      const added = await parts.during(owner, signal, (during) => reindexSession(parts, owner, sessionId, options.which, during));
      report = { ...report, sessions: report.sessions + 1, added: report.added + added };
    } catch (error) {
      if (signal.aborted) return report;
      report = { ...report, sessions: report.sessions + 1, failed: report.failed + 1 };
      parts.logger.warn({ session_id: sessionId, err: error }, "a session could not be brought into history");
    }
    options.onProgress?.(report);
  }
  return report;
}

async function reindexSession(
  { store, history, summaryMessage }: ReindexParts,
  owner: Owner,
  sessionId: string,
  which: ReindexOptions["which"],
  signal: AbortSignal,
): Promise<number> {
  const session = await store.index.get(owner, sessionId);
  if (!session || session.message_count === 0 || session.metadata.incognito === true) return 0;
  // What was said off the record counts here too: such a session is looked at each time, which changes nothing.
  const said = session.message_count + (session.summary === null ? 0 : 1);
  if (which === "missing" && (await history.count(owner, sessionId)) >= said) return 0;
  const pending = new Set((await store.index.pendingOf(owner, sessionId)).map(({ turn }) => turn));
  async function* settled() {
    for await (const message of searchable(store, owner, sessionId)) if (!pending.has(message.turn)) yield message;
  }
  const added = await history.addSession(owner, sessionId, settled(), { signal });
  const { summary } = await store.journal.window(owner, sessionId, { rounds: 1, signal });
  return summary ? added + (await history.addEvents(owner, [summaryMessage(sessionId, summary)], { signal })) : added;
}
