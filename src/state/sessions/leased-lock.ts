import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { type HeldLease, holdLease, LEASE_MS } from "../../platform/held-lease.js";
import type { Logger } from "../../platform/logger.js";
import type { AcquireOptions, Lease, TurnLock } from "../../ports/session-store.js";
import type { PartitionRead } from "../engine.js";
import { InProcessLock } from "./in-process-lock.js";
import { leaseKey } from "./keys.js";
import type { EngineLeases, LeaseLook, LeaseName } from "./leases.js";

const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;

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
  readonly #leases: EngineLeases;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #here = new InProcessLock();

  constructor(leases: EngineLeases, { logger, leaseMs = LEASE_MS }: LeasedLockOptions) {
    this.#leases = leases;
    this.#logger = logger;
    this.#leaseMs = leaseMs;
  }

  async acquire(key: string, options: AcquireOptions): Promise<Lease> {
    return (await this.acquireReading(key, options)).lease;
  }

  /** As {@link acquire}, by a look that reads more in the same step. */
  async acquireReading(
    key: string,
    options: AcquireOptions,
    look: LeaseLook = {},
  ): Promise<{ readonly lease: Lease; readonly read: PartitionRead }> {
    const until = performance.now() + options.waitMs;
    const local = await this.#here.acquire(key, options);
    const name = { key: leaseKey(key), owner: options.owner, leaseMs: this.#leaseMs };
    try {
      for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_LOOK_MS)) {
        const taken = await this.#leases.take(name, look);
        if (taken !== null) return { lease: this.#lease(name, taken.fence, local, look.hasBegun ?? true), read: taken.read };
        const left = until - performance.now();
        if (left <= 0) throw new AppError("SESSION_BUSY", { retryAfterSeconds: 1 });
        await pauseUnless(options.signal, Math.min(waitMs, left));
      }
    } catch (error) {
      await local.release();
      throw error;
    }
  }

  async revoke(owner: Owner, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    while (await this.#leases.revoke(owner)) await pauseUnless(signal, LONGEST_LOOK_MS);
  }

  #lease(name: LeaseName, fence: number, local: Lease, hasBegun: boolean): Lease {
    const lost = new AbortController();
    let held = true;
    let renewal: HeldLease<number> | undefined;
    let ended = false;
    const begin = () => {
      renewal = holdLease(fence, {
        leaseMs: this.#leaseMs,
        renew: async () => ((await this.#leases.renew(name, fence)) ? fence : null),
        onLost: () => {
          if (held && !ended) lost.abort(new AppError("FENCED"));
        },
        onError: (error) => this.#logger.warn({ err: error }, "A lock could not be renewed"),
      });
    };
    if (hasBegun) begin();
    return {
      fence,
      signal: lost.signal,
      get hasBegun() {
        return renewal !== undefined;
      },
      begun: begin,
      ended: () => {
        ended = true;
        renewal?.end();
      },
      release: async () => {
        if (!held) return;
        held = false;
        renewal?.end();
        try {
          if (renewal === undefined) this.#leases.withdraw(name, fence);
          else if (!ended) await this.#leases.release(name, fence);
        } catch (error) {
          this.#logger.warn({ err: error }, "A lock could not be released; it ends by itself");
        } finally {
          await local.release();
        }
      },
    };
  }
}

/** @throws ABORTED */
async function pauseUnless(signal: AbortSignal | undefined, ms: number): Promise<void> {
  try {
    await pause(ms, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new AppError("ABORTED", { cause });
  }
}
