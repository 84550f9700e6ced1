import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { GrowingWait } from "../../platform/growing-wait.js";
import type { Logger } from "../../platform/logger.js";
import type { AppendOptions, CreateOptions, IdempotencyEntry, SessionStore } from "../../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../../ports/session-writer.js";
import { requestsIn } from "../journal/session-fold.js";
import { catchUpSession } from "./index-catch-up.js";

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

/** The first wait before the sessions are tried again, and the longest, in milliseconds. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;

interface Lagging {
  readonly owner: Owner;
  readonly sessionId: string;
}

/**
 * Sessions whose index could not follow their journal: its disk was full, its file locked. They are tried again, with growing waits, until
 * they are level, so that nothing needs a restart; meanwhile what must not be missed is looked up in their journals.
 */
export class LaggingSessions implements SessionsBehind {
  readonly #store: Pick<SessionStore, "journal" | "index">;
  #onLevel: () => void = () => {};
  readonly #logger: Logger;
  readonly #sessions = new Map<string, Lagging>();
  readonly #retry = new GrowingWait(RETRY_MS, MAX_RETRY_MS);
  #trying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(store: Pick<SessionStore, "journal" | "index">, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Of one listener. */
  onLevel(listener: () => void): void {
    this.#onLevel = listener;
  }

  get count(): number {
    return this.#sessions.size;
  }

  get owners(): readonly Owner[] {
    return [...new Set([...this.#sessions.values()].map(({ owner }) => owner))];
  }

  add(owner: Owner, sessionId: string): void {
    this.#sessions.set(sessionId, { owner, sessionId });
    this.#later();
  }

  /** Tries the owner's lagging sessions now. Costs nothing where none lags, and never throws. */
  async level(owner: Owner): Promise<void> {
    for (const lagging of [...this.#sessions.values()]) if (lagging.owner === owner) await this.#try(lagging);
  }

  /** Whether something that the owner said is not in the index yet, and so in no write-back either, though it was tried just now. */
  async lags(owner: Owner): Promise<boolean> {
    await this.level(owner);
    return [...this.#sessions.values()].some((lagging) => lagging.owner === owner);
  }

  /** @throws STORAGE_UNAVAILABLE where the session, which the index may not even know, still lags */
  async requireLevel(owner: Owner, sessionId: string): Promise<void> {
    if (this.#sessions.get(sessionId)?.owner !== owner) return;
    await this.level(owner);
    if (this.#sessions.has(sessionId)) throw new AppError("STORAGE_UNAVAILABLE", { retryAfterSeconds: 1 });
  }

  /** The request with this key, from the journals of the owner's sessions that lag. */
  async findIdempotent(owner: Owner, key: string): Promise<IdempotencyEntry | null> {
    for (const { owner: holder, sessionId } of [...this.#sessions.values()]) {
      if (holder !== owner) continue;
      const fromSeq = (await this.#store.index.indexedSeq(owner, sessionId)) + 1;
      for await (const record of this.#store.journal.read(owner, sessionId, { fromSeq, includeRewound: true })) {
        const request = requestsIn(sessionId, [record]).find((each) => each.key === key);
        if (request !== undefined) return request.entry;
      }
    }
    return null;
  }

  /** Ends the retries. What still lags is caught up with at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#retry.cancel();
    await this.#trying;
  }

  #later(): void {
    if (this.#closed) return;
    this.#retry.begin(() => {
      this.#trying = this.#tryAll();
    });
  }

  async #tryAll(): Promise<void> {
    for (const lagging of [...this.#sessions.values()]) if (!this.#closed) await this.#try(lagging);
    if (this.#sessions.size === 0) this.#retry.reset();
    else this.#later();
  }

  async #try(lagging: Lagging): Promise<void> {
    const { owner, sessionId } = lagging;
    try {
      await catchUpSession(this.#store, owner, sessionId);
    } catch (error) {
      if (!isAppError(error, "SESSION_NOT_FOUND")) {
        this.#logger.debug({ session_id: sessionId, err: error }, "the index still can't follow the journal");
        return;
      }
    }
    // One that fell behind again meanwhile stands there anew.
    if (this.#sessions.get(sessionId) === lagging) this.#sessions.delete(sessionId);
    this.#onLevel();
  }
}
