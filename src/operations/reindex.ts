import type { Owner } from "../domain/owner.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationHistory } from "../ports/history.js";
import type { ListedSession } from "../ports/session-store.js";
import { belongs, type ReindexedSessionParts, reindexSession } from "./reindexed-session.js";

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
