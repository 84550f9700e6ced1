import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../domain/owner.js";
import { boundedSignal, orAbort } from "../platform/bounded-signal.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { ErasureReceipt } from "../ports/resources.js";
import { type TurnLock, underLock } from "../ports/session-store.js";
import { type ErasableStore, residueOf } from "./residue.js";

export interface ErasureParts {
  readonly stores: readonly ErasableStore[];
  readonly ledger: OwnerLedger;
  readonly locks: Pick<TurnLock, "acquire">;
  /**
   * Refuses new work of the owner, ends what runs, waits for it; the result lets work in again. Turns, session changes,
   * write-backs, imports. @throws the signal's reason when it aborts
   */
  readonly hold: (owner: Owner, signal: AbortSignal) => Promise<() => void>;
  /** Rewrites files whose free space can still hold deleted bytes: after the deletions, before the look, and behind the receipt. */
  readonly compact: () => Promise<void>;
  /** Why deleted texts stay in some file of a store all the same: then no receipt says `verified`. */
  readonly keepsDeleted: readonly string[];
  /** Told of an erasure that is done, before its receipt closes it: so that it is told again when that can't be kept. */
  readonly onErased: (owner: Owner, receipt: ErasureReceipt) => Promise<void>;
  /** Other users that turned out to be one. Default: none did. */
  readonly merges?: ErasedMerges;
  /** What the owner's values are encrypted under. Default: nothing is. */
  readonly keys?: ErasedKeys;
  /** What others share, such as seats: erased while it can still be read whose it was. Default: nothing is. */
  readonly shared?: ErasableStore | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keys whose loss erases what they encrypt, wherever a copy of it lies. */
export interface ErasedKeys {
  /** Durable on resolve; the ids of all that were ever destroyed of this owner. Idempotent. Null: that erasure has ended already. */
  destroy(owner: Owner, receiptId: string): Promise<readonly string[] | null>;
  /** The erasure, which had still to read what it deletes, has ended, or goes on elsewhere or later. */
  forget(owner: Owner): void;
}

/** What an erasure must know of users that turned out to be one. */
export interface ErasedMerges {
  /** Whom this one is taken for now: themselves, or whom they were merged with. */
  knownAs(owner: Owner): Promise<Owner>;
  /** Whether what is open is a merge's fence, and no erasure. */
  isMerge(owner: Owner): Promise<boolean>;
  /** Those whose things lie dormant because they were merged with this one: they are erased along. Durable on resolve. */
  erasedWith(owner: Owner): Promise<readonly Owner[]>;
}

/** How long whoever asked for an erasure waits for its receipt. */
export interface ErasureWait {
  /** In milliseconds. Default: for as long as it takes. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** What another process had under way when the erasure began may land behind the first pass; it begins nothing new. */
const PASSES = 3;
const BETWEEN_PASSES_MS = 500;

/** How long one waits for another process that erases the same owner, in milliseconds. */
const WAIT_MS = 10 * 60_000;

/** The key of the lock by which an owner is erased by one process at a time. Not the owner's own: nobody works for them any more. */
const erasureLockKey = (owner: Owner): string => JSON.stringify(["erased", owner]);

/** Another process was done meanwhile: whatever is there now is of who came back. */
class EndedElsewhere extends Error {
  readonly receipt: ErasureReceipt;

  constructor(receipt: ErasureReceipt) {
    super("another process ended the erasure");
    this.receipt = receipt;
  }
}

interface ErasureRun {
  readonly owner: Owner;
  readonly by: string;
  readonly receiptId: string;
  readonly keep?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Erases an owner: a durable intent first, so that a crash at any later point is finished by another process or at the next start; then
 * nobody writes for the owner any more; then every store is erased, and then looked into, again where something is left; then the receipt
 * closes the intent. One process does it at a time. A second call for the same owner while one runs gives the same receipt.
 */
export class Erasure {
  readonly #parts: ErasureParts;
  readonly #running = new Map<Owner, Promise<ErasureReceipt>>();
  readonly #stopping = new AbortController();

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /**
   * @throws what a store throws that is out of reach: the intent stays open, and the erasure is repeated by the caller or at the
   * next start. `keep`: jobs whose progress stays in the ledger.
   */
  run(owner: Owner, by: string, keep?: readonly string[]): Promise<ErasureReceipt> {
    const running = this.#running.get(owner);
    if (running === undefined) return this.#once(owner, () => this.#erase(owner, by, keep));
    // It was to be resumed, and another process is at it.
    return running.catch((error: unknown) => {
      if (!isAppError(error, "SESSION_BUSY")) throw error;
      return this.run(owner, by, keep);
    });
  }

  #once(owner: Owner, erase: () => Promise<ErasureReceipt>): Promise<ErasureReceipt> {
    const erasure = erase().finally(() => this.#running.delete(owner));
    this.#running.set(owner, erasure);
    return erasure;
  }

  /**
   * As {@link run}, for one who waits so long for the receipt: the erasure goes on behind their back.
   * @throws ERASURE_UNDER_WAY, CLIENT_CLOSED_REQUEST when the signal aborts
   */
  async receiptWithin(owner: Owner, by: string, { waitMs, signal }: ErasureWait): Promise<ErasureReceipt> {
    const erasure = this.run(owner, by);
    const bound = boundedSignal([signal], waitMs);
    try {
      return await orAbort(erasure, bound.signal);
    } catch (error) {
      if (!bound.signal.aborted) throw error;
      erasure.catch((cause: unknown) => this.#parts.logger.error({ err: cause }, "an erasure could not be finished; it stays open"));
      if (signal?.aborted) throw new AppError("CLIENT_CLOSED_REQUEST", { hint: "The erasure goes on." });
      throw new AppError("ERASURE_UNDER_WAY", { retryAfterSeconds: 1 });
    } finally {
      bound.end();
    }
  }

  /** Ends what waits or has more to do, and resolves when nothing runs: it is finished at the next start, or when it is asked for again. */
  async stop(): Promise<void> {
    this.#stopping.abort(new AppError("SHUTTING_DOWN", { retryAfterSeconds: 5 }));
    await Promise.allSettled(this.#running.values());
  }

  /**
   * Finishes what a crash interrupted, here or in another process; what one that lives is at is left to it. One that still can't be
   * finished is logged and stays open. Returns how many were finished.
   */
  async resume(): Promise<number> {
    let finished = 0;
    for (const { owner, receiptId } of await this.#parts.ledger.openErasures()) {
      try {
        if (this.#running.has(owner) || (await this.#parts.merges?.isMerge(owner))) continue;
        await this.#once(owner, () => this.#alone({ owner, by: "resume", receiptId }, 0));
        finished += 1;
      } catch (error) {
        if (isAppError(error, "SESSION_BUSY")) continue;
        this.#parts.logger.error({ receipt_id: receiptId, err: error }, "an erasure could not be finished; it stays open");
      }
    }
    return finished;
  }

  async #erase(owner: Owner, by: string, keep?: readonly string[]): Promise<ErasureReceipt> {
    const { ledger, clock } = this.#parts;
    this.#stopping.signal.throwIfAborted();
    const { receiptId } = await ledger.beginErasure(owner, clock.now().toISOString());
    return this.#alone({ owner, by, receiptId, keep }, WAIT_MS);
  }

  /** While no other process erases the owner. @throws SESSION_BUSY where one does for so long */
  async #alone(run: Omit<ErasureRun, "signal">, waitMs: number): Promise<ErasureReceipt> {
    const stopping = this.#stopping.signal;
    try {
      return await underLock(this.#parts.locks, erasureLockKey(run.owner), { waitMs, signal: stopping }, ({ signal }) =>
        this.#held({ ...run, signal: AbortSignal.any([stopping, signal]) }),
      );
    } catch (error) {
      stopping.throwIfAborted();
      if (error instanceof EndedElsewhere) return error.receipt;
      throw error;
    }
  }

  async #held(run: ErasureRun): Promise<ErasureReceipt> {
    const { owner, by, receiptId, keep, signal } = run;
    const { ledger, hold, merges, keys, clock, logger } = this.#parts;
    const release = await hold(owner, signal);
    try {
      const receipts = await this.#goOn(run);
      // Each has a receipt of its own; what they gave is counted here, where it is.
      for (const dormant of (await merges?.erasedWith(owner)) ?? []) await this.run(dormant, by);
      const erased: Record<string, number> = {};
      const destroyed = await this.#destroyKeys(run, erased);
      let residue = await this.#pass(run, erased);
      for (let pass = 2; pass <= PASSES && isAnyLeft(residue); pass++) {
        await pause(BETWEEN_PASSES_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
        residue = await this.#pass(run, erased);
      }
      const { keepsDeleted } = this.#parts;
      const isLeft = isAnyLeft(residue);
      const verified = !isLeft && keepsDeleted.length === 0;
      const at = clock.now().toISOString();
      const before = new Set(receipts.flatMap(({ destroyed_keys = [] }) => destroyed_keys));
      const receipt: ErasureReceipt = {
        ...{ receipt_id: receiptId, completed_at: at, erased, verified },
        ...(isLeft && { residue }),
        ...(keepsDeleted.length > 0 && { unverified: keepsDeleted.join(" ") }),
        ...(destroyed && { destroyed_keys: destroyed.filter((id) => !before.has(id)) }),
      };
      await this.#goOn(run);
      await this.#audit(owner, { at, by, receiptId, counts: erased });
      // What lay dormant is no user any more.
      if (keep === undefined) await this.#parts.onErased(owner, receipt);
      await ledger.completeErasure(owner, receipt, keep);
      // The name, and what only the end of an erasure takes away.
      await this.#parts.compact();
      if (isLeft) logger.error({ receipt_id: receiptId, residue }, "an erasure left something behind");
      return receipt;
    } finally {
      keys?.forget(owner);
      release();
    }
  }

  /**
   * Whoever was paused finds out here that it is over. The receipts of before.
   * @throws EndedElsewhere, the signal's reason
   */
  async #goOn({ owner, receiptId, signal }: ErasureRun): Promise<readonly ErasureReceipt[]> {
    const receipts = await this.#parts.ledger.receipts(owner);
    const given = receipts.find(({ receipt_id: id }) => id === receiptId);
    if (given !== undefined) throw new EndedElsewhere(given);
    signal.throwIfAborted();
    return receipts;
  }

  /** From here on no copy of what was kept can be read, whatever becomes of the rest. Null where nothing is encrypted. */
  async #destroyKeys(run: ErasureRun, erased: Record<string, number>): Promise<readonly string[] | null> {
    const { keys, shared } = this.#parts;
    if (keys === undefined) return null;
    // A store that is out of reach holds up its own erasure, and not this.
    if (shared) await count(shared, run.owner, erased).catch(() => undefined);
    const destroyed = await keys.destroy(run.owner, run.receiptId);
    if (destroyed === null) await this.#goOn(run);
    return destroyed;
  }

  /** Erases every store, counts what went beside what went before, and gives what is left. */
  async #pass(run: ErasureRun, erased: Record<string, number>): Promise<Residue> {
    const { stores, compact } = this.#parts;
    for (const store of stores) {
      await this.#goOn(run);
      await count(store, run.owner, erased);
    }
    await compact();
    return residueOf(stores, run.owner);
  }

  /** Once for each receipt, also when a crash came between the entry and the receipt. */
  async #audit(
    owner: Owner,
    entry: { readonly at: string; readonly by: string; readonly receiptId: string; readonly counts: Record<string, number> },
  ) {
    const { ledger } = this.#parts;
    const there = (await ledger.auditTrail(owner)).some(({ action, receiptId }) => action === "erase" && receiptId === entry.receiptId);
    if (!there) await ledger.audit(owner, { action: "erase", ...entry });
  }
}

async function count(store: ErasableStore, owner: Owner, erased: Record<string, number>): Promise<void> {
  for (const [what, gone] of Object.entries(await store.erase(owner))) erased[what] = (erased[what] ?? 0) + gone;
}

type Residue = Readonly<Record<string, number>>;

function isAnyLeft(residue: Residue): boolean {
  return Object.keys(residue).length > 0;
}
