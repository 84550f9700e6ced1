import { type Owner, ownerHash, parseOwner } from "../../domain/owner.js";
import { batchesOf } from "../../platform/bounded-parallel.js";
import { addTo } from "../../platform/lists.js";
import { floatsIn, floatsText } from "../../platform/numbers.js";
import type { Payload } from "../../ports/vectors.js";
import type { PartitionRead } from "../../state/engine.js";
import { ownerPartition, systemPartition } from "../../state/partition.js";
import type { Collection } from "../requests/collection.js";
import { type KeptPoint, sparseIn, sparseText, tenantOf } from "../requests/point.js";

/** Where points lie in an engine of state, by what names, and as what text. */

/** Where collections are named. */
export const COLLECTIONS = systemPartition("vectors");
/** Partitions of what belongs to nobody, and of which point lies where. */
const SHARDS = 32;

/** Points of one commit, and the bytes of their values. */
export const AT_ONCE = 30;
const COMMIT_BYTES = 500_000;

/** `id`: another one each time that the collection is made. */
export interface StateCollection extends Collection {
  readonly id: string;
}

/** Of the writes of a partition. */
export interface Head {
  /** Writes until now. */
  readonly seq: number;
  /** Another one each time that they are counted from the beginning. */
  readonly since: string;
}
const NO_HEAD: Head = { seq: 0, since: "" };

export function allOf({ id }: StateCollection): string {
  return `vector/${id}/`;
}

export function headOf(collection: StateCollection): string {
  return `${allOf(collection)}head`;
}

export function writesOf(collection: StateCollection): string {
  return `${allOf(collection)}write/`;
}

export function pointsOf(collection: StateCollection): string {
  return `${allOf(collection)}point/`;
}

export function placesOf(collection: StateCollection): string {
  return `${allOf(collection)}place/`;
}

export function headIn({ entries }: PartitionRead, collection: StateCollection): Head {
  const entry = entries.get(headOf(collection));
  return entry === undefined ? NO_HEAD : (JSON.parse(entry.value) as Head);
}

export function partitionOf({ tenantKey }: StateCollection, { key, payload }: KeptPoint): string {
  const tenant = tenantOf(payload, tenantKey);
  return tenant === null ? shardOf(key) : partitionOfTenant(tenant);
}

/** Of who is no user, such as a marker, one of the shards. */
export function partitionOfTenant(tenant: string): string {
  const owner = ownerIn(tenant);
  return owner === null ? shardOf(ownerHash(tenant as Owner)) : ownerPartition(owner);
}

export function ownerIn(tenant: string | null): Owner | null {
  try {
    if (tenant !== null) parseOwner(tenant);
    return tenant as Owner | null;
  } catch {
    return null;
  }
}

export function shardOf(text: string): string {
  return shards()[Number.parseInt(ownerHash(text as Owner).slice(0, 4), 16) % SHARDS] ?? COLLECTIONS;
}

export function shards(): readonly string[] {
  return Array.from({ length: SHARDS }, (_, place) => systemPartition("vectors", String(place)));
}

export function textOf({ payload, dense, sparse }: KeptPoint): string {
  return JSON.stringify({ payload, dense: dense && floatsText(dense), sparse: sparseText(sparse) });
}

export function pointIn(key: string, text: string): KeptPoint {
  const { payload, dense, sparse } = JSON.parse(text) as { payload: Payload; dense: string | null; sparse: string };
  const payloadChars = JSON.stringify(payload).length;
  return { key, payload, payloadChars, dense: dense === null ? null : floatsIn(dense), sparse: sparseIn(sparse) };
}

/** In groups by name. */
export function groupedBy<T>(all: readonly (readonly [T, string])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [each, group] of all) addTo(groups, group, each);
  return groups;
}

/** For one commit each. */
export function commitsOf(points: readonly KeptPoint[]): Iterable<readonly KeptPoint[]> {
  const sizeOf = ({ payloadChars, dense }: KeptPoint) => 2 * (payloadChars + (dense?.byteLength ?? 0));
  return batchesOf(points, AT_ONCE, { size: COMMIT_BYTES, sizeOf });
}
