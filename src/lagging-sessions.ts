import { AppError, isAppError } from "./errors.js";
import { catchUpSession } from "./index-catch-up.js";
import type { Owner } from "./owner.js";
import type { Logger } from "./platform/logger.js";
import type { IdempotencyEntry, SessionStore } from "./session-store.js";

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
export class LaggingSessions {
  readonly #store: Pick<SessionStore, "journal" | "index">;
  readonly #onLevel: () => void;
  readonly #logger: Logger;
  readonly #sessions = new Map<string, Lagging>();
  #waitMs = RETRY_MS;
  #timer: NodeJS.Timeout | null = null;
  #trying: Promise<void> = Promise.resolve();
  #closed = false;

  /** `onLevel` is told each time that a session has caught up: turns of it may wait for their write-back. */
  constructor(
    store: Pick<SessionStore, "journal" | "index">,
    { onLevel, logger }: { readonly onLevel: () => void; readonly logger: Logger },
  ) {
    this.#store = store;
    this.#onLevel = onLevel;
    this.#logger = logger;
  }

  get count(): number {
    return this.#sessions.size;
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
      const fromSeq = (await this.#store.index.indexedSeq(sessionId)) + 1;
      for await (const record of this.#store.journal.read(owner, sessionId, { fromSeq, includeRewound: true })) {
        if (record.type !== "message" || record.body.idempotency?.key !== key) continue;
        const { id: messageId, turn, at } = record;
        return { sessionId, turn, messageId, requestHash: record.body.idempotency.request_hash, at };
      }
    }
    return null;
  }

  /** Ends the retries. What still lags is caught up with at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#trying;
  }

  #later(): void {
    if (this.#timer !== null || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#trying = this.#tryAll();
    }, this.#waitMs).unref();
  }

  async #tryAll(): Promise<void> {
    for (const lagging of [...this.#sessions.values()]) if (!this.#closed) await this.#try(lagging);
    this.#timer = null;
    this.#waitMs = this.#sessions.size === 0 ? RETRY_MS : Math.min(2 * this.#waitMs, MAX_RETRY_MS);
    if (this.#sessions.size > 0) this.#later();
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
