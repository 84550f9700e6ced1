import { setTimeout as pause } from "node:timers/promises";
import { AppError, isAppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { KeyedMutex } from "../../../platform/keyed-mutex.js";
import type { Logger } from "../../../platform/logger.js";
import { orAbort } from "../../../platform/or-abort.js";
import { awaitStart } from "../../../platform/await-start.js";
import { assertFits } from "../../commit-limits.js";
import { NotCommitted } from "../../durable-commit.js";
import type {
  Commit,
  CommitResult,
  DuePartition,
  EngineManifest,
  KeyRange,
  PartitionEntry,
  PartitionRead,
  PartitionsPage,
  ReadQuery,
  StateEngine,
  StoredEntry,
} from "../../engine.js";
import { OWNER_KEY } from "../../partition.js";
import { decide, EMPTY_HEAD, erasedHead, isClaimed, type PartitionHead } from "../../partition-head.js";
import { documentId, nameOfDocument } from "./document-ids.js";
import {
  type Document,
  type FirestoreAddress,
  type FirestoreClient,
  firestoreClient,
  type Query,
  type Transaction,
} from "./firestore-client.js";
import { firestoreError, hintOf, isConflict, mayPass } from "./firestore-errors.js";
import { ENTRIES, installationOf, openInstallation, PARTITIONS } from "./installation.js";

export interface FirestoreEngineOptions extends FirestoreAddress {
  readonly logger: Logger;
  /** How long a start waits for a Firestore that does not answer yet, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
  /** Bound of one call, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: of `@google-cloud/firestore`. */
  readonly connect?: (address: FirestoreAddress) => Promise<FirestoreClient>;
}

const MAX_DUE = 1_000;
/** Looked at beyond what is asked for: others may have claimed some. */
const DUE_BESIDE = 16;
/** Entries that an erasure deletes at once. */
const ERASED_AT_ONCE = 250;
/** Before a write that met another one is tried again: up to so much more each time, in milliseconds. */
const STEP_MS = 10;
const MOST_STEPS = 20;
/** Of a look at the health, in milliseconds. */
const HEALTH_WITHIN_MS = 5_000;
const OF_HEAD = ["version", "epoch", "dueAtMs", "claim", "recent"];

/** What becomes of a partition; `head` null: nothing. */
interface Change<T> {
  readonly result: T;
  readonly head: PartitionHead | null;
}

/**
 * State in Firestore: a document for each partition, with its head, and below it one for each key. Whatever changes a partition writes its
 * head too, on the condition that it is as it was read: nothing is locked.
 */
export class FirestoreEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #db: FirestoreClient;
  readonly #timeoutMs: number;
  /** Writers of one process don't get in each other's way. */
  readonly #writers = new KeyedMutex();
  #installation = "";

  private constructor(db: FirestoreClient, { project, database, timeoutMs = 10_000 }: FirestoreEngineOptions) {
    this.#db = db;
    this.#timeoutMs = timeoutMs;
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
    const start = async () => {
      engine.#installation = await engine.#within(() => openInstallation(engine.#db));
      return engine;
    };
    const name = `Firestore (${emulator === undefined ? `project ${project}` : `emulator at ${emulator}`})`;
    return awaitStart(start, { name, hintOf, waitMs, logger, mayPass, reasonOf: ({ message }) => message }).catch(async (error) => {
      await engine.close();
      throw error;
    });
  }

  async read(partition: string, query: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    if (signal?.aborted === true) throw new AppError("ABORTED", { cause: signal.reason });
    const asked = this.#read(partition, query);
    return signal === undefined ? asked : orAbort(asked, signal).catch((error) => Promise.reject(orAborted(error, signal)));
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    return this.#change(partition, commit, (head, versionOf, nowMs) => decide(head, commit, versionOf, nowMs));
  }

  async partitions({ key, after, limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const from = (query: Query) => (after === undefined ? query : query.startAfter(key === undefined ? documentId(after) : after));
    return this.#within(async () => {
      if (key === undefined) {
        const { docs } = await from(this.#db.collection(PARTITIONS).orderBy("__name__").select()).limit(limit).get();
        return docs.map(({ id }) => ({ partition: nameOfDocument(id), value: "" }));
      }
      const holding = this.#db.collectionGroup(ENTRIES).where("key", "==", key).orderBy("partition");
      const { docs } = await from(holding).limit(limit).get();
      return docs.map((entry) => ({ partition: String(entry.get("partition")), value: String(entry.get("value")) }));
    });
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const most = Math.min(limit, MAX_DUE);
    const pageSize = most + DUE_BESIDE;
    const rung = this.#db
      .collection(PARTITIONS)
      .where("dueAtMs", "<=", nowMs)
      .orderBy("dueAtMs")
      .select("dueAtMs", "claim")
      .limit(pageSize);
    const found: DuePartition[] = [];
    for (let asked = rung; ; ) {
      const { docs, readTime } = await this.#within(() => asked.get());
      const free = docs.filter(
        (head) => !isClaimed({ ...EMPTY_HEAD, claim: head.get("claim") as PartitionHead["claim"] }, readTime.toMillis()),
      );
      while (free.length > 0 && found.length < most) {
        const next = free.splice(0, most - found.length);
        const taking = () => Promise.all(next.map((head) => taken(head, leaseMs, readTime.toMillis())));
        found.push(...(await this.#within(taking)).flat());
      }
      const last = docs[pageSize - 1];
      if (last === undefined || found.length >= most) return found;
      asked = rung.startAfter(last);
    }
  }

  async erase(partition: string): Promise<number> {
    const till = await this.#change(partition, { deletes: [OWNER_KEY] }, (before) => {
      const head = erasedHead(before);
      return { head, result: head.version };
    });
    const entries = this.#head(partition).collection(ENTRIES).orderBy("key").select("key", "version").limit(ERASED_AT_ONCE);
    let erased = 0;
    for (let asked: Query = entries; ; ) {
      const { docs } = await this.#within(() => asked.get());
      // What was put since is the next epoch's.
      const old = docs.filter((entry) => Number(entry.get("version")) <= till);
      const batch = this.#db.batch();
      for (const { ref, updateTime } of old)
        batch.delete(ref, updateTime === undefined ? { exists: true } : { lastUpdateTime: updateTime });
      // Where one was put anew meanwhile, the page is looked at again.
      if (old.length > 0 && !(await this.#within(() => unlessConflict(batch.commit())))) continue;
      erased += old.length;
      const last = docs[ERASED_AT_ONCE - 1];
      if (last === undefined) return erased;
      asked = entries.startAfter(last);
    }
  }

  async health(): ReturnType<StateEngine["health"]> {
    const own = installationOf(this.#db);
    const beat = async () => {
      if ((await own.get()).get("id") !== this.#installation)
        return "Firestore is empty or another installation's: not what it was at the start. See FIRESTORE_PROJECT and FIRESTORE_DATABASE.";
      // Others may do the same at the same time, which is as good.
      await unlessConflict(own.update({ beatAtMs: Date.now() }, { exists: true }));
      return null;
    };
    const detail = await this.#within(beat, HEALTH_WITHIN_MS).catch((error: AppError) => error.message);
    return detail === null ? { status: "ok" } : { status: "down", detail };
  }

  close(): Promise<void> {
    return this.#db.terminate();
  }

  #head(partition: string) {
    return this.#db.collection(PARTITIONS).doc(documentId(partition));
  }

  /** As all is at one moment: the first look begins a transaction that only reads, and ends by itself. */
  #look<T>(work: (at: Transaction) => Promise<T>): Promise<T> {
    return this.#within(() => this.#db.runTransaction(work, { readOnly: true }));
  }

  #read(partition: string, { keys = [], ranges = [] }: ReadQuery): Promise<PartitionRead> {
    const ref = this.#head(partition);
    const documents = [...new Set(keys)].map((key) => ref.collection(ENTRIES).doc(documentId(key)));
    return this.#look(async (at) => {
      const [head, ...found] = (await at.getAll(ref, ...documents)) as [Document, ...Document[]];
      const inRange = async (range: KeyRange) =>
        isEmpty(range) ? [] : (await at.get(ofRange(ref.collection(ENTRIES), range))).docs.map(entryOf);
      const { version, epoch, dueAtMs } = headOf(head);
      return {
        version,
        epoch,
        dueAtMs,
        entries: new Map(found.filter(({ exists }) => exists).map((document) => [String(document.get("key")), entryOf(document)])),
        ranges: await Promise.all(ranges.map(inRange)),
        nowMs: head.readTime.toMillis(),
      };
    });
  }

  /** Decides by what is there, and writes: again from the beginning where somebody else was faster. @throws STORAGE_UNAVAILABLE */
  #change<T>(
    partition: string,
    { checks = [], puts = [], deletes = [] }: Pick<Commit, "checks" | "puts" | "deletes">,
    decided: (head: PartitionHead, versionOf: (key: string) => number | null, nowMs: number) => Change<T>,
  ): Promise<T> {
    const ref = this.#head(partition);
    const entry = (key: string) => ref.collection(ENTRIES).doc(documentId(key));
    const checked = [...new Set(checks.map(({ key }) => key))];
    const owner = ownerIn(puts, deletes);
    const untilMs = performance.now() + this.#timeoutMs;
    return this.#writers.run(partition, async () => {
      for (let tries = 1; performance.now() < untilMs; tries++) {
        const asked = [ref, ...checked.map(entry), { fieldMask: OF_HEAD }];
        const [head, ...entries] = (await this.#look((at) => at.getAll(...asked))) as [Document, ...Document[]];
        const versions = new Map(checked.map((key, place) => [key, entries[place]?.get("version") as number | undefined]));
        const { result, head: after } = decided(headOf(head), (key) => versions.get(key) ?? null, head.readTime.toMillis());
        if (after === null) return result;
        const batch = this.#db.batch();
        if (head.updateTime === undefined) batch.create(ref, { ...after, ...owner });
        else batch.update(ref, { ...after, ...owner }, { lastUpdateTime: head.updateTime });
        for (const key of deletes) batch.delete(entry(key));
        for (const { key, value } of puts) batch.set(entry(key), { key, value, version: after.version, partition });
        if (await this.#within(() => unlessConflict(batch.commit()))) return result;
        await pause(Math.random() * STEP_MS * Math.min(tries, MOST_STEPS));
      }
      throw new NotCommitted({ detail: "Too many write to the same partition of Firestore.", retryAfterSeconds: 1 });
    });
  }

  /** @throws STORAGE_UNAVAILABLE, also where there is no answer in time: whether it happened is not known then */
  async #within<T>(ask: () => Promise<T>, ms = this.#timeoutMs): Promise<T> {
    try {
      return await orAbort(ask(), AbortSignal.timeout(ms));
    } catch (error) {
      throw firestoreError(error);
    }
  }
}

/** A claim of a partition that is due, if nobody was faster. Without a lease it is only looked at. */
async function taken(head: Document, leaseMs: number, nowMs: number): Promise<readonly DuePartition[]> {
  const due = { partition: nameOfDocument(head.id), dueAtMs: Number(head.get("dueAtMs")) };
  if (leaseMs <= 0 || head.updateTime === undefined) return [{ ...due, token: "" }];
  const token = newId();
  const claimed = head.ref.update({ claim: { token, untilMs: nowMs + leaseMs } }, { lastUpdateTime: head.updateTime });
  return (await unlessConflict(claimed)) ? [{ ...due, token }] : [];
}

/** False where somebody else was faster. */
async function unlessConflict(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** Who a partition is, beside its head: for people who look for a user. */
function ownerIn(puts: NonNullable<Commit["puts"]>, deletes: readonly string[]): { readonly owner?: string | null } {
  const named = puts.findLast(({ key }) => key === OWNER_KEY);
  if (named !== undefined) return { owner: named.value };
  return deletes.includes(OWNER_KEY) ? { owner: null } : {};
}

function headOf(document: Document): PartitionHead {
  return { ...EMPTY_HEAD, ...(document.data() as PartitionHead | undefined) };
}

function entryOf(document: Document): StoredEntry {
  return { key: String(document.get("key")), value: String(document.get("value")), version: Number(document.get("version")) };
}

function ofRange(entries: Query, { from, to, limit, reverse = false }: KeyRange): Query {
  const query = entries
    .where("key", ">=", from)
    .where("key", "<", to)
    .orderBy("key", reverse ? "desc" : "asc");
  return limit === undefined ? query : query.limit(limit);
}

function isEmpty({ from, to, limit }: KeyRange): boolean {
  return limit === 0 || Buffer.compare(Buffer.from(from), Buffer.from(to)) >= 0;
}

function orAborted(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && !isAppError(error, "ABORTED") ? new AppError("ABORTED", { cause: signal.reason }) : error;
}
