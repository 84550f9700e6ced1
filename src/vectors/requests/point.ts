import {
  type CreateCollectionArgs,
  type Payload,
  type PointId,
  type SparseVector,
  type StoredPoint,
  VectorStoreError,
  type WithPayload,
} from "../../ports/vectors.js";
import type { Requests } from "./requests.js";

export interface KeptSparse {
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}

/** A point as it is kept: vectors in 32-bit floats, the dense one of length 1 (or all zeros), the payload parsed. */
export interface KeptPoint {
  readonly key: string;
  readonly payload: Payload;
  /** Length of the payload's JSON text, for the memory that it takes. */
  readonly payloadChars: number;
  readonly dense: Float32Array | null;
  readonly sparse: ReadonlyMap<string, KeptSparse>;
}

const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;
const DIGITS = 16;

/**
 * A string that sorts as Qdrant sorts ids: numbers by size, then UUIDs. Number and text of a number are different ids in Qdrant,
 * and the text is none. @throws status 400 for anything but an unsigned (safe) integer or a UUID.
 */
export function keyOf(id: unknown): string {
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return `n${String(id).padStart(DIGITS, "0")}`;
  if (typeof id === "string") {
    const lower = id.toLowerCase();
    if (UUID.test(lower)) return `u${hyphenated(lower.replaceAll("-", ""))}`;
  }
  throw new VectorStoreError(400, "A point id is an unsigned integer or a UUID.");
}

export function idOf(key: string): PointId {
  return key.startsWith("n") ? Number(key.slice(1)) : key.slice(1);
}

function hyphenated(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Below this squared length Qdrant leaves a vector as it is: its cosine to anything is nearly 0. */
const ZERO_SQUARE = 1.1920929e-7;

/** A point of an upsert in the form in which it is kept. @throws status 400: id, dimension, unknown vector name */
export function keptPoint(
  config: CreateCollectionArgs,
  { id, vector, payload }: Requests["upsert"]["points"][number],
): { point: KeptPoint; payloadText: string } {
  const named = Array.isArray(vector) ? { "": vector } : vector;
  let dense: Float32Array | null = null;
  const sparse = new Map<string, KeptSparse>();
  for (const [name, value] of Object.entries(named)) {
    if (Array.isArray(value)) {
      if (name !== "") throw unknownName(name);
      dense = denseOf(config, value);
    } else {
      if (config.sparse_vectors?.[name] === undefined) throw unknownName(name);
      if (value.indices.length > 0) sparse.set(name, sparseOf(value));
    }
  }
  const payloadText = JSON.stringify(payload ?? {});
  return { point: { key: keyOf(id), payload: JSON.parse(payloadText), payloadChars: payloadText.length, dense, sparse }, payloadText };
}

/** Normalised to length 1. @throws status 400 where the dimension is another */
export function denseOf(config: CreateCollectionArgs, values: readonly number[]): Float32Array {
  const { size } = config.vectors;
  if (values.length !== size)
    throw new VectorStoreError(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${values.length}`);
  let squares = 0;
  for (let i = 0; i < size; i++) squares += (values[i] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  const vector = new Float32Array(values);
  // In double precision, and then rounded once.
  if (squares >= ZERO_SQUARE) for (let i = 0; i < size; i++) vector[i] = (values[i] ?? 0) / length;
  return vector;
}

export function sparseOf({ indices, values }: SparseVector): KeptSparse {
  return { indices: new Uint32Array(indices), values: new Float32Array(values) };
}

/** As JSON. */
export function sparseText(sparse: KeptPoint["sparse"]): string {
  return JSON.stringify(Object.fromEntries(plainSparse(sparse)));
}

export function sparseIn(text: string): KeptPoint["sparse"] {
  const vectors = Object.entries(JSON.parse(text) as Record<string, SparseVector>);
  return new Map(vectors.map(([name, vector]) => [name, sparseOf(vector)]));
}

function plainSparse(sparse: KeptPoint["sparse"]) {
  return [...sparse].map(([name, { indices, values }]) => [name, { indices: [...indices], values: [...values] }] as const);
}

export function noPoint(): VectorStoreError {
  return new VectorStoreError(404, "Not found: No point with one of the ids found");
}

export function unknownName(name: string): VectorStoreError {
  return new VectorStoreError(400, `Wrong input: Not existing vector name error: ${name}`);
}

/** The one tenant that a payload names. Null: none, or not by one string; such points are looked at for every tenant. */
export function tenantOf(payload: Payload, tenantKey: string | null): string | null {
  const value = tenantKey === null ? undefined : payload[tenantKey];
  return typeof value === "string" ? value : null;
}

/** A point as a call asked for it. */
export function shownPoint(
  point: Pick<KeptPoint, "key" | "payload" | "dense" | "sparse">,
  withPayload: WithPayload,
  withVector = false,
): StoredPoint {
  const shown: StoredPoint = { id: idOf(point.key) };
  if (withPayload === true) shown.payload = point.payload;
  else if (Array.isArray(withPayload)) shown.payload = pick(point.payload, withPayload);
  if (withVector) shown.vector = shownVectors(point);
  return shown;
}

function shownVectors({ dense, sparse }: Pick<KeptPoint, "dense" | "sparse">): unknown {
  if (dense !== null && sparse.size === 0) return [...dense];
  return { ...(dense !== null && { "": [...dense] }), ...Object.fromEntries(plainSparse(sparse)) };
}

/** As a server merges: each top-level key is replaced, and one that is given as null goes away. */
export function merged(before: Payload, set: Payload): Payload {
  return Object.fromEntries(Object.entries({ ...before, ...set }).filter(([key]) => set[key] !== null));
}

/** The payload's keys that were asked for. */
function pick(payload: Payload, keys: readonly string[]): Payload {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(payload, key)).map((key) => [key, payload[key]]));
}
