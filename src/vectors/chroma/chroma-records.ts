import { batchesOf } from "../../platform/bounded-parallel.js";
import { newId } from "../../platform/ids.js";
import type { Payload } from "../../ports/vectors.js";
import type { Collection } from "../requests/collection.js";
import { type KeptPoint, sparseIn, sparseText, tenantOf } from "../requests/point.js";
import type { ChromaCollection, Metadata } from "./chroma-driver.js";

/** Records of one request: a server takes some 5,000. */
const AT_ONCE = 500;
/** So many writes of a collection Chroma may keep in a log beside it. */
export const SYNC_THRESHOLD = 50;
/** What stands between a point and the time of its record. */
const SEPARATOR = "~";
/** No point's. */
const FILLER = "log";

/** A collection of ours, and Chroma's of that name. */
export interface Opened extends Collection {
  readonly chroma: ChromaCollection;
}

/** A point as one of its records has it. */
interface ReadRecord {
  readonly record: string;
  readonly point: KeptPoint;
}

/** New records first, then away with those that they replace: broken off in between, the new ones count. */
export async function putRecords(collection: Opened, points: readonly KeptPoint[], replaced: readonly string[]): Promise<void> {
  for (const batch of batchesOf(points, AT_ONCE))
    await collection.chroma.add({
      ids: batch.map(({ key }) => key + SEPARATOR + newId()),
      embeddings: batch.map(({ dense }) => [...(dense ?? new Float32Array(collection.config.vectors.size))]),
      metadatas: batch.map((point) => metadataOf(collection, point)),
    });
  await removeRecords(collection, replaced);
}

export async function removeRecords({ chroma }: Opened, records: readonly string[]): Promise<void> {
  for (const ids of batchesOf(records, AT_ONCE)) await chroma.delete({ ids });
}

export async function allRecords({ chroma }: Opened): Promise<string[]> {
  const { ids } = await chroma.get({ include: [] });
  return ids.filter((id) => !id.startsWith(FILLER));
}

export async function recordsOf({ chroma }: Opened, keys: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batchesOf(keys, AT_ONCE)) found.push(...(await chroma.get({ where: { key: { $in: batch } }, include: [] })).ids);
  return found;
}

export async function fetchRecords({ chroma }: Opened, records: readonly string[]): Promise<ReadRecord[]> {
  const read: ReadRecord[] = [];
  for (const ids of batchesOf(records, AT_ONCE)) {
    const found = await chroma.get({ ids, include: ["embeddings", "metadatas"] });
    for (const [i, record] of found.ids.entries())
      read.push({ record, point: pointOf(record, found.metadatas[i] ?? {}, found.embeddings[i] ?? []) });
  }
  return read;
}

/** Writes and deletes as much as the log may hold, so that nothing of before is left in it. */
export async function pushLog({ chroma, config }: Opened): Promise<void> {
  const ids = Array.from({ length: SYNC_THRESHOLD }, () => `${FILLER}${SEPARATOR}${newId()}`);
  const embeddings = ids.map(() => new Array<number>(config.vectors.size).fill(0));
  await chroma.add({ ids, embeddings, metadatas: ids.map(() => ({ key: FILLER })) });
  await chroma.delete({ ids });
}

function metadataOf({ tenantKey }: Collection, { key, payload, dense, sparse }: KeptPoint): Metadata {
  const owner = tenantOf(payload, tenantKey);
  return {
    ...{ key, payload: JSON.stringify(payload), sparse: sparseText(sparse), embedded: dense !== null },
    ...(owner !== null && { owner }),
  };
}

function pointOf(record: string, { payload, sparse, embedded }: Metadata, embedding: readonly number[]): KeptPoint {
  return {
    key: keyOfRecord(record),
    payload: JSON.parse(String(payload)) as Payload,
    payloadChars: String(payload).length,
    dense: embedded === true ? new Float32Array(embedding) : null,
    sparse: sparseIn(String(sparse)),
  };
}

export function keyOfRecord(record: string): string {
  return record.slice(0, record.indexOf(SEPARATOR));
}

/** By the points' keys; of two records of a point the later one. */
export function latestByKey(records: readonly string[]): ReadonlyMap<string, string> {
  const latest = new Map<string, string>();
  for (const record of records) {
    const key = keyOfRecord(record);
    if (record > (latest.get(key) ?? "")) latest.set(key, record);
  }
  return latest;
}
