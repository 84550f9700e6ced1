import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { AcquireOptions, Lease, TurnLock } from "../../ports/session-store.js";
import { InProcessLock } from "./in-process-lock.js";

/** A holder that is gone is waited for so long, in milliseconds. */
export const LEASE_MS = 15_000;
/** In it one that lives renews so often, and sees that its lock was taken away. */
const RENEWALS = 15;
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;

/** A lease as an engine keeps it. */
export interface LeaseName {
  /** As {@link leaseKey} makes it. */
  readonly key: string;
  /** Whose work it is held for; undefined for nobody's. */
  readonly owner: Owner | undefined;
  /** Until it ends, from when it was taken or renewed, in milliseconds. */
  readonly leaseMs: number;
}

/** What an engine does with leases, each in one step and by the engine's clock. */
export interface LeaseEngine {
  /** A fence, greater than any before it; null while somebody else has the lease. @throws OWNER_ERASED */
  take(lease: LeaseName): Promise<number | null>;
  /** False where the lease is not the holder's any more. */
  renew(lease: LeaseName, fence: number): Promise<boolean>;
  release(lease: LeaseName, fence: number): Promise<void>;
  /** One that was to begin with a write is not going to. Absent where leases begin when they are taken. */
  withdraw?(lease: LeaseName, fence: number): void;
  /** Takes an owner's leases away from their holders. Whether one is held still. */
  revoke(owner: Owner): Promise<boolean>;
}

export interface LeasedLockOptions {
  readonly logger: Logger;
  /** Default 15,000. */
  readonly leaseMs?: number;
}

/**
 * Locks over all processes that use one engine. Within a process it is first come, first served; between processes whoever looks first when
 * it is free. Each is a lease with an end, so that a holder that was killed doesn't hold it for ever.
 */
export class LeasedLock implements TurnLock {
  readonly #engine: LeaseEngine;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #here = new InProcessLock();

  constructor(engine: LeaseEngine, { logger, leaseMs = LEASE_MS }: LeasedLockOptions) {
    this.#engine = engine;
    this.#logger = logger;
    this.#leaseMs = leaseMs;
  }

  async acquire(key: string, options: AcquireOptions): Promise<Lease> {
    const { lease } = await this.acquireReading(key, options, async (name) => {
      const fence = await this.#engine.take(name);
      return fence === null ? null : { fence, read: null };
    });
    return lease;
  }

  /**
   * As {@link acquire}, by a step of the engine's that reads more as soon as it has taken the lease. `hasBegun`: false where the step only
   * looked, and the lease begins with the caller's first write.
   */
  async acquireReading<T>(
    key: string,
    options: AcquireOptions,
    take: (lease: LeaseName) => Promise<{ readonly fence: number; readonly read: T } | null>,
    { hasBegun = true }: { readonly hasBegun?: boolean } = {},
  ): Promise<{ readonly lease: Lease; readonly read: T }> {
    const until = performance.now() + options.waitMs;
    const local = await this.#here.acquire(key, options);
    const name = { key: leaseKey(key), owner: options.owner, leaseMs: this.#leaseMs };
    try {
      for (let look = FIRST_LOOK_MS; ; look = Math.min(look * 2, LONGEST_LOOK_MS)) {
        const taken = await take(name);
        if (taken !== null) return { lease: this.#lease(name, taken.fence, local, hasBegun), read: taken.read };
        const left = until - performance.now();
        if (left <= 0) throw new AppError("SESSION_BUSY", { retryAfterSeconds: 1 });
        await pauseUnless(options.signal, Math.min(look, left));
      }
    } catch (error) {
      await local.release();
      throw error;
    }
  }

  async revoke(owner: Owner, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    while (await this.#engine.revoke(owner)) await pauseUnless(signal, LONGEST_LOOK_MS);
  }

  #lease(name: LeaseName, fence: number, local: Lease, hasBegun: boolean): Lease {
    const lost = new AbortController();
    let held = true;
    let begun = false;
    let ended = false;
    let renewedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const lose = () => {
      clearInterval(timer);
      if (held && !ended) lost.abort(new AppError("FENCED"));
    };
    const renew = async () => {
      try {
        if (await this.#engine.renew(name, fence)) renewedAt = performance.now();
        else lose();
      } catch (error) {
        this.#logger.warn({ err: error }, "A lock could not be renewed");
        if (performance.now() - renewedAt > this.#leaseMs) lose();
      }
    };
    const begin = () => {
      begun = true;
      renewedAt = performance.now();
      timer = setInterval(() => void renew(), this.#leaseMs / RENEWALS);
      timer.unref();
    };
    if (hasBegun) begin();
    return {
      fence,
      signal: lost.signal,
      get hasBegun() {
        return begun;
      },
      begun: begin,
      ended: () => {
        ended = true;
        clearInterval(timer);
      },
      release: async () => {
        if (!held) return;
        held = false;
        clearInterval(timer);
        try {
          if (!begun) this.#engine.withdraw?.(name, fence);
          else if (!ended) await this.#engine.release(name, fence);
        } catch (error) {
          this.#logger.warn({ err: error }, "A lock could not be released; it ends by itself");
        } finally {
          await local.release();
        }
      },
    };
  }
}

/** A lock's key may hold an owner's name, which is not to be kept. */
export function leaseKey(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** @throws ABORTED */
async function pauseUnless(signal: AbortSignal | undefined, ms: number): Promise<void> {
  try {
    await pause(ms, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new AppError("ABORTED", { cause });
  }
}
