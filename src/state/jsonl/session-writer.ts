import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import type { Logger } from "../../platform/logger.js";
import type { AppendOptions, CreateOptions, SessionStore } from "../../ports/session-store.js";
import type { SessionWriter } from "../../ports/session-writer.js";

/**
 * Writes a session: the journal first, which decides; then the index, which follows. An index that can't follow fails no turn:
 * `onLag` is told, and has the index catch up from the journal.
 */
export class IndexedSessionWriter implements SessionWriter {
  readonly #store: SessionStore;
  readonly #onLag: (owner: Owner, sessionId: string) => void;
  readonly #logger: Logger;

  constructor(store: SessionStore, options: { readonly onLag: (owner: Owner, sessionId: string) => void; readonly logger: Logger }) {
    this.#store = store;
    this.#onLag = options.onLag;
    this.#logger = options.logger;
  }

  /** As {@link ShortTermMemory.create}. */
  async create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]> {
    return this.#index(owner, sessionId, await this.#store.journal.create(owner, sessionId, records, options));
  }

  /** As {@link ShortTermMemory.append}. */
  async append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]> {
    return this.#index(owner, sessionId, await this.#store.journal.append(owner, sessionId, records, options));
  }

  async #index(owner: Owner, sessionId: string, written: readonly JournalRecord[]): Promise<readonly JournalRecord[]> {
    try {
      await this.#store.index.apply(owner, sessionId, written);
    } catch (error) {
      this.#logger.error({ session_id: sessionId, err: error }, "the index could not follow the journal; it will catch up");
      this.#onLag(owner, sessionId);
    }
    return written;
  }
}
