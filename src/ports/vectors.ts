/**
 * The part of the Qdrant client that Maitred uses, as our own structural type: `@qdrant/js-client-rest` fits it
 * (checked at compile time where that client is opened), and LocalQdrant answers the same calls from a SQLite file.
 * Semantics are Qdrant's: see https://qdrant.tech/documentation/concepts/; the contract suite holds them.
 */

/** UUID or unsigned integer; Maitred uses UUIDs only. */
export type PointId = string | number;
export type Payload = Record<string, unknown>;
export interface SparseVector {
  indices: number[];
  values: number[];
}
/** How texts become sparse vectors: the same on every backend, with no inference on the server. */
export interface SparseVectors {
  readonly documentVector: (text: string) => SparseVector;
  readonly queryVector: (text: string) => SparseVector;
}
/** The unnamed dense vector (key `""`) beside named sparse ones. */
export type PointVector = number[] | { [name: string]: number[] | SparseVector };

export interface MatchValue {
  value: string | number | boolean;
}
export interface MatchAny {
  any: string[] | number[];
}
export interface RangeCondition {
  lt?: number;
  gt?: number;
  lte?: number;
  gte?: number;
}
export interface FieldCondition {
  /** A top-level key of the payload. */
  key: string;
  match?: MatchValue | MatchAny;
  range?: RangeCondition;
}
export interface HasIdCondition {
  has_id: PointId[];
}
export type Condition = FieldCondition | HasIdCondition;
/** All of `must`, and none of `must_not`. */
export interface Filter {
  must?: Condition[];
  must_not?: Condition[];
}

export interface Point {
  id: PointId;
  vector: PointVector;
  payload?: Payload;
}
export interface StoredPoint {
  id: PointId;
  payload?: Payload | null;
  vector?: unknown;
}
export interface ScoredPoint extends StoredPoint {
  score: number;
}

/** All of it, or these of its top-level keys. */
export type WithPayload = boolean | string[];

export interface Prefetch {
  query: number[] | SparseVector;
  using?: string;
  filter?: Filter;
  limit?: number;
}
export interface QueryArgs {
  /** A dense vector, a sparse one (with `using`), or the reciprocal rank fusion of the prefetches. */
  query: number[] | SparseVector | { fusion: "rrf" };
  prefetch?: Prefetch[];
  using?: string;
  filter?: Filter;
  /** Default 10. */
  limit?: number;
  with_payload?: WithPayload;
  with_vector?: boolean;
}

export type PayloadSchema = "keyword" | "integer" | "bool" | { type: "keyword"; is_tenant?: boolean };

export interface CreateCollectionArgs {
  vectors: { size: number; distance: "Cosine" };
  sparse_vectors?: { [name: string]: { modifier?: "idf" | "none" } };
  hnsw_config?: { m?: number; payload_m?: number };
  on_disk_payload?: boolean;
}

export interface VectorClient {
  collectionExists(collection: string): Promise<{ exists: boolean }>;
  /** An error with `status` 404 where there is none. */
  getCollection(collection: string): Promise<{
    config: { params: { vectors?: unknown; sparse_vectors?: unknown } };
    payload_schema: Record<string, unknown>;
  }>;
  /** An error with `status` 409 where there is one. */
  createCollection(collection: string, args: CreateCollectionArgs): Promise<boolean>;
  deleteCollection(collection: string): Promise<boolean>;
  createPayloadIndex(collection: string, args: { field_name: string; field_schema: PayloadSchema; wait?: boolean }): Promise<unknown>;
  upsert(
    collection: string,
    args: { points: Point[]; wait?: boolean; update_mode?: "upsert" | "insert_only" | "update_only" },
  ): Promise<unknown>;
  query(collection: string, args: QueryArgs): Promise<{ points: ScoredPoint[] }>;
  /** In the order of ids. */
  scroll(
    collection: string,
    args: { filter?: Filter; limit?: number; offset?: PointId; with_payload?: WithPayload; with_vector?: boolean },
  ): Promise<{ points: StoredPoint[]; next_page_offset?: PointId | Record<string, unknown> | null }>;
  retrieve(collection: string, args: { ids: PointId[]; with_payload?: WithPayload; with_vector?: boolean }): Promise<StoredPoint[]>;
  /** Replaces top-level keys; one that is given as null is removed. An error with `status` 404 where one of `points` is missing. */
  setPayload(collection: string, args: { payload: Payload; points?: PointId[]; filter?: Filter; wait?: boolean }): Promise<unknown>;
  delete(collection: string, args: { points?: PointId[]; filter?: Filter; wait?: boolean }): Promise<unknown>;
  count(collection: string, args: { filter?: Filter; exact?: boolean }): Promise<{ count: number }>;
  /** How many points have each value of an indexed key, the most frequent values first. `limit`: of values. Default 10. */
  facet(
    collection: string,
    args: { key: string; filter?: Filter; limit?: number; exact?: boolean },
  ): Promise<{ hits: { value: string | number | boolean; count: number }[] }>;
}

/**
 * A client with its life cycle, and with deadlines: calls made inside `withSignal` are given up when the signal aborts
 * (also those that Mem0 makes, which knows no signals).
 */
export interface VectorStore {
  readonly client: VectorClient;
  /** Where it is, for the start-up line and readyz; never holds a key. */
  readonly location: string;
  withSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** `degraded`: some of it can't be read. */
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
  /** Leaves as little as it can of what was deleted in its files. Takes time; reads are answered meanwhile. Default: nothing to do. */
  scrub?(): Promise<void>;
  /** Where deleted texts stay in its files all the same: a sentence that says so, and what takes them away. */
  readonly keepsDeleted?: string;
  close(): Promise<void>;
}

/** What every VectorClient throws, whichever backend answers. Never holds payload values or a key. */
export class VectorStoreError extends Error {
  override readonly name = "VectorStoreError";
  /**
   * As Qdrant's HTTP status: 400 bad request, 404 no such collection or point, 409 exists, 422 invalid, 429, 5xx; 0 where no
   * (readable) answer came.
   */
  readonly status: number;

  constructor(status: number, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.status = status;
  }
}
