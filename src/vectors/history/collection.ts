import { AppError } from "../../platform/errors.js";
import type { PayloadSchema, VectorClient } from "../../ports/vectors.js";

/** The sparse vector of a message's own words. */
export const OWN = "bm25";
/** The sparse vector of what was said just before it, so that a question finds the answer that shares none of its words. */
export const CONTEXT = "context";

/** The payload's key, true, of a message that was written while the embedder failed: it has no dense vector yet. */
export const UNEMBEDDED = "unembedded";

const INDEXES: Readonly<Record<string, PayloadSchema>> = {
  user_id: { type: "keyword", is_tenant: true },
  session_id: "keyword",
  role: "keyword",
  position: "integer",
  created_at_ts: "integer",
  [UNEMBEDDED]: "bool",
};

/**
 * Makes the collection where there is none: dense (unnamed) and two sparse vectors with the IDF modifier, one graph per owner
 * (`m: 0`, `payload_m: 16`), and an index on every key that is filtered on. Safe to repeat, and to run in several processes at once.
 * @throws REINDEX_REQUIRED when the collection was made for vectors of another length
 */
export async function ensureCollection(client: VectorClient, collection: string, dimension: number): Promise<void> {
  if (!(await client.collectionExists(collection)).exists) {
    try {
      await client.createCollection(collection, {
        vectors: { size: dimension, distance: "Cosine" },
        sparse_vectors: { [OWN]: { modifier: "idf" }, [CONTEXT]: { modifier: "idf" } },
        hnsw_config: { m: 0, payload_m: 16 },
        on_disk_payload: true,
      });
    } catch (error) {
      if (statusOf(error) !== 409) throw error;
    }
  }
  const { config, payload_schema } = await client.getCollection(collection);
  const size = sizeOf(config.params.vectors);
  if (size !== dimension) {
    throw new AppError("REINDEX_REQUIRED", {
      detail: `History was indexed with vectors of ${size ?? "unknown"} dimensions; the embedder makes ${dimension}.`,
    });
  }
  for (const [field_name, field_schema] of Object.entries(INDEXES)) {
    if (!(field_name in payload_schema)) await client.createPayloadIndex(collection, { field_name, field_schema, wait: true });
  }
}

function sizeOf(vectors: unknown): number | null {
  return typeof vectors === "object" && vectors !== null && "size" in vectors && typeof vectors.size === "number" ? vectors.size : null;
}

function statusOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
}
