import { lapsesAt, type RetentionPolicy } from "../domain/lifecycle.js";
import type { Owner } from "../domain/owner.js";
import type { Session } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { type OwnerGate, whileOpen } from "../ports/owner-gate.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { FormerSessionIds } from "../ports/session-names.js";
import { type SessionStore, underSessionLock } from "../ports/session-store.js";

/** A session that nobody else can write while this is held. */
export interface HeldSession {
  readonly session: Session;
  /** For `append`. */
  readonly fence: number;
  /** Aborts when the owner is erased or the lock is lost. */
  readonly signal: AbortSignal;
}

/** Finds an owner's sessions, and holds one for a change. */
export class SessionAccess {
  readonly #store: SessionStore;
  readonly #gate: OwnerGate;
  readonly #waitMs: number;
  readonly #former: FormerSessionIds;

  constructor(
    store: SessionStore,
    gate: OwnerGate,
    options: {
      /** How long a change waits for a turn that runs. */ readonly waitMs: number;
      /** Default: no session had another id. */ readonly former?: FormerSessionIds;
    },
  ) {
    this.#store = store;
    this.#gate = gate;
    this.#waitMs = options.waitMs;
    this.#former = options.former ?? (async () => null);
  }

  /**
   * Also by a former id: what it is called by now the session says.
   * @throws INVALID_SESSION_ID for what can't be an id, SESSION_NOT_FOUND also for a session of somebody else
   */
  async find(owner: Owner, id: string): Promise<Session> {
    if (!isId(id)) throw new AppError("INVALID_SESSION_ID");
    const { index } = this.#store;
    let session = await index.get(owner, id);
    const now = session === null ? await this.#former(owner, id) : null;
    if (now !== null) session = await index.get(owner, now);
    if (!session) throw new AppError("SESSION_NOT_FOUND");
    return session;
  }

  /** Work for an owner that an erasure aborts and waits for. */
  during<T>(owner: Owner, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return whileOpen(this.#gate, owner, work);
  }

  /**
   * Runs `work` under the session's lock, in line with its turns. The session is what it is once the lock is held.
   * @param waitMs default: as configured; 0 gives up at once
   * @throws SESSION_BUSY, SESSION_NOT_FOUND, OWNER_ERASED
   */
  async hold<T>(owner: Owner, id: string, work: (held: HeldSession) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    const { id: now } = await this.find(owner, id);
    return this.alone(owner, now, async (held) => work({ session: await this.find(owner, now), ...held }), waitMs);
  }

  /** As {@link hold}, for a session that there may not be yet. */
  async alone<T>(owner: Owner, id: string, work: (held: Omit<HeldSession, "session">) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    return this.during(owner, (signal) =>
      underSessionLock(this.#store.locks, owner, id, { waitMs, signal }, (lease) =>
        work({ fence: lease.fence, signal: AbortSignal.any([signal, lease.signal]) }),
      ),
    );
  }
}

/**
 * A session as its user sees it. `expires_at` is when retention takes it on if nothing happens to it before. A summary that is older than
 * what was forgotten last may still tell it: it is not shown until it has been written anew.
 */
export function shownSession(session: Session, tombstones: readonly Tombstone[], policy: RetentionPolicy): Session {
  const { summary_updated_at: at } = session;
  const stale = at !== null && tombstones.some((tombstone) => tombstone.at >= at);
  const expires_at = lapsesAt({ ...session, statusSince: session.status_since }, policy);
  return { ...session, expires_at, ...(stale && { summary: null, summary_updated_at: null }) };
}

/** What a change of a session asks of those who write its turns back. */
export interface WriteBackControl {
  /** Says that there is something to do. Returns at once. */
  kick(): void;
  /** Resolves when the session has nothing pending that may still succeed, or when the time is up. */
  flush(owner: Owner, sessionId: string, timeoutMs: number): Promise<void>;
  /** Aborts the owner's write-backs, waits for them, and starts none until the result is called. */
  hold(owner: Owner): Promise<() => void>;
}
