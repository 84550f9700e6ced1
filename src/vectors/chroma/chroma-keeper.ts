import { AppError } from "../../platform/errors.js";
import type { PayloadSchema } from "../../ports/vectors.js";
import { OwnersPoints } from "../in-memory/owners-points.js";
import type { PointKeeper, WriteMode } from "../in-memory/point-calls.js";
import { Partition } from "../local/partition.js";
import type { Collection } from "../requests/collection.js";
import type { KeptPoint } from "../requests/point.js";
import type { Requests } from "../requests/requests.js";
import { type ChromaApi, isNotFound, type Metadata } from "./chroma-driver.js";
import {
  allRecords,
  fetchRecords,
  keyOfRecord,
  latestByKey,
  type Opened,
  putRecords,
  recordsOf,
  removeRecords,
  SYNC_THRESHOLD,
} from "./chroma-records.js";

const LAYOUT = 1;

/**
 * Points as records of Chroma's, each written once. An owner's are as they are now once Chroma has told by the ids of their records what
 * has changed: one small request, and the new records.
 */
export class ChromaKeeper implements PointKeeper<Opened> {
  readonly #api: ChromaApi;
  readonly #owners: OwnersPoints<RecordedPoints>;

  /** `cacheBytes`: of points in memory. */
  constructor(api: ChromaApi, cacheBytes: number) {
    this.#api = api;
    this.#owners = new OwnersPoints(cacheBytes);
  }

  async find(name: string): Promise<Opened | null> {
    const chroma = await this.#api.getCollection({ name }).catch((error: unknown) => {
      if (isNotFound(error)) return null;
      throw error;
    });
    if (chroma === null) return null;
    const { layout, config, indexes, tenant_key } = chroma.metadata ?? {};
    if (layout !== LAYOUT)
      throw new AppError("STORAGE_UNAVAILABLE", {
        detail: `Chroma has a collection \`${name}\` that is not Maitred's, or another version's.`,
        hint: "Rename or delete it, or name another server with CHROMA_URL.",
      });
    return {
      name,
      chroma,
      config: JSON.parse(String(config)),
      tenantKey: typeof tenant_key === "string" ? tenant_key : null,
      indexes: new Map(Object.entries(JSON.parse(String(indexes)) as Record<string, PayloadSchema>)),
    };
  }

  async create(name: string, config: Requests["createCollection"]): Promise<void> {
    const metadata = { layout: LAYOUT, config: JSON.stringify(config), indexes: "{}" };
    const configuration = { hnsw: { space: "ip", sync_threshold: SYNC_THRESHOLD } } as const;
    await this.#api.createCollection({ name, metadata, configuration, embeddingFunction: null });
  }

  async drop({ name }: Opened): Promise<void> {
    await this.#api.deleteCollection({ name });
  }

  async change(collection: Opened, { indexes, tenantKey }: Pick<Collection, "indexes" | "tenantKey">): Promise<Opened> {
    const metadata: Metadata = {
      ...{ layout: LAYOUT, config: JSON.stringify(collection.config), indexes: JSON.stringify(Object.fromEntries(indexes)) },
      ...(tenantKey !== null && { tenant_key: tenantKey }),
    };
    await collection.chroma.modify({ metadata });
    return { ...collection, indexes, tenantKey };
  }

  async keys(collection: Opened): Promise<readonly string[]> {
    return [...latestByKey(await allRecords(collection)).keys()].sort();
  }

  async read(collection: Opened, keys: readonly string[]): Promise<readonly KeptPoint[]> {
    const latest = latestByKey(await recordsOf(collection, keys));
    return (await fetchRecords(collection, [...latest.values()])).map(({ point }) => point);
  }

  async write(collection: Opened, points: readonly KeptPoint[], mode: WriteMode): Promise<void> {
    const keys = points.map(({ key }) => key);
    const before = await recordsOf(collection, keys);
    const there = new Set(before.map(keyOfRecord));
    const written = points.filter(({ key }) => (there.has(key) ? mode !== "insert_only" : mode !== "update_only"));
    const writtenKeys = new Set(written.map(({ key }) => key));
    const replaced = before.filter((record) => writtenKeys.has(keyOfRecord(record)));
    await putRecords(collection, written, replaced);
  }

  async remove(collection: Opened, keys: readonly string[]): Promise<void> {
    await removeRecords(collection, await recordsOf(collection, keys));
  }

  async ofOwner(collection: Opened, owner: string): Promise<Partition> {
    const { chroma, config } = collection;
    const { partition } = await this.#owners.current(`${chroma.id} ${owner}`, async (known) => {
      const { ids } = await chroma.get({ where: { owner }, include: [] });
      const held = known?.partition.wasteful === false ? known : new RecordedPoints(config.vectors.size);
      return held.follow(collection, ids);
    });
    return partition;
  }

  async ofAll(collection: Opened): Promise<Partition> {
    const records = await allRecords(collection);
    return (await new RecordedPoints(collection.config.vectors.size).follow(collection, records)).partition;
  }
}

/**
 * Points in memory as they are in Chroma, by the records that they came from. A record is never changed: a point that is written again is a
 * new record, whose id sorts after the old one, so that the ids alone tell what is new.
 */
class RecordedPoints {
  readonly partition: Partition;
  /** By the point's key. */
  readonly #records = new Map<string, string>();

  constructor(dimension: number) {
    this.partition = new Partition(dimension);
  }

  /** Reads of these records, which are all there are, those that count and are not held; what is in none of them goes. */
  async follow(collection: Opened, records: readonly string[]): Promise<this> {
    const latest = latestByKey(records);
    for (const key of [...this.#records.keys()].filter((each) => !latest.has(each))) {
      this.#records.delete(key);
      this.partition.remove(key);
    }
    const missing = [...latest].flatMap(([key, record]) => (this.#records.get(key) === record ? [] : [record]));
    for (const { record, point } of await fetchRecords(collection, missing)) {
      this.#records.set(point.key, record);
      this.partition.put(point);
    }
    return this;
  }
}
