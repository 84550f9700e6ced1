import { AppError } from "../../platform/errors.js";
import { type CreateCollectionArgs, type PayloadSchema, type VectorClient, VectorStoreError } from "../../ports/vectors.js";
import { kindOf, type PayloadIndexes } from "./filter.js";

/** A collection as it was made, and what is indexed of its payloads. */
export interface Collection {
  readonly name: string;
  readonly config: CreateCollectionArgs;
  /** The payload's key that names whose a point is; null before there is such an index. */
  readonly tenantKey: string | null;
  readonly indexes: PayloadIndexes;
}

/** What `getCollection` says. */
export function describe({ config, indexes }: Collection): unknown {
  const { vectors, sparse_vectors } = config;
  return {
    config: { params: { vectors, ...(sparse_vectors === undefined ? {} : { sparse_vectors }) } },
    payload_schema: Object.fromEntries(
      [...indexes].map(([field, schema]) => [
        field,
        { data_type: kindOf(schema), ...(typeof schema === "string" ? {} : { params: schema }) },
      ]),
    ),
  };
}

export function noCollection(name: string, options?: { readonly cause: unknown }): VectorStoreError {
  return new VectorStoreError(404, `Not found: Collection \`${name}\` doesn't exist!`, options);
}

/** What a collection is made for. */
export interface CollectionPlan {
  /** Of the dense vectors. */
  readonly dimension: number;
  /** Names of sparse vectors, each with the IDF modifier. */
  readonly sparse: readonly string[];
  /** On each key that is filtered on. */
  readonly indexes: Readonly<Record<string, PayloadSchema>>;
  /** Default: as the server does. */
  readonly onDiskPayload?: true;
  /** Runs before an index is made. @throws when the collection that is there can't be used */
  readonly check?: () => Promise<void>;
}

/**
 * Makes a collection where there is none, with one graph for each owner (`m: 0`, `payload_m: 16`), as no search crosses owners, and the
 * indexes that it lacks. Safe to repeat, and to run in several processes at once.
 * @throws REINDEX_REQUIRED when it was made for vectors of another length, what `check` throws; its indexes are as they were then
 */
export async function ensureCollection(client: VectorClient, name: string, plan: CollectionPlan): Promise<void> {
  if (!(await client.collectionExists(name)).exists)
    await client
      .createCollection(name, {
        vectors: { size: plan.dimension, distance: "Cosine" },
        sparse_vectors: Object.fromEntries(plan.sparse.map((each) => [each, { modifier: "idf" }])),
        hnsw_config: { m: 0, payload_m: 16 },
        ...(plan.onDiskPayload && { on_disk_payload: true }),
      })
      .catch((error: { readonly status?: unknown }) => {
        // Another process was faster.
        if (error.status !== 409) throw error;
      });
  const { config, payload_schema: indexed } = await client.getCollection(name);
  const size = sizeIn(config.params.vectors);
  if (size !== plan.dimension)
    throw new AppError("REINDEX_REQUIRED", {
      detail: `The collection "${name}" has vectors of ${size ?? "unknown"} numbers, the embedder makes ${plan.dimension}.`,
    });
  await plan.check?.();
  for (const [field_name, field_schema] of Object.entries(plan.indexes))
    if (!(field_name in indexed)) await client.createPayloadIndex(name, { field_name, field_schema, wait: true });
}

/** The length of dense vectors, as a collection describes them; null where it doesn't. */
export function sizeIn(vectors: unknown): number | null {
  return typeof vectors === "object" && vectors !== null && "size" in vectors && typeof vectors.size === "number" ? vectors.size : null;
}
