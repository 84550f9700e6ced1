import { newId } from "../../../platform/ids.js";
import type { Logger } from "../../../platform/logger.js";
import { abortableRead } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import {
  type Commit,
  type CommitResult,
  type DuePartition,
  type EngineManifest,
  type KeyRange,
  MOST_DUE,
  type PartitionEntry,
  type PartitionRead,
  type PartitionsPage,
  type ReadQuery,
  type StateEngine,
} from "../../engine.js";
import { type Changes, type HeadStore, isEmpty, OptimisticHeads, type Seen, seenOf } from "../../optimistic-heads.js";
import { OWNER_KEY } from "../../partition.js";
import { EMPTY_HEAD, isClaimed, type PartitionHead } from "../../partition-head.js";
import { ServiceCalls } from "../../service-calls.js";
import {
  beatOf,
  documentId,
  ENTRIES,
  entryOf,
  entryRef,
  installationOf,
  lookedAt,
  madeIn,
  nameOfDocument,
  ofRange,
  openInstallation,
  ownerIn,
  PARTITIONS,
  unlessConflict,
} from "./documents.js";
import {
  type Document,
  FIRESTORE_ERRORS,
  type FirestoreAddress,
  type FirestoreClient,
  firestoreClient,
  type Query,
  type Timestamp,
  type Transaction,
} from "./firestore-client.js";

export interface FirestoreEngineOptions extends FirestoreAddress {
  readonly logger: Logger;
  /** How long a start waits for a Firestore that does not answer yet, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
  /** Bound of one call, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: of `@google-cloud/firestore`. */
  readonly connect?: (address: FirestoreAddress) => Promise<FirestoreClient>;
}

/** Looked at beyond what is asked for: others may have claimed some. */
const DUE_BESIDE = 16;
/** Entries that an erasure deletes at once. */
const ERASED_AT_ONCE = 250;
const OF_HEAD = ["version", "epoch", "dueAtMs", "claim", "recent"];

/**
 * State in Firestore: a document for each partition, with its head, and below it one for each key. Whatever changes a partition writes its
 * head too, on the condition that it is as it was read: nothing is locked.
 */
export class FirestoreEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #db: FirestoreClient;
  readonly #calls: ServiceCalls;
  readonly #isEmulator: boolean;
  readonly #heads: OptimisticHeads<Timestamp>;
  #installation = "";

  private constructor(db: FirestoreClient, { project, database, emulator, timeoutMs = 10_000 }: FirestoreEngineOptions) {
    this.#db = db;
    this.#calls = new ServiceCalls({
      name: "Firestore",
      variables: "FIRESTORE_PROJECT and FIRESTORE_DATABASE",
      timeoutMs,
      errors: FIRESTORE_ERRORS,
      beat: () => beatOf(db, this.#installation),
      end: () => db.terminate(),
    });
    this.#isEmulator = emulator !== undefined;
    const store: HeadStore<Timestamp> = {
      name: "Firestore",
      // That a key is not there yet the write that makes it finds out.
      keysToKnow: ({ checks = [], puts = [] }) => {
        const [made, put] = [madeIn(checks), new Set(puts.map(({ key }) => key))];
        return checks.map(({ key }) => key).filter((key) => !(made.has(key) && put.has(key)));
      },
      look: (partition, keys) => this.#lookAt(partition, keys),
      write: (partition, { tag }, head, changes) => this.#write(partition, tag, head, changes),
    };
    this.#heads = new OptimisticHeads(store, { timeoutMs });
    this.manifest = {
      name: `Firestore (project ${project}, database ${database})`,
      durability: "machine",
      maxValueBytes: 900 * 1_024,
      maxOperations: 100,
      // The service takes 10 MiB of a request, its emulator 4.
      maxCommitBytes: 3_500_000,
      shared: true,
    };
  }

  /** @throws INVALID_CONFIG, STORAGE_UNAVAILABLE with what to do */
  static async open(options: FirestoreEngineOptions): Promise<FirestoreEngine> {
    const { project, database, emulator, logger, startupWaitMs: waitMs = 30_000, connect = firestoreClient } = options;
    const engine = new FirestoreEngine(await connect({ project, database, emulator }), options);
    const name = `Firestore (${emulator === undefined ? `project ${project}` : `emulator at ${emulator}`})`;
    engine.#installation = await engine.#calls.opened(() => openInstallation(engine.#db), { name, waitMs, logger });
    return engine;
  }

  read(partition: string, query: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    return abortableRead(() => this.#read(partition, query), signal);
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    return this.#heads.commit(partition, commit);
  }

  async partitions({ key, after, limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const from = (query: Query) => (after === undefined ? query : query.startAfter(key === undefined ? documentId(after) : after));
    return this.#look(async (at) => {
      if (key === undefined) {
        const { docs } = await at.get(from(this.#db.collection(PARTITIONS).orderBy("__name__").select()).limit(limit));
        return docs.map(({ id }) => ({ partition: nameOfDocument(id), value: "" }));
      }
      const holding = this.#db.collectionGroup(ENTRIES).where("key", "==", key).orderBy("partition");
      const { docs } = await at.get(from(holding).limit(limit));
      return docs.map((entry) => ({ partition: String(entry.get("partition")), value: String(entry.get("value")) }));
    });
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const most = Math.min(limit, MOST_DUE);
    const pageSize = most + DUE_BESIDE;
    const rung = this.#db
      .collection(PARTITIONS)
      .where("dueAtMs", "<=", nowMs)
      .orderBy("dueAtMs")
      .select("dueAtMs", "claim")
      .limit(pageSize);
    const found: DuePartition[] = [];
    for (let asked = rung; ; ) {
      const { docs, readTime } = await this.#look((at) => at.get(asked));
      const free = docs.filter(
        (head) => !isClaimed({ ...EMPTY_HEAD, claim: head.get("claim") as PartitionHead["claim"] }, readTime.toMillis()),
      );
      while (free.length > 0 && found.length < most) {
        const next = free.splice(0, most - found.length);
        const taking = () => Promise.all(next.map((head) => taken(head, leaseMs, readTime.toMillis())));
        found.push(...(await this.#calls.within(taking)).flat());
      }
      const last = docs[pageSize - 1];
      if (last === undefined || found.length >= most) return found;
      asked = rung.startAfter(last);
    }
  }

  async erase(partition: string): Promise<number> {
    const till = await this.#heads.raiseEpoch(partition, { deletes: [OWNER_KEY] });
    const entries = this.#head(partition).collection(ENTRIES).orderBy("key").select("key", "version").limit(ERASED_AT_ONCE);
    let erased = 0;
    for (let asked: Query = entries; ; ) {
      const { docs } = await this.#look((at) => at.get(asked));
      // What was put since is the next epoch's.
      const old = docs.filter((entry) => Number(entry.get("version")) <= till);
      const batch = this.#db.batch();
      for (const { ref, updateTime } of old)
        batch.delete(ref, updateTime === undefined ? { exists: true } : { lastUpdateTime: updateTime });
      // Where one was put anew meanwhile, the page is looked at again.
      if (old.length > 0 && (await this.#calls.within(() => unlessConflict(batch.commit()))) === null) continue;
      erased += old.length;
      const last = docs[ERASED_AT_ONCE - 1];
      if (last === undefined) return erased;
      asked = entries.startAfter(last);
    }
  }

  health(): ReturnType<StateEngine["health"]> {
    return this.#calls.health();
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  #head(partition: string) {
    return this.#db.collection(PARTITIONS).doc(documentId(partition));
  }

  /** What is at one moment: the first look begins a transaction that only reads, and ends by itself. */
  #look<T>(work: (at: Transaction) => Promise<T>): Promise<T> {
    return this.#calls.within(async () => {
      // The emulator's transactions see several moments, unless one is named.
      const readTime = this.#isEmulator ? (await installationOf(this.#db).get()).readTime : undefined;
      return this.#db.runTransaction(work, { readOnly: true, ...(readTime !== undefined && { readTime }) });
    });
  }

  async #read(partition: string, query: ReadQuery): Promise<PartitionRead> {
    for (;;) {
      const read = await this.#readOnce(partition, query);
      if (read !== null) return read;
    }
  }

  /** Null for entries newer than the head: the emulator can give a commit the very moment that was named, and show it from then on. */
  #readOnce(partition: string, { keys = [], ranges = [] }: ReadQuery): Promise<PartitionRead | null> {
    const ref = this.#head(partition);
    const asked = [...new Set(keys)];
    return this.#look(async (at) => {
      const [head, ...documents] = (await at.getAll(ref, ...asked.map((key) => entryRef(ref, key)))) as [Document, ...Document[]];
      const inRange = async (range: KeyRange) =>
        isEmpty(range) ? [] : (await at.get(ofRange(ref.collection(ENTRIES), range))).docs.map(entryOf);
      const found = await Promise.all(ranges.map(inRange));
      const entries = new Map(documents.filter(({ exists }) => exists).map((document) => [String(document.get("key")), entryOf(document)]));
      const seen = { ...lookedAt(head), ...seenOf(asked, entries, ranges, found) };
      if ([...entries.values(), ...found.flat()].some(({ version }) => version > seen.head.version)) return null;
      this.#heads.saw(partition, seen);
      const { version, epoch, dueAtMs } = seen.head;
      return { version, epoch, dueAtMs, entries, ranges: found, nowMs: seen.nowMs };
    });
  }

  async #lookAt(partition: string, keys: readonly string[]): Promise<Seen<Timestamp>> {
    const ref = this.#head(partition);
    const asked = [ref, ...keys.map((key) => entryRef(ref, key)), { fieldMask: OF_HEAD }];
    const [head, ...entries] = (await this.#look((at) => at.getAll(...asked))) as [Document, ...Document[]];
    const versions = new Map(keys.map((key, place) => [key, (entries[place]?.get("version") ?? null) as number | null]));
    return { ...lookedAt(head), versions, whole: [] };
  }

  /** When it was written; null: somebody else was faster. */
  async #write(
    partition: string,
    tag: Timestamp | undefined,
    head: PartitionHead,
    { checks = [], puts = [], deletes = [] }: Changes,
  ): Promise<Timestamp | null> {
    const ref = this.#head(partition);
    const batch = this.#db.batch();
    const data = { ...head, ...ownerIn(puts, deletes) };
    if (tag === undefined) batch.create(ref, data);
    else batch.update(ref, data, { lastUpdateTime: tag });
    for (const key of deletes) batch.delete(entryRef(ref, key));
    const made = madeIn(checks);
    // Of a key that is put twice the last counts.
    for (const [key, value] of new Map(puts.map((put) => [put.key, put.value]))) {
      const entry = { key, value, version: head.version, partition };
      if (made.has(key)) batch.create(entryRef(ref, key), entry);
      else batch.set(entryRef(ref, key), entry);
    }
    const written = await this.#calls.within(() => unlessConflict(batch.commit()));
    return written?.[0]?.writeTime ?? null;
  }
}

/** A claim of a partition that is due, if nobody was faster. Without a lease it is only looked at. */
async function taken(head: Document, leaseMs: number, nowMs: number): Promise<readonly DuePartition[]> {
  const due = { partition: nameOfDocument(head.id), dueAtMs: Number(head.get("dueAtMs")) };
  if (leaseMs <= 0 || head.updateTime === undefined) return [{ ...due, token: "" }];
  const token = newId();
  const claimed = head.ref.update({ claim: { token, untilMs: nowMs + leaseMs } }, { lastUpdateTime: head.updateTime });
  return (await unlessConflict(claimed)) === null ? [] : [{ ...due, token }];
}
