import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { AuditEntry, OwnerLedger, Sighting, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import type { ErasureReceipt } from "../../ports/resources.js";
import { committed } from "../durable-commit.js";
import { type PartitionRead, prefixRange, type StateEngine } from "../engine.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { named, OWNER_KEY, ownerPartition } from "../partition.js";
import { jsonOf, rowAt, rowPages, rowsIn } from "../stored-rows.js";
import {
  AUDIT,
  afterSeen,
  auditKey,
  auditOf,
  ERASURE_KEY,
  ERASURES,
  type ErasureIntent,
  hashOfSighting,
  intentOf,
  isDue,
  isPast,
  LAST_TOMBSTONE_KEY,
  LEDGER,
  OPEN,
  openKey,
  PROGRESS,
  progressKey,
  RECEIPTS,
  receiptIdOf,
  receiptKey,
  receiptOf,
  SEEN_THROTTLE_MS,
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
    if (user !== null && !isPast(user.lastSeenAt, seen)) this.#visits.set(owner, { told, lastSeenAt: user.lastSeenAt });
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

  async fence(owner: Owner, at: string): Promise<void> {
    await openIntentOf(this.#engine, owner, at, null);
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

/** Operations of the commit that ends an erasure, beside its deletions of tombstones and progress. */
const OF_THE_END = 5;
/** Erasures of one owner that the registry forgets at once. */
const MOST_FORGOTTEN = 50;

/** Raises the epoch. Again while one is open: the same. The registry is told first, so that an intent is always found at a start. */
export function beginErasure(engine: StateEngine, owner: Owner, at: string): Promise<ErasureIntent> {
  return openIntentOf(engine, owner, at, async (epoch) => {
    await committed(engine, ERASURES, { puts: [{ key: openKey(ownerPartition(owner), epoch), value: JSON.stringify(owner) }] });
  });
}

/** `register`: before the intent is there; also of one that is, which may be a fence, and is then known to be there behind it. */
async function openIntentOf(
  engine: StateEngine,
  owner: Owner,
  at: string,
  register: ((epoch: number) => Promise<void>) | null,
): Promise<ErasureIntent> {
  const partition = ownerPartition(owner);
  return optimisticCommit(engine, partition, { keys: [ERASURE_KEY] }, async (read) => {
    const open = openIntent(read);
    const epoch = open?.epoch ?? read.epoch + 1;
    await register?.(epoch);
    const checks = unchanged(read, ERASURE_KEY);
    if (open !== null) return { commit: register === null ? null : { checks }, result: open };
    const intent: ErasureIntent = { v: 1, receiptId: receiptIdOf(owner, epoch), at, epoch };
    const puts = [{ key: ERASURE_KEY, value: JSON.stringify(intent) }];
    return { commit: { epoch: read.epoch, checks, puts, raisesEpoch: true }, result: intent };
  });
}

/** Of the entry that says that this erasure is open; null: it is not any more. */
export async function intentVersion(engine: StateEngine, owner: Owner, receiptId: string): Promise<number | null> {
  const read = await engine.read(ownerPartition(owner), { keys: [ERASURE_KEY] });
  return openIntent(read)?.receiptId === receiptId ? (read.entries.get(ERASURE_KEY)?.version ?? null) : null;
}

/**
 * Deletes what an erasure doesn't leave, and with the last commit the intent and, unless there is something left, the owner's name. Without
 * effect where it has ended already: what is there is of who came back.
 */
export async function completeErasure(engine: StateEngine, owner: Owner, receipt: ErasureReceipt, keep: readonly string[]): Promise<void> {
  const partition = ownerPartition(owner);
  const kept = new Set(keep.map(progressKey));
  const most = engine.manifest.maxOperations - OF_THE_END;
  const query = {
    keys: [ERASURE_KEY],
    ranges: [prefixRange(TOMBSTONES), prefixRange(PROGRESS), ...BEYOND_AN_ERASURE.map((range) => ({ ...range, limit: 1 }))],
  };
  for (;;) {
    const ended = await optimisticCommit(engine, partition, query, (read) => {
      const intent = openIntent(read);
      if (intent?.receiptId !== receipt.receipt_id) return { commit: null, result: 0 };
      const [tombstones = [], progress = [], ...others] = read.ranges;
      const gone = [...tombstones, ...progress].map(({ key }) => key).filter((key) => !kept.has(key));
      if (gone.length > most) return { commit: { checks: unchanged(read, ERASURE_KEY), deletes: gone.slice(0, most) }, result: null };
      const isEmpty = others.every((entries) => entries.length === 0);
      return {
        commit: {
          // Nothing has come since that the name would be needed for.
          version: read.version,
          puts: [{ key: receiptKey(intent.epoch), value: JSON.stringify(receipt) }],
          deletes: [...gone, USER_KEY, LAST_TOMBSTONE_KEY, ERASURE_KEY, ...(isEmpty ? [OWNER_KEY] : [])],
        },
        result: intent.epoch,
      };
    });
    if (ended === 0) return;
    if (ended !== null) return forget(engine, partition, ended);
  }
}

/** Without effect where none is open. */
export async function withdrawErasure(engine: StateEngine, owner: Owner): Promise<void> {
  const partition = ownerPartition(owner);
  const intent = await optimisticCommit(engine, partition, { keys: [ERASURE_KEY] }, (read) => {
    const open = openIntent(read);
    return { commit: open === null ? null : { checks: unchanged(read, ERASURE_KEY), deletes: [ERASURE_KEY] }, result: open };
  });
  if (intent !== null) await forget(engine, partition, intent.epoch);
}

/** Of all owners. What the registry still has of erasures that have ended is swept. */
export async function openErasures(engine: StateEngine): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
  const found: { owner: Owner; receiptId: string }[] = [];
  for await (const rows of rowPages(engine, ERASURES, OPEN))
    for (const row of rows) {
      const owner = jsonOf<Owner>(row);
      const partition = ownerPartition(owner);
      const read = await engine.read(partition, { keys: [ERASURE_KEY] });
      const intent = openIntent(read);
      if (intent !== null && row.key === openKey(partition, intent.epoch)) found.push({ owner, receiptId: intent.receiptId });
      else if (row.key <= openKey(partition, read.epoch)) await committed(engine, ERASURES, { deletes: [row.key] });
    }
  return found;
}

/** All keys of a partition but the ledger's, the outbox's (what tells of the erasure) and the owner's name. */
const BEYOND_AN_ERASURE = [
  { from: "", to: LEDGER },
  { from: prefixRange(LEDGER).to, to: "outbox" },
  { from: prefixRange("outbox").to, to: OWNER_KEY },
  { from: `${OWNER_KEY}!`, to: prefixRange("").to },
] as const;

function openIntent(read: PartitionRead): ErasureIntent | null {
  const entry = read.entries.get(ERASURE_KEY);
  return entry === undefined ? null : intentOf(entry.value);
}

/** That erasure, and what the registry still has of those before it, of whose end nobody was told. */
async function forget(engine: StateEngine, partition: string, epoch: number): Promise<void> {
  const own = openKey(partition, epoch);
  const before = { from: openKey(partition, 0), to: own, limit: MOST_FORGOTTEN };
  const older = await rowsIn(engine, ERASURES, before);
  await committed(engine, ERASURES, { deletes: [...older.map(({ key }) => key), own] });
}
