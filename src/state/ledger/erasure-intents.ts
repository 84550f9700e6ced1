import type { Owner } from "../../domain/owner.js";
import type { ErasureReceipt } from "../../ports/resources.js";
import { committed } from "../durable-commit.js";
import { type PartitionRead, prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { OWNER_KEY, ownerPartition } from "../partition.js";
import { jsonOf, rowPages, rowsIn } from "../stored-rows.js";
import {
  ERASURE_KEY,
  ERASURES,
  type ErasureIntent,
  intentOf,
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
  TOMBSTONES,
  USER_KEY,
} from "./ledger-values.js";

/** Operations of the commit that ends an erasure, beside its deletions of tombstones and progress. */
const OF_THE_END = 5;
/** Erasures of one owner that the registry forgets at once. */
const MOST_FORGOTTEN = 50;

/** Raises the epoch. Again while one is open: the same. The registry is told first, so that an intent is always found at a start. */
export async function beginErasure(engine: StateEngine, owner: Owner, at: string): Promise<ErasureIntent> {
  const partition = ownerPartition(owner);
  return optimisticCommit(engine, partition, { keys: [ERASURE_KEY] }, async (read) => {
    const open = openIntent(read);
    if (open !== null) return { commit: null, result: open };
    const epoch = read.epoch + 1;
    const intent: ErasureIntent = { v: 1, receiptId: receiptIdOf(owner, epoch), at, epoch };
    await committed(engine, ERASURES, { puts: [{ key: openKey(partition, epoch), value: JSON.stringify(owner) }] });
    const puts = [{ key: ERASURE_KEY, value: JSON.stringify(intent) }];
    return { commit: { epoch: read.epoch, checks: unchanged(read, ERASURE_KEY), puts, raisesEpoch: true }, result: intent };
  });
}

/** Deletes what an erasure doesn't leave, and with the last commit the intent and, unless there is something left, the owner's name. */
export async function completeErasure(engine: StateEngine, owner: Owner, receipt: ErasureReceipt, keep: readonly string[]): Promise<void> {
  const partition = ownerPartition(owner);
  const kept = new Set(keep.map(progressKey));
  const most = engine.manifest.maxOperations - OF_THE_END;
  const query = {
    keys: [ERASURE_KEY],
    ranges: [
      prefixRange(RECEIPTS),
      prefixRange(TOMBSTONES),
      prefixRange(PROGRESS),
      ...BEYOND_AN_ERASURE.map((range) => ({ ...range, limit: 1 })),
    ],
  };
  for (;;) {
    const ended = await optimisticCommit(engine, partition, query, (read) => {
      const [receipts = [], tombstones = [], progress = [], ...others] = read.ranges;
      const gone = [...tombstones, ...progress].map(({ key }) => key).filter((key) => !kept.has(key));
      if (gone.length > most) return { commit: { deletes: gone.slice(0, most) }, result: null };
      const intent = openIntent(read);
      const before = receipts.find(({ value }) => receiptOf(value).receipt_id === receipt.receipt_id);
      const key = before?.key ?? receiptKey(intent?.epoch ?? read.epoch);
      const isEmpty = others.every((entries) => entries.length === 0);
      return {
        commit: {
          // Nothing has come since that the name would be needed for.
          version: read.version,
          puts: [{ key, value: JSON.stringify(receipt) }],
          deletes: [...gone, USER_KEY, LAST_TOMBSTONE_KEY, ERASURE_KEY, ...(isEmpty ? [OWNER_KEY] : [])],
        },
        result: intent?.epoch ?? read.epoch,
      };
    });
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
