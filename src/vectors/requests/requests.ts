import { z } from "zod";
import { type Filter, VectorStoreError } from "../../ports/vectors.js";

/**
 * What LocalQdrant accepts, strictly: a field that it doesn't know is an error (status 400), never a silent pass,
 * as it might have been a filter.
 */
const pointId = z.union([z.string(), z.number()]);
const scalar = z.union([z.string(), z.int(), z.boolean()]);
const scalars = z.union([z.array(z.string()), z.array(z.int())]);
const match = z.union([z.strictObject({ value: scalar }), z.strictObject({ any: scalars })]);
const range = z.strictObject({ lt: z.number(), lte: z.number(), gt: z.number(), gte: z.number() }).partial();
/** Of the payload's top level: what stands deeper is never asked for. */
const key = z.string().regex(/^[^.[\]]+$/);
const condition = z.union([
  z.strictObject({ key, match, range: z.undefined().optional() }),
  z.strictObject({ key, range, match: z.undefined().optional() }),
  z.strictObject({ has_id: z.array(pointId) }),
]);
const conditions = z.array(condition).optional();
const filter = z.strictObject({ must: conditions, must_not: conditions }) as z.ZodType as z.ZodType<Filter>;

/** Not z.array(z.number()): a vector has hundreds of them, and a loop is ten times as fast. */
export const vectorNumbers = z.custom<number[]>(
  (value) => Array.isArray(value) && value.every((x) => typeof x === "number" && Number.isFinite(x)),
);
const u32s = z.custom<number[]>(
  (value) =>
    Array.isArray(value) && value.every((x) => Number.isInteger(x) && x >= 0 && x <= 0xffff_ffff) && new Set(value).size === value.length,
);
const sparse = z
  .strictObject({ indices: u32s, values: vectorNumbers })
  .refine((vector) => vector.indices.length === vector.values.length, "indices and values differ in number");
const payload = z.record(z.string(), z.unknown());
const shown = { with_payload: z.union([z.boolean(), z.array(key)]).optional(), with_vector: z.boolean().optional() };
const limit = z.int().min(1).optional();
const wait = z.boolean().optional();
const update = { points: z.array(pointId).optional(), filter: filter.optional(), wait };
const keyword = z.strictObject({ type: z.literal("keyword"), is_tenant: z.boolean().optional() });

/** Of points and values that a call asks for without a number. */
export const DEFAULT_LIMIT = 10;

export const REQUESTS = {
  createCollection: z.strictObject({
    vectors: z.strictObject({ size: z.int().min(1).max(65_536), distance: z.literal("Cosine") }),
    sparse_vectors: z.record(z.string().min(1), z.strictObject({ modifier: z.enum(["idf", "none"]).optional() })).optional(),
    hnsw_config: z.strictObject({ m: z.int().min(0).optional(), payload_m: z.int().min(0).optional() }).optional(),
    on_disk_payload: z.boolean().optional(),
  }),
  createPayloadIndex: z.strictObject({
    field_name: key,
    field_schema: z.union([z.enum(["keyword", "integer", "bool"]), keyword]),
    wait,
  }),
  upsert: z.strictObject({
    points: z.array(
      z.strictObject({
        id: pointId,
        vector: z.union([vectorNumbers, z.record(z.string(), z.union([vectorNumbers, sparse]))]),
        payload: payload.nullish(),
      }),
    ),
    wait,
    update_mode: z.enum(["upsert", "insert_only", "update_only"]).optional(),
  }),
  query: z.strictObject({
    query: z.union([vectorNumbers, sparse, z.strictObject({ fusion: z.literal("rrf") })]),
    prefetch: z
      .array(z.strictObject({ query: z.union([vectorNumbers, sparse]), using: z.string().optional(), filter: filter.optional(), limit }))
      .optional(),
    using: z.string().optional(),
    filter: filter.optional(),
    limit,
    ...shown,
  }),
  scroll: z.strictObject({ filter: filter.optional(), limit, offset: pointId.optional(), ...shown }),
  retrieve: z.strictObject({ ids: z.array(pointId), ...shown }),
  setPayload: z.strictObject({ payload, ...update }),
  delete: z.strictObject(update),
  count: z.strictObject({ filter: filter.optional(), exact: z.boolean().optional() }),
  facet: z.strictObject({ key, filter: filter.optional(), limit, exact: z.boolean().optional() }),
} as const;

export type Requests = { [K in keyof typeof REQUESTS]: z.infer<(typeof REQUESTS)[K]> };

/** @throws status 400, or 422 where nothing but a limit is too small; the message names the places that are wrong, never the values. */
export function parseRequest<K extends keyof typeof REQUESTS>(method: K, args: unknown): Requests[K] {
  const parsed = REQUESTS[method].safeParse(args);
  if (parsed.success) return parsed.data as Requests[K];
  const places = parsed.error.issues.map((issue) => issue.path.join(".") || "(request)");
  const tooSmall = parsed.error.issues.every((issue) => issue.code === "too_small" && issue.path.at(-1) === "limit");
  throw new VectorStoreError(tooSmall ? 422 : 400, `Format error in ${method}: ${[...new Set(places)].slice(0, 5).join(", ")}`);
}

export const METHODS = [
  "collectionExists",
  "getCollection",
  "createCollection",
  "deleteCollection",
  "createPayloadIndex",
  "upsert",
  "query",
  "scroll",
  "retrieve",
  "setPayload",
  "delete",
  "count",
  "facet",
] as const;
export type Method = (typeof METHODS)[number];

/** Those on a collection that is there. */
export type CollectionMethod = Exclude<Method, "collectionExists" | "createCollection" | "deleteCollection">;
/** What answers them, given what was parsed. */
export type CollectionCalls<C> = {
  readonly [M in CollectionMethod]: (collection: C, args: M extends keyof Requests ? Requests[M] : undefined) => unknown;
};

/** @throws what {@link parseRequest} does */
export function callOn<C>(calls: CollectionCalls<C>, method: CollectionMethod, collection: C, args: unknown): unknown {
  return calls[method](collection, (method === "getCollection" ? undefined : parseRequest(method, args)) as never);
}
