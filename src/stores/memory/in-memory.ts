import { type Clock, systemClock } from "../../platform/clock.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { SessionStore } from "../../ports/session-store.js";
import { InProcessLock } from "../journal/in-process-lock.js";
import type { SqliteEventLog } from "../sqlite-index/sqlite-event-log.js";
import { SqliteSessionIndex } from "../sqlite-index/sqlite-session-index.js";
import { InMemoryImageStore } from "./in-memory-image-store.js";
import { InMemoryJournal } from "./in-memory-journal.js";

/** A session store that is gone with the process. Its index is the one of the file store, over a database in memory. */
export async function openMemorySessionStore(
  options: { readonly logger?: Logger; readonly clock?: Clock } = {},
): Promise<SessionStore & { readonly needsRebuild: boolean; readonly events: SqliteEventLog }> {
  const journal = new InMemoryJournal();
  const index = await SqliteSessionIndex.open({
    path: ":memory:",
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
    readJournal: (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true }),
  });
  const { events } = index;
  const locks = new InProcessLock();
  return { journal, index, locks, images: new InMemoryImageStore(), events, needsRebuild: false, close: () => index.close() };
}
