// Over 300 lines: an engine's calls, with the documents that each writes and reads.
import { setImmediate as nextLoop, setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { hostIn } from "../../../platform/await-start.js";
import { AppError } from "../../../platform/errors.js";
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
  type StoredEntry,
} from "../../engine.js";
import { type Changes, isSame, OptimisticHeads, type Seen, seenOf, versionIn } from "../../optimistic-heads.js";
import type { PartitionHead } from "../../partition-head.js";
import { ServiceCalls } from "../../service-calls.js";
import { beatOf, type Opened, openContainer } from "./container.js";
import {
  COSMOS_ERRORS,
  type CosmosAddress,
  type CosmosClient,
  conflictIn,
  cosmosClient,
  type Item,
  type Operation,
  ServerClock,
} from "./cosmos-client.js";
import { type HeadTag, mayBeSpilled, NO_ENTRIES, placeWithin, spilledWith } from "./inline-entries.js";
import { charactersOf, type Remembered, RememberedEntries } from "./remembered-entries.js";
import { entryOf, HEAD, headOf, headWrite, holding, inRange, itemId, itemOf, valueIn } from "./stored-item.js";

export interface CosmosEngineOptions extends CosmosAddress {
  /** One per installation. */
  readonly database: string;
  readonly logger: Logger;
  /** How long a start waits for a Cosmos DB that does not answer yet, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
  /** Bound of one call, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: of `@azure/cosmos`. */
  readonly connect?: (address: CosmosAddress, waitMs: number) => Promise<CosmosClient>;
}

interface Looked extends Pick<PartitionRead, "entries"> {
  readonly seen: Seen<HeadTag>;
  readonly found: PartitionRead["ranges"];
}

interface Outside {
  readonly entries: readonly StoredEntry[];
  /** Some that are in the range: all, or up to its limit. */
  readonly ofRange: ReadonlyMap<KeyRange, readonly StoredEntry[]>;
}

const NOTHING: Outside = { entries: [], ofRange: new Map() };
/** A batch of Cosmos DB is a hundred operations; the head is one. */
const MAX_OPERATIONS = 99;
/** Of a head's item, as JSON, before what the service adds, at 16 KiB: one of 8 KiB is priced a third lower, about as one of 4. */
const HEAD_BYTES = 15_360;
/** Keys that are read one by one: a query costs as much as three. */
const READ_ALONE = 2;
/** Before what was read while others wrote is read again, in milliseconds. */
const READ_AGAIN_MS = 10;

/**
 * State in one container of Cosmos DB: a logical partition for each partition, with an item for its head, in which small entries lie, and
 * one for each other key. What changes a partition is a transactional batch whose first operation replaces the head if it is as it was
 * read; no other one can fail. What was read is remembered: a read of it looks at the head alone.
 */
export class CosmosEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #calls: ServiceCalls;
  readonly #timeoutMs: number;
  readonly #clock = new ServerClock();
  readonly #heads: OptimisticHeads<HeadTag>;
  readonly #remembered = new RememberedEntries();
  /** Of heads, not yet sent. */
  readonly #looks = new Map<string, Promise<Seen<HeadTag>>>();
  #opened: Opened | undefined;

  private constructor(client: CosmosClient, { endpoint, database, timeoutMs = 10_000 }: CosmosEngineOptions) {
    this.#timeoutMs = timeoutMs;
    this.#calls = new ServiceCalls({
      name: "Cosmos DB",
      variables: "COSMOS_ENDPOINT and COSMOS_DATABASE",
      timeoutMs,
      errors: COSMOS_ERRORS,
      beat: () => beatOf(this.#of()),
      end: () => client.dispose(),
    });
    this.#heads = new OptimisticHeads<HeadTag>(
      {
        name: "Cosmos DB",
        // What is deleted has to be there.
        keysToKnow: ({ checks = [], deletes = [] }, seen) => {
          const keys = [...checks.map(({ key }) => key), ...deletes];
          if (seen === undefined) return keys;
          const inline = seen.tag?.inline ?? NO_ENTRIES;
          return keys.filter((key) => inline.entries.has(key) || mayBeSpilled(inline, key));
        },
        charactersOf: ({ inline }) => charactersOf(inline.entries.values()),
        look: async (partition, keys) => (await this.#look(partition, keys, [])).seen,
        write: (partition, seen, head, changes) => this.#write(partition, seen, head, changes),
      },
      { timeoutMs },
    );
    this.manifest = {
      name: `Cosmos DB (${hostIn(endpoint, "COSMOS_ENDPOINT")}, database ${database})`,
      durability: "machine",
      maxValueBytes: 900 * 1_024,
      maxOperations: MAX_OPERATIONS,
      maxCommitBytes: 2_000_000,
      shared: true,
    };
  }

  /** Makes the database and the container where they are not there. @throws INVALID_CONFIG, STORAGE_UNAVAILABLE with what to do */
  static async open(options: CosmosEngineOptions): Promise<CosmosEngine> {
    const { endpoint, key, database, logger, startupWaitMs: waitMs = 30_000, timeoutMs = 10_000, connect = cosmosClient } = options;
    const client = await connect({ endpoint, key }, timeoutMs);
    const engine = new CosmosEngine(client, options);
    const name = `Cosmos DB at ${hostIn(endpoint, "COSMOS_ENDPOINT")}`;
    engine.#opened = await engine.#calls.opened(() => openContainer(client, database), { name, waitMs, logger });
    return engine;
  }

  read(partition: string, query: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    return abortableRead(() => this.#read(partition, query), signal);
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    return this.#heads.commit(partition, commit).finally(() => this.#forgetOld(partition));
  }

  async partitions({ key, after = "", limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const { condition, values } = key === undefined ? { condition: "c.id = @head", values: { "@head": HEAD } } : holding(key);
    const items = await this.#query(`SELECT TOP ${limit} * FROM c WHERE ${condition} AND c.partition > @after ORDER BY c.partition`, {
      ...values,
      "@after": after,
    });
    return items.map((item) => ({ partition: String(item.partition), value: key === undefined ? "" : valueIn(item, key) }));
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    const most = Math.min(limit, MOST_DUE);
    // Each round finds others than those that it claimed, or that somebody else did.
    for (const found: DuePartition[] = []; ; ) {
      const serverMs = this.#clock.nowMs();
      const rung = await this.#query(
        `SELECT TOP ${most - found.length} * FROM c
          WHERE c.id = @id AND IS_NUMBER(c.dueAtMs) AND c.dueAtMs <= @now AND c.claimedUntilMs <= @server ORDER BY c.dueAtMs`,
        { "@id": HEAD, "@now": nowMs, "@server": serverMs },
      );
      found.push(...(await Promise.all(rung.map((item) => this.#claim(item, leaseMs)))).flat());
      if (leaseMs <= 0 || rung.length === 0 || found.length >= most) return found;
    }
  }

  async erase(partition: string): Promise<number> {
    const till = await this.#heads.raiseEpoch(partition);
    this.#forgetOld(partition);
    const outside = (condition: string) =>
      this.#query(
        `SELECT TOP ${MAX_OPERATIONS} * FROM c WHERE c.partition = @partition AND c.id != @id AND c.version ${condition} @till`,
        { "@id": HEAD, "@till": till },
        partition,
      );
    for (let erased = 0; ; ) {
      const seen = await this.#readHead(partition);
      const { head, tag } = seen;
      const { entries, rewritten, spilled } = tag?.inline ?? NO_ENTRIES;
      // What is put anew is the next epoch's.
      const kept = new Map([...entries].filter(([, { version }]) => version > till));
      const [old, newer] = [await outside("<="), await outside(">")];
      const isLast = old.length < MAX_OPERATIONS && newer.length < MAX_OPERATIONS;
      const left = isLast
        ? spilledWith(
            {},
            newer.map(({ key }) => String(key)),
          )
        : spilled;
      const found = old.length + entries.size - kept.size;
      if (found === 0 && isDeepStrictEqual(left, spilled)) {
        // Whoever read meanwhile may have remembered what is gone.
        this.#heads.saw(partition, seen);
        this.#forgetOld(partition);
        return erased;
      }
      // Only while nobody writes; whoever reads meanwhile sees by the version that there is less.
      const next = headWrite(partition, { ...head, version: head.version + 1 }, { entries: kept, rewritten, spilled: left }, tag?.eTag);
      const deletes = old.map(({ id }): Operation => ({ operationType: "Delete", id: String(id) }));
      if ((await this.#batch(partition, [next, ...deletes])) !== null) erased += found;
    }
  }

  health(): ReturnType<StateEngine["health"]> {
    return this.#calls.health();
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  /** What is not as this process has last seen it. */
  #forgetOld(partition: string): void {
    this.#remembered.forgetOld(partition, this.#heads.last(partition));
  }

  #of(): Opened {
    if (this.#opened === undefined) throw new AppError("STORAGE_UNAVAILABLE", { detail: "Cosmos DB is not opened yet." });
    return this.#opened;
  }

  async #read(partition: string, { keys = [], ranges = [] }: ReadQuery): Promise<PartitionRead> {
    const { seen, entries, found } = await this.#look(partition, [...new Set(keys)], ranges);
    const { version, epoch, dueAtMs } = seen.head;
    return { version, epoch, dueAtMs, entries, ranges: found, nowMs: seen.nowMs };
  }

  /** What was read while the head's version stayed: all of one moment. @throws STORAGE_UNAVAILABLE */
  async #look(partition: string, keys: readonly string[], ranges: readonly KeyRange[]): Promise<Looked> {
    const untilMs = performance.now() + this.#timeoutMs;
    for (let read: Seen<HeadTag> | undefined; ; ) {
      const last = this.#heads.last(partition);
      const isKnown = last !== undefined && (read === undefined || isSame(last, read));
      const before: Seen<HeadTag> = isKnown ? last : (read ?? (await this.#readHead(partition)));
      if (!isKnown) read = before;
      const recalled = this.#remembered.recall(partition, before, keys, ranges);
      const unknown = ranges.filter((_, place) => recalled.ranges[place] === undefined);
      const isAll = recalled.missing.length === 0 && unknown.length === 0;
      const outside = isAll ? NOTHING : await this.#outside(partition, recalled.missing, unknown);
      const head: Seen<HeadTag> = isAll && read !== undefined ? read : await this.#readHead(partition);
      if (isSame(head, before)) {
        const looked = lookedAt({ keys, ranges }, recalled, outside, head);
        this.#heads.saw(partition, looked.seen);
        this.#remembered.add(partition, outside.entries);
        this.#forgetOld(partition);
        return looked;
      }
      if (performance.now() > untilMs)
        throw new AppError("STORAGE_UNAVAILABLE", { detail: "Others write all the time.", retryAfterSeconds: 1 });
      read = head;
      if (!isAll) await pause(Math.random() * READ_AGAIN_MS);
    }
  }

  /** One look for all who ask before it is sent. */
  #readHead(partition: string): Promise<Seen<HeadTag>> {
    const look = this.#looks.get(partition) ?? nextLoop().then(() => this.#lookAtHead(partition));
    this.#looks.set(partition, look);
    return look;
  }

  async #lookAtHead(partition: string): Promise<Seen<HeadTag>> {
    this.#looks.delete(partition);
    const askedMs = performance.now();
    const { resource, headers } = await this.#calls.within(() => this.#of().container.item(HEAD, partition).read());
    this.#clock.observe(headers.date, askedMs);
    return { ...headOf(resource), versions: new Map(), whole: [], nowMs: this.#clock.nowMs() };
  }

  /** Of items of their own. */
  async #outside(partition: string, keys: readonly string[], ranges: readonly KeyRange[]): Promise<Outside> {
    const limited = ranges.filter(({ limit }) => limit !== undefined);
    const open = ranges.filter(({ limit }) => limit === undefined);
    const [all, ...firsts] = await Promise.all([
      this.#entries(partition, keys, open),
      ...limited.map((range) => this.#firstOf(partition, range)),
    ]);
    return { entries: [...all, ...firsts.flat()], ofRange: new Map(ranges.map((range) => [range, firsts[limited.indexOf(range)] ?? all])) };
  }

  /** In no order. */
  async #entries(partition: string, keys: readonly string[], ranges: readonly KeyRange[]): Promise<readonly StoredEntry[]> {
    if (ranges.length === 0 && keys.length <= READ_ALONE) {
      const read = (key: string) => this.#calls.within(() => this.#of().container.item(itemId(key), partition).read());
      return (await Promise.all(keys.map(read))).flatMap(({ resource }) => (resource === undefined ? [] : [entryOf(resource)]));
    }
    const parameters: Record<string, string> = {};
    const named = (value: string) => {
      const name = `@p${Object.keys(parameters).length}`;
      parameters[name] = value;
      return name;
    };
    const wanted = [
      ...(keys.length === 0 ? [] : [`c.id IN (${keys.map((key) => named(itemId(key))).join(", ")})`]),
      ...ranges.map(({ from, to }) => `(c.key >= ${named(from)} AND c.key < ${named(to)})`),
    ];
    return (await this.#query(`SELECT * FROM c WHERE c.partition = @partition AND (${wanted.join(" OR ")})`, parameters, partition)).map(
      entryOf,
    );
  }

  async #firstOf(partition: string, { from, to, limit = 0, reverse = false }: KeyRange): Promise<readonly StoredEntry[]> {
    const order = reverse ? "DESC" : "ASC";
    const query = `SELECT TOP ${limit} * FROM c WHERE c.partition = @partition AND c.key >= @from AND c.key < @to ORDER BY c.key ${order}`;
    return (await this.#query(query, { "@from": from, "@to": to }, partition)).map(entryOf);
  }

  /** Page by page, by the client's continuation tokens. `@partition`: where one is asked for; else all are. */
  async #query(query: string, values: Readonly<Record<string, string | number>>, partition?: string): Promise<readonly Item[]> {
    const all = { ...values, ...(partition !== undefined && { "@partition": partition }) };
    const parameters = Object.entries(all).map(([name, value]) => ({ name, value }));
    const options = partition === undefined ? {} : { partitionKey: partition };
    return (await this.#calls.within(() => this.#of().container.items.query({ query, parameters }, options).fetchAll())).resources;
  }

  async #write(partition: string, seen: Seen<HeadTag>, head: PartitionHead, changes: Changes): Promise<HeadTag | null> {
    const { inline, outside, deletes } = placeWithin(HEAD_BYTES, seen.tag?.inline ?? NO_ENTRIES, changes, {
      version: head.version,
      maxOperations: MAX_OPERATIONS,
      versionOf: (key) => versionIn(seen, key),
      headBytes: (inline) => Buffer.byteLength(JSON.stringify(headWrite(partition, head, inline, seen.tag?.eTag))),
    });
    const eTag = await this.#batch(partition, [
      headWrite(partition, head, inline, seen.tag?.eTag),
      ...deletes.map((key): Operation => ({ operationType: "Delete", id: itemId(key) })),
      ...outside.map((entry): Operation => ({ operationType: "Upsert", resourceBody: itemOf(partition, entry) })),
    ]);
    if (eTag === null) return null;
    this.#remembered.add(partition, outside);
    return { eTag, inline };
  }

  /** A claim of a partition that is due, if nobody was faster. Without a lease it is only looked at. */
  async #claim(item: Item, leaseMs: number): Promise<readonly DuePartition[]> {
    const due = { partition: String(item.partition), dueAtMs: Number(item.dueAtMs) };
    if (leaseMs <= 0) return [{ ...due, token: "" }];
    const token = newId();
    const { head, tag } = headOf(item);
    const inline = tag?.inline ?? NO_ENTRIES;
    const nowMs = this.#clock.nowMs();
    const claimed = { ...head, claim: { token, untilMs: nowMs + leaseMs } };
    const eTag = await this.#batch(due.partition, [headWrite(due.partition, claimed, inline, tag?.eTag)]);
    if (eTag === null) return [];
    this.#heads.saw(due.partition, { head: claimed, tag: { eTag, inline }, versions: new Map(), whole: [], nowMs });
    return [{ ...due, token }];
  }

  /** All or nothing. The head's tag; null: somebody else was faster. */
  async #batch(partition: string, operations: readonly Operation[]): Promise<string | null> {
    const { result = [] } = await this.#calls.within(() => this.#of().container.items.batch(operations, partition));
    return conflictIn(result) === null ? (result[0]?.eTag ?? null) : null;
  }
}

/** What was asked for, together. `head`: its version is the one by which all of it was read. */
function lookedAt({ keys, ranges }: Required<ReadQuery>, recalled: Remembered, outside: Outside, head: Seen<HeadTag>): Looked {
  const inline = [...(head.tag?.inline.entries.values() ?? [])];
  const missing = new Set(recalled.missing);
  const own = outside.entries.filter(({ key }) => missing.has(key));
  const entries = new Map([...recalled.entries, ...own].map((entry) => [entry.key, entry]));
  const found = ranges.map(
    (range, place) => recalled.ranges[place] ?? inRange([...(outside.ofRange.get(range) ?? []), ...inline], range).slice(0, range.limit),
  );
  const { versions, whole } = seenOf(keys, entries, ranges, found);
  const all = new Map([...inline.map(({ key, version }) => [key, version] as const), ...versions]);
  return { seen: { ...head, versions: all, whole }, entries, found };
}
