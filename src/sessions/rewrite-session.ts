import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import { collected } from "../platform/collected.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryAdministration } from "../ports/memories.js";
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
  return collected(journal.read(owner, sessionId, { includeRewound: true, includeTorn: true }));
}

/** What was checked before the user's bookings. */
export interface ReceiptStore {
  /** Takes out what tells of a conversation, or of what came from it. How many. */
  detachSession(owner: Owner, sessionId: string): Promise<number>;
}

/** The stores that hold words of a session beside its journal. */
export interface DerivedStores {
  readonly history: ConversationHistory;
  readonly longTerm: Pick<MemoryAdministration, "detachSession">;
  /** Default: none are kept. */
  readonly receipts?: ReceiptStore;
  readonly logger: Logger;
}

/**
 * Takes a session's words out of history, receipts and memories: `delete` takes the memories along, `drop-quotes` leaves them without
 * the sentence that they came from. Safe to repeat. Stores that are switched off hold nothing of new turns; that they could not
 * be looked at is logged.
 * @throws HISTORY_UNAVAILABLE, LONG_TERM_MEMORY_UNAVAILABLE: nothing is lost, the caller repeats the whole
 */
export async function detachSession(
  stores: DerivedStores,
  owner: Owner,
  sessionId: string,
  memories: "delete" | "drop-quotes",
): Promise<{ readonly history_entries: number; readonly memories: number }> {
  const off = (what: string) => (error: unknown) => {
    if (!isAppError(error, "HISTORY_DISABLED") && !isAppError(error, "LONG_TERM_MEMORY_DISABLED")) throw error;
    stores.logger.warn({ session_id: sessionId, store: what }, "a store that is switched off could not be cleared of a session");
    return 0;
  };
  await stores.receipts?.detachSession(owner, sessionId);
  return {
    history_entries: await stores.history.removeSession(owner, sessionId).catch(off("history")),
    memories: await stores.longTerm.detachSession(owner, sessionId, memories).catch(off("memories")),
  };
}
