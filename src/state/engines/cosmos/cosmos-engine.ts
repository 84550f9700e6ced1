// Over 300 lines: an engine's calls, with the documents that each writes and reads.
import { setTimeout as pause } from "node:timers/promises";
import { awaitStart } from "../../../platform/await-start.js";
import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import type { Logger } from "../../../platform/logger.js";
import { orAbort } from "../../../platform/or-abort.js";
import { abortableRead } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import { NotCommitted } from "../../durable-commit.js";
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
import { type Changes, isEmpty, OptimisticHeads, type Seen, seenOf, versionIn } from "../../optimistic-heads.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";
import { openContainer, readInstallation } from "./container.js";
import {
  type Container,
  type CosmosAddress,
  type CosmosClient,
  conflictIn,
  cosmosClient,
  cosmosError,
  hintOf,
  type Item,
  mayPass,
  type Operation,
  ServerClock,
} from "./cosmos-client.js";
import { entryOf, HEAD, headWrite, inRange, itemId, itemOf } from "./stored-item.js";

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

type Head = Pick<Seen<string>, "head" | "tag" | "nowMs">;

/** A batch of Cosmos DB is a hundred operations; the head is one. */
const MAX_OPERATIONS = 99;
/** Keys that are read one by one: a query costs as much as three. */
const READ_ALONE = 2;
/** Of a look at the health, in milliseconds. */
const HEALTH_WITHIN_MS = 5_000;
/** Before what was read while others wrote is read again, in milliseconds. */
const READ_AGAIN_MS = 10;

/**
 * State in one container of Cosmos DB: a logical partition for each partition, with an item for its head and one for each key. What changes
 * a partition is a transactional batch whose first operation replaces the head if it is as it was read; no other one can fail.
 */
export class CosmosEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #client: CosmosClient;
  readonly #timeoutMs: number;
  readonly #clock = new ServerClock();
  readonly #heads: OptimisticHeads<string>;
  #container: Container | undefined;
  #installation = "";

  private constructor(client: CosmosClient, { endpoint, database, timeoutMs = 10_000 }: CosmosEngineOptions) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#heads = new OptimisticHeads<string>(
      {
        name: "Cosmos DB",
        // What is deleted has to be there.
        keysToKnow: ({ checks = [], deletes = [] }) => [...checks.map(({ key }) => key), ...deletes],
        look: async (partition, keys) => {
          const { head, result } = await this.#steadily(partition, () => this.#entries(partition, keys, []));
          return { ...head, ...seenOf(keys, new Map(result.map((entry) => [entry.key, entry])), [], []) };
        },
        write: (partition, seen, head, changes) => this.#write(partition, seen, head, changes),
      },
      { timeoutMs },
    );
    this.manifest = {
      name: `Cosmos DB (${hostOf(endpoint)}, database ${database})`,
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
    const engine = new CosmosEngine(await connect({ endpoint, key }, timeoutMs), options);
    const start = async () => {
      const { container, installation } = await engine.#within(() => openContainer(engine.#client, database));
      engine.#container = container;
      engine.#installation = installation;
      return engine;
    };
    const name = `Cosmos DB at ${hostOf(endpoint)}`;
    return awaitStart(start, { name, hintOf, waitMs, logger, mayPass }).catch(async (error) => {
      await engine.close();
      throw error;
    });
  }

  read(partition: string, query: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    return abortableRead(() => this.#read(partition, query), signal);
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    return this.#heads.commit(partition, commit);
  }

  async partitions({ key, after = "", limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const items = await this.#query(`SELECT TOP ${limit} * FROM c WHERE c.id = @id AND c.partition > @after ORDER BY c.partition`, {
      "@id": key === undefined ? HEAD : itemId(key),
      "@after": after,
    });
    return items.map((item) => ({ partition: String(item.partition), value: key === undefined ? "" : entryOf(item).value }));
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
    for (let erased = 0; ; ) {
      const { head, tag } = await this.#readHead(partition);
      const old = await this.#query(
        `SELECT TOP ${MAX_OPERATIONS} * FROM c WHERE c.partition = @partition AND c.id != @id AND c.version <= @till`,
        { "@id": HEAD, "@till": till },
        partition,
      );
      if (old.length === 0) return erased;
      // Only while nobody writes: what is put anew is the next epoch's.
      const deletes = old.map(({ id }): Operation => ({ operationType: "Delete", id: String(id) }));
      if ((await this.#batch(partition, [headWrite(partition, head, tag), ...deletes])) !== null) erased += old.length;
    }
  }

  async health(): ReturnType<StateEngine["health"]> {
    const beat = async () => {
      const { item, id } = await readInstallation(this.#of());
      if (id !== this.#installation)
        return "Cosmos DB is empty or another installation's: not what it was at the start. See COSMOS_ENDPOINT and COSMOS_DATABASE.";
      const resourceBody = { ...item, beatAtMs: Date.now() };
      conflictIn((await this.#of().items.batch([{ operationType: "Upsert", resourceBody }], String(item?.partition))).result ?? []);
      return null;
    };
    const detail = await this.#within(beat, HEALTH_WITHIN_MS).catch((error: AppError) => error.message);
    return detail === null ? { status: "ok" } : { status: "down", detail };
  }

  async close(): Promise<void> {
    this.#container = undefined;
    this.#client.dispose();
  }

  #of(): Container {
    if (this.#container === undefined) throw new NotCommitted({ detail: "The client of Cosmos DB is closed." });
    return this.#container;
  }

  async #read(partition: string, { keys = [], ranges = [] }: ReadQuery): Promise<PartitionRead> {
    const asked = [...new Set(keys)];
    const limited = ranges.filter((range) => range.limit !== undefined && !isEmpty(range));
    const open = ranges.filter((range) => range.limit === undefined && !isEmpty(range));
    const { head, result } = await this.#steadily(partition, () =>
      Promise.all([this.#entries(partition, asked, open), ...limited.map((range) => this.#firstOf(partition, range))]),
    );
    const [all = [], ...firsts] = result;
    const wanted = new Set(asked);
    const entries = new Map(all.filter(({ key }) => wanted.has(key)).map((entry) => [entry.key, entry]));
    const found = ranges.map((range) => firsts[limited.indexOf(range)] ?? inRange(all, range));
    this.#heads.saw(partition, { ...head, ...seenOf(asked, entries, ranges, found) });
    const { version, epoch, dueAtMs } = head.head;
    return { version, epoch, dueAtMs, entries, ranges: found, nowMs: head.nowMs };
  }

  /** What was read while the head stayed as it was: all of one moment. @throws STORAGE_UNAVAILABLE */
  async #steadily<T>(partition: string, work: () => Promise<T>): Promise<{ readonly head: Head; readonly result: T }> {
    const untilMs = performance.now() + this.#timeoutMs;
    let before: Pick<Head, "tag"> = this.#heads.last(partition) ?? (await this.#readHead(partition));
    for (;;) {
      const result = await work();
      const head = await this.#readHead(partition);
      if (head.tag === before.tag) return { head, result };
      if (performance.now() > untilMs)
        throw new AppError("STORAGE_UNAVAILABLE", { detail: "Others write all the time.", retryAfterSeconds: 1 });
      before = head;
      await pause(Math.random() * READ_AGAIN_MS);
    }
  }

  async #readHead(partition: string): Promise<Head> {
    const askedMs = performance.now();
    const { resource, headers } = await this.#within(() => this.#of().item(HEAD, partition).read());
    this.#clock.observe(headers.date, askedMs);
    const { version, epoch, dueAtMs, claim, recent } = { ...EMPTY_HEAD, ...(resource as Partial<PartitionHead> | undefined) };
    const tag = resource === undefined ? undefined : String(resource._etag);
    return { head: { version, epoch, dueAtMs, claim, recent }, tag, nowMs: this.#clock.nowMs() };
  }

  /** In no order. */
  async #entries(partition: string, keys: readonly string[], ranges: readonly KeyRange[]): Promise<readonly StoredEntry[]> {
    if (ranges.length === 0 && keys.length <= READ_ALONE) {
      const read = (key: string) => this.#within(() => this.#of().item(itemId(key), partition).read());
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
    return (await this.#within(() => this.#of().items.query({ query, parameters }, options).fetchAll())).resources;
  }

  #write(partition: string, seen: Seen<string>, head: PartitionHead, { puts = [], deletes = [] }: Changes): Promise<string | null> {
    // Of a key that is put twice the last counts.
    const last = new Map(puts.map(({ key, value }) => [key, value]));
    const gone = [...new Set(deletes)].filter((key) => !last.has(key) && (versionIn(seen, key) ?? null) !== null);
    return this.#batch(partition, [
      headWrite(partition, head, seen.tag),
      ...gone.map((key): Operation => ({ operationType: "Delete", id: itemId(key) })),
      ...[...last].map(([key, value]): Operation => {
        return { operationType: "Upsert", resourceBody: itemOf(partition, { key, value, version: head.version }) };
      }),
    ]);
  }

  /** A claim of a partition that is due, if nobody was faster. Without a lease it is only looked at. */
  async #claim(item: Item, leaseMs: number): Promise<readonly DuePartition[]> {
    const due = { partition: String(item.partition), dueAtMs: Number(item.dueAtMs) };
    if (leaseMs <= 0) return [{ ...due, token: "" }];
    const token = newId();
    const { version, epoch, dueAtMs, recent } = item as unknown as PartitionHead;
    const head = { version, epoch, dueAtMs, recent, claim: { token, untilMs: this.#clock.nowMs() + leaseMs } };
    return (await this.#batch(due.partition, [headWrite(due.partition, head, String(item._etag))])) === null ? [] : [{ ...due, token }];
  }

  /** All or nothing. The head's tag; null: somebody else was faster. */
  async #batch(partition: string, operations: readonly Operation[]): Promise<string | null> {
    const { result = [] } = await this.#within(() => this.#of().items.batch(operations, partition));
    return conflictIn(result) === null ? (result[0]?.eTag ?? null) : null;
  }

  /** @throws STORAGE_UNAVAILABLE, also where there is no answer in time: whether it happened is not known then */
  async #within<T>(ask: () => Promise<T>, ms = this.#timeoutMs): Promise<T> {
    try {
      return await orAbort(ask(), AbortSignal.timeout(ms));
    } catch (error) {
      throw cosmosError(error);
    }
  }
}

function hostOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).host : "the address of COSMOS_ENDPOINT";
}
