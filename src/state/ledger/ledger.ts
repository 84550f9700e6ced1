import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { AuditEntry, OwnerLedger, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import type { ErasureReceipt } from "../../ports/resources.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { named, ownerPartition } from "../partition.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";
import { beginErasure, completeErasure, openErasures, withdrawErasure } from "./erasure-intents.js";
import {
  AUDIT,
  afterSeen,
  auditKey,
  auditOf,
  hashOfSighting,
  isDue,
  LAST_TOMBSTONE_KEY,
  progressKey,
  RECEIPTS,
  receiptOf,
  SEEN_THROTTLE_MS,
  type Sighting,
  TOMBSTONES,
  tombstoneKey,
  tombstonesOf,
  tombstoneValue,
  USER_KEY,
  userOf,
} from "./ledger-values.js";

/** Owners whose last visit is known here. */
const VISITORS = 1_000;
/** Operations of a commit that adds tombstones, beside them. */
const OF_TOMBSTONES = 2;

/** Ledgers, each in its owner's partition; the epoch is the partition's. */
export class EngineOwnerLedger implements OwnerLedger {
  readonly #engine: StateEngine;
  /** What was last seen here, as a hash: a visit that tells nothing else is not looked up. Another process may have written since. */
  readonly #visits = new LRUCache<Owner, { readonly told: string; readonly lastSeenAt: string }>({ max: VISITORS, ttl: SEEN_THROTTLE_MS });

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async tombstones(owner: Owner): Promise<readonly Tombstone[]> {
    return tombstonesOf(await this.#values(owner, TOMBSTONES));
  }

  addTombstone(owner: Owner, tombstone: Tombstone): Promise<void> {
    return this.addTombstones(owner, [tombstone]);
  }

  /** More than one commit takes go in several, each all or nothing. */
  async addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    const most = this.#engine.manifest.maxOperations - OF_TOMBSTONES;
    const last = new Map(tombstones.map((each) => [each.memoryId, each]));
    // Of several of one memory the last holds, at its place.
    const single = tombstones.filter((each) => last.get(each.memoryId) === each);
    for (let from = 0; from < single.length; from += most) await this.#addTombstones(owner, single.slice(from, from + most));
  }

  async user(owner: Owner): Promise<UserRecord | null> {
    const entry = await rowAt(this.#engine, ownerPartition(owner), USER_KEY);
    return entry === undefined ? null : userOf(entry.value);
  }

  async seen(owner: Owner, seen: Sighting): Promise<void> {
    const told = hashOfSighting(owner, seen);
    const known = this.#visits.get(owner);
    if (known?.told === told && !isDue(known.lastSeenAt, seen)) return;
    const user = await optimisticCommit(this.#engine, ownerPartition(owner), { keys: [USER_KEY] }, (read) => {
      const entry = read.entries.get(USER_KEY);
      const before = entry === undefined ? null : userOf(entry.value);
      const after = afterSeen(before, seen);
      if (after === null) return { commit: null, result: before };
      const puts = [{ key: USER_KEY, value: JSON.stringify(after) }, named(owner)];
      return { commit: { epoch: read.epoch, checks: unchanged(read, USER_KEY), puts }, result: after };
    });
    if (user !== null) this.#visits.set(owner, { told, lastSeenAt: user.lastSeenAt });
  }

  async audit(owner: Owner, entry: AuditEntry): Promise<void> {
    const query = { ranges: [{ ...prefixRange(AUDIT), limit: 1, reverse: true }] };
    await optimisticChange(this.#engine, ownerPartition(owner), query, ({ ranges: [rows = []] }) => {
      const [last] = rows;
      const key = auditKey(last === undefined ? 1 : Number(last.key.slice(AUDIT.length)) + 1);
      return { checks: [{ key, version: null }], puts: [{ key, value: JSON.stringify(entry) }] };
    });
  }

  async auditTrail(owner: Owner): Promise<readonly AuditEntry[]> {
    return (await this.#values(owner, AUDIT)).map(auditOf);
  }

  async epoch(owner: Owner): Promise<number> {
    return (await this.#engine.read(ownerPartition(owner), {})).epoch;
  }

  async beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }> {
    const { receiptId, epoch } = await beginErasure(this.#engine, owner, at);
    return { receiptId, epoch };
  }

  async completeErasure(owner: Owner, receipt: ErasureReceipt, keep: readonly string[] = []): Promise<void> {
    await completeErasure(this.#engine, owner, receipt, keep);
    this.#visits.delete(owner);
  }

  withdrawErasure(owner: Owner): Promise<void> {
    return withdrawErasure(this.#engine, owner);
  }

  async receipts(owner: Owner): Promise<readonly ErasureReceipt[]> {
    return (await this.#values(owner, RECEIPTS)).map(receiptOf);
  }

  openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
    return openErasures(this.#engine);
  }

  async progress(owner: Owner, job: string): Promise<string | null> {
    return jsonOf<string>(await rowAt(this.#engine, ownerPartition(owner), progressKey(job)));
  }

  async setProgress(owner: Owner, job: string, cursor: string): Promise<void> {
    await committed(this.#engine, ownerPartition(owner), { puts: [{ key: progressKey(job), value: JSON.stringify(cursor) }] });
  }

  /** Without effect: the engine is the caller's. */
  async close(): Promise<void> {}

  async #addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    await optimisticChange(this.#engine, ownerPartition(owner), { keys: [LAST_TOMBSTONE_KEY] }, (read) => {
      let n = Number(read.entries.get(LAST_TOMBSTONE_KEY)?.value ?? 0);
      const puts = tombstones.map((each) => {
        n += 1;
        return { key: tombstoneKey(each.memoryId), value: tombstoneValue(each, n) };
      });
      puts.push({ key: LAST_TOMBSTONE_KEY, value: String(n) }, named(owner));
      return { checks: unchanged(read, LAST_TOMBSTONE_KEY), puts };
    });
  }

  async #values(owner: Owner, prefix: string): Promise<readonly string[]> {
    return (await rowsIn(this.#engine, ownerPartition(owner), prefixRange(prefix))).map(({ value }) => value);
  }
}
