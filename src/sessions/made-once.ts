import type { Owner } from "../domain/owner.js";
import type { NewRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import type { RequestKey } from "../ports/request-key.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionsBehind } from "../ports/session-writer.js";
import type { SessionAccess } from "./session-access.js";
import { patchRecord } from "./session-records.js";

export interface MadeOnceParts {
  readonly index: Pick<SessionStore["index"], "findIdempotent">;
  readonly lagging: Pick<SessionsBehind, "findIdempotent">;
  readonly access: SessionAccess;
  readonly clock: Clock;
}

/** How a session is made: `kept` are records that go into its journal with its first. */
type Make<T> = (kept: readonly NewRecord[]) => Promise<T>;

/**
 * Sessions made by requests that may come twice. The key is kept with the session, in the same write: it is found wherever the session is,
 * also after a restart, and goes with it.
 */
export class MadeOnce {
  readonly #parts: MadeOnceParts;

  constructor(parts: MadeOnceParts) {
    this.#parts = parts;
  }

  /**
   * Without a key: makes it. `again`: what is answered where the key's request has made a session already.
   * @throws IDEMPOTENCY_KEY_REUSED for a key of another request, IDEMPOTENCY_IN_PROGRESS while the first one runs for longer than is waited
   */
  async run<T>(owner: Owner, request: RequestKey | undefined, make: Make<T>, again: (sessionId: string) => Promise<T>): Promise<T> {
    const { access, clock } = this.#parts;
    if (request === undefined) return access.during(owner, () => make([]));
    const { key, requestHash } = request;
    const replayed = async () => {
      const sessionId = await this.#sessionOf(owner, request);
      if (sessionId === null) return null;
      request.onReplay?.();
      return { answer: await again(sessionId) };
    };
    let isAlone = false;
    const once = async () => {
      isAlone = true;
      const before = await replayed();
      if (before !== null) return before.answer;
      try {
        return await make([patchRecord(clock.now(), { by: "user", idempotency: { key, request_hash: requestHash } })]);
      } catch (error) {
        // A request of another kind took the key meanwhile, in another process.
        const taken = isAppError(error, "IDEMPOTENCY_IN_PROGRESS") ? await replayed() : null;
        if (taken === null) throw error;
        return taken.answer;
      }
    };
    try {
      // The lock of a session that there is none of: requests with this key come one after another, in all processes.
      return await access.alone(owner, derivedId("session", owner, "made by request", key), once);
    } catch (error) {
      if (isAlone || !isAppError(error, "SESSION_BUSY")) throw error;
      throw new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1, cause: error });
    }
  }

  async #sessionOf(owner: Owner, { key, requestHash }: RequestKey): Promise<string | null> {
    const { index, lagging, clock } = this.#parts;
    const entry = (await index.findIdempotent(owner, key, clock.now())) ?? (await lagging.findIdempotent(owner, key));
    if (entry === null) return null;
    if (entry.requestHash !== requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
    return entry.sessionId;
  }
}
