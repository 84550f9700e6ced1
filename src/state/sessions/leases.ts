import type { Owner } from "../../domain/owner.js";
import { isAppError } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import { committed, onceAnswered } from "../durable-commit.js";
import { type Commit, type PartitionRead, prefixRange, type ReadQuery, type StateEngine } from "../engine.js";
import { ERASURE_KEY, ownerErased } from "../ledger/ledger-values.js";
import { unchanged } from "../optimistic-commit.js";
import { ownerPartition, systemPartition } from "../partition.js";
import { jsonOf, rowAt } from "../stored-rows.js";
import { LOCKS, lockKey } from "./keys.js";
import type { SeenLock } from "./session-row.js";

interface LockRow {
  readonly v: 1;
  readonly fence: number;
  /** The process that has it. */
  readonly holder: string;
  /** By the engine's clock. */
  readonly untilMs: number;
  readonly revoked?: true;
}

export interface LeaseName {
  /** As `leaseKey()` makes it. */
  readonly key: string;
  /** Whose work it is held for; undefined for nobody's. */
  readonly owner: Owner | undefined;
  /** Until it ends, from when it was taken or renewed, in milliseconds. */
  readonly leaseMs: number;
}

/** What is read along when a lease is taken. */
export interface LeaseLook {
  readonly query?: ReadQuery;
  /** What must still be as the look saw it when the lease is taken. Default: the lease alone. */
  readonly checks?: (read: PartitionRead) => NonNullable<Commit["checks"]>;
  /** False: it is only looked at, and the lease begins with a write that is to come. Default true. */
  readonly hasBegun?: boolean;
}

interface Held {
  readonly fence: number;
  version: number;
  /** What the engine's clock said when `performance.now()` was `seenAt`. */
  nowMs: number;
  seenAt: number;
  /** A write that is under way ends it. */
  ending: boolean;
}

/** A lease that begins with a write: what that write must check and put. */
export interface OfferedLease {
  readonly lease: LeaseName;
  readonly fence: number;
  readonly commit: Omit<Commit, "id">;
  readonly read: PartitionRead;
}

const MAX_TRIES = 5;

/**
 * Leases as rows of whom the work is for; those of nobody's work are together in a partition of their own. Each change is one step, by the
 * engine's clock.
 */
export class EngineLeases {
  readonly #engine: StateEngine;
  /** Whoever finds this in a row has it: in one process a key has one holder at a time. */
  readonly #holder = newId();
  readonly #held = new Map<string, Held>();
  /** What begins with a write that is to come, by key. */
  readonly #offered = new Map<string, OfferedLease>();

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** With a fence that is greater than any before it; null while somebody else has the lease. @throws OWNER_ERASED */
  async take(
    lease: LeaseName,
    { query = {}, checks = () => [], hasBegun = true }: LeaseLook = {},
  ): Promise<{ readonly fence: number; readonly read: PartitionRead } | null> {
    const partition = partitionOf(lease);
    const keys = [...(query.keys ?? []), lockKey(lease.key), ERASURE_KEY];
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const read = await this.#engine.read(partition, { ...query, keys });
      const taking = this.#taking(lease, read);
      if (taking === null) return null;
      const { fence } = taking;
      if (!hasBegun) this.#offered.set(lease.key, { lease, read, ...taking });
      if (!hasBegun) return { fence, read };
      const commit = { ...taking.commit, checks: [...(taking.commit.checks ?? []), ...checks(read)] };
      const result = await this.letGoUnless(lease, fence, committed(this.#engine, partition, commit));
      if (result.ok) this.#taken(lease, fence, read, result.version);
      if (result.ok) return { fence, read };
      if (result.refused === "checks" && result.keys.includes(ERASURE_KEY)) throw ownerErased();
    }
    return null;
  }

  /** The commit that takes a lease, as a read with its row found it; null while somebody else has it. @throws OWNER_ERASED */
  #taking({ key: name, leaseMs }: LeaseName, read: PartitionRead): Pick<OfferedLease, "fence" | "commit"> | null {
    if (read.entries.has(ERASURE_KEY)) throw ownerErased();
    const key = lockKey(name);
    const entry = read.entries.get(key);
    const row = jsonOf<LockRow>(entry);
    if (row !== null && row.untilMs >= read.nowMs && row.holder !== this.#holder) return null;
    const fence = Math.max(row?.fence ?? 0, read.version) + 1;
    const checks = unchanged(read, key, ERASURE_KEY);
    return { fence, commit: { checks, puts: [{ key, value: this.#row(fence, read.nowMs + leaseMs) }] } };
  }

  /** Null where it was not offered, or another one was since. */
  offered(key: string, fence: number): OfferedLease | null {
    const offered = this.#offered.get(key);
    return offered?.fence === fence ? offered : null;
  }

  /** What was offered is not going to be written. */
  withdraw({ key }: LeaseName, fence: number): void {
    if (this.offered(key, fence) !== null) this.#offered.delete(key);
  }

  /** Where it is not known whether a write took the lease, it is let go as soon as the engine answers: nobody has it. */
  async letGoUnless<T>(lease: LeaseName, fence: number, written: Promise<T>): Promise<T> {
    try {
      return await written;
    } catch (error) {
      if (isAppError(error, "STORAGE_UNAVAILABLE")) void this.#releaseLater(lease, fence, performance.now() + lease.leaseMs);
      throw error;
    }
  }

  /** To be called behind the write that an offered lease began with. */
  begun({ lease, fence, read }: OfferedLease, version: number): void {
    this.#offered.delete(lease.key);
    this.#taken(lease, fence, read, version);
  }

  #taken({ key }: LeaseName, fence: number, { nowMs }: PartitionRead, version: number): void {
    this.#held.set(key, { fence, version, nowMs, seenAt: performance.now(), ending: false });
  }

  /** False where the lease is not the holder's any more. */
  async renew(lease: LeaseName, fence: number): Promise<boolean> {
    const held = this.#heldBy(lease.key, fence);
    if (held?.ending === true) return true;
    if (held !== null) {
      const nowMs = held.nowMs + performance.now() - held.seenAt;
      const renewed = await this.#renewAt(lease, fence, held.version, nowMs);
      if (renewed || this.#heldBy(lease.key, fence)?.ending === true) return true;
    }
    const key = lockKey(lease.key);
    const read = await this.#engine.read(partitionOf(lease), { keys: [key] });
    const entry = read.entries.get(key);
    const row = jsonOf<LockRow>(entry);
    if (entry !== undefined && row !== null && row.fence === fence && row.revoked !== true)
      return this.#renewAt(lease, fence, entry.version, read.nowMs);
    if (this.#heldBy(lease.key, fence)?.ending === true) return true;
    this.ended(lease.key, fence);
    return false;
  }

  async release(lease: LeaseName, fence: number): Promise<void> {
    const until = performance.now() + lease.leaseMs;
    try {
      await this.#release(lease, fence);
    } catch (error) {
      if (isAppError(error, "STORAGE_UNAVAILABLE")) void this.#releaseLater(lease, fence, until);
      throw error;
    }
  }

  /** Takes an owner's leases away from their holders. Whether one is held still. */
  async revoke(owner: Owner): Promise<boolean> {
    const partition = ownerPartition(owner);
    const { ranges, nowMs } = await this.#engine.read(partition, { ranges: [prefixRange(LOCKS)] });
    let isHeld = false;
    for (const entry of ranges[0] ?? []) {
      const { key, version } = entry;
      const row = jsonOf<LockRow>(entry);
      const checks = [{ key, version }];
      if (row.untilMs < nowMs) await committed(this.#engine, partition, { checks, deletes: [key] });
      else isHeld = true;
      if (row.untilMs < nowMs || row.revoked === true) continue;
      await committed(this.#engine, partition, { checks, puts: [{ key, value: JSON.stringify({ ...row, revoked: true }) }] });
    }
    return isHeld;
  }

  /** The lock's row as this process wrote it, where it has the lease with that fence. */
  seen(key: string, fence: number): SeenLock | null {
    const held = this.#heldBy(key, fence);
    return held === null ? null : { version: held.version, fence, at: held.version };
  }

  /** A write is under way that ends the lease: that it is gone is then no loss. Returns how to say that it was not written. */
  ending(key: string, fence: number): () => void {
    const held = this.#heldBy(key, fence);
    if (held !== null) held.ending = true;
    return () => {
      if (held !== null) held.ending = false;
    };
  }

  ended(key: string, fence: number): void {
    if (this.#held.get(key)?.fence === fence) this.#held.delete(key);
  }

  #heldBy(key: string, fence: number): Held | null {
    const held = this.#held.get(key);
    return held?.fence === fence ? held : null;
  }

  #row(fence: number, untilMs: number): string {
    const row: LockRow = { v: 1, fence, holder: this.#holder, untilMs: Math.ceil(untilMs) };
    return JSON.stringify(row);
  }

  async #renewAt(lease: LeaseName, fence: number, version: number, nowMs: number): Promise<boolean> {
    const key = lockKey(lease.key);
    const seenAt = performance.now();
    const puts = [{ key, value: this.#row(fence, nowMs + lease.leaseMs) }];
    const result = await committed(this.#engine, partitionOf(lease), { checks: [{ key, version }], puts });
    if (!result.ok) return false;
    const held = this.#heldBy(lease.key, fence);
    if (held !== null) Object.assign(held, { version: result.version, nowMs, seenAt });
    return true;
  }

  async #release(lease: LeaseName, fence: number): Promise<void> {
    const key = lockKey(lease.key);
    const partition = partitionOf(lease);
    const held = this.#heldBy(lease.key, fence);
    this.ended(lease.key, fence);
    let version = held?.version ?? null;
    for (;;) {
      if (version !== null && (await committed(this.#engine, partition, { checks: [{ key, version }], deletes: [key] })).ok) return;
      const entry = await rowAt(this.#engine, partition, key);
      if (entry === undefined || jsonOf<LockRow>(entry).fence !== fence) return;
      version = entry.version;
    }
  }

  /** Until the lease would have ended: nobody is to wait for a holder that is done. */
  #releaseLater(lease: LeaseName, fence: number, until: number): Promise<void> {
    return onceAnswered(until, () => this.#release(lease, fence));
  }
}

function partitionOf({ owner }: LeaseName): string {
  return owner === undefined ? systemPartition("locks") : ownerPartition(owner);
}
