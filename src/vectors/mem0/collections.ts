import { AppError } from "../../platform/errors.js";
import type { PayloadSchema, VectorClient } from "../../ports/vectors.js";
import { ensureCollection, sizeIn } from "../requests/collection.js";
import { scrolled } from "../requests/scrolled.js";
import { fromPayload, UNEMBEDDED } from "./memory-payload.js";

/** The name of the sparse vector, which Mem0 dictates. */
export const SPARSE_NAME = "bm25";

/** The collection of memories. */
export const MEMORY_COLLECTION = "memory";

/** @throws INVALID_CONFIG for what is no collection's name, or that Mem0 keeps for itself */
export function memoryCollection(name: string = MEMORY_COLLECTION): string {
  if (/^[a-z][a-z0-9_-]{0,62}$/.test(name) && name !== "memory_migrations" && !name.endsWith("_entities")) return name;
  throw new AppError("INVALID_CONFIG", {
    detail: `"${name}" can't name a collection of memories.`,
    hint: "Use lower-case letters, digits, `_` and `-`; `memory_migrations` and names that end in `_entities` are Mem0's own.",
  });
}

export interface CollectionShape {
  readonly dimension: number;
  /** The embedder's id: vectors of another one don't compare. */
  readonly embedder: string;
}

/** What is filtered by. Qdrant in strict mode refuses the rest. */
const INDEXES: Readonly<Record<string, PayloadSchema>> = {
  user_id: { type: "keyword", is_tenant: true },
  status: "keyword",
  strength: "keyword",
  type: "keyword",
  category: "keyword",
  subject: "keyword",
  tags: "keyword",
  entities: "keyword",
  channel: "keyword",
  embedder: "keyword",
  source_session_id: "keyword",
  valid_from_ts: "integer",
  valid_until_ts: "integer",
};

/** As it has to be for memories. @throws REINDEX_REQUIRED when its vectors are of another dimension or embedder */
export async function ensureMemoryCollection(client: VectorClient, name: string, { dimension, embedder }: CollectionShape): Promise<void> {
  const check = async () => {
    const made = (await shapeOf(client, name)).embedder;
    if (made !== null && made !== embedder)
      throw new AppError("REINDEX_REQUIRED", {
        detail: `The vectors of "${name}" were made by the embedder ${made}, configured is ${embedder}.`,
      });
  };
  await ensureCollection(client, name, { dimension, sparse: [SPARSE_NAME], indexes: INDEXES, check });
}

/** Points that are looked at for their embedder: the first may have been written while it failed. */
const SHAPE_LOOK = 16;

/** The dimension of a collection, and the embedder that its first point names; null where there is none. */
export async function shapeOf(
  client: VectorClient,
  name: string,
): Promise<{ readonly size: number | null; readonly embedder: string | null }> {
  const { config } = await client.getCollection(name);
  // Without a filter: the index on the embedder may not be there yet.
  const { points } = await client.scroll(name, { limit: SHAPE_LOOK, with_payload: true });
  const embedder = points.map(({ payload }) => payload?.embedder).find((named) => typeof named === "string" && named !== UNEMBEDDED);
  return { size: sizeIn(config.params.vectors), embedder: typeof embedder === "string" ? embedder : null };
}

/** Whether there is a memory among a collection's first points: beside memories there are a few markers. */
export async function holdsMemories(client: VectorClient, name: string): Promise<boolean> {
  const { points, next_page_offset: more } = await client.scroll(name, { limit: BATCH, with_payload: true });
  return points.some(({ payload }) => fromPayload(payload) !== null) || (more !== null && more !== undefined);
}

async function fits(client: VectorClient, name: string, shape: CollectionShape): Promise<boolean> {
  const { size, embedder } = await shapeOf(client, name);
  return size === shape.dimension && (embedder === null || embedder === shape.embedder);
}

/** Stands for the text of a point that is no memory: some embedders refuse an empty one. */
const NO_TEXT = "-";
/** Memories of one batch of a re-embedding. */
const BATCH = 64;

export interface ReembedOptions extends CollectionShape {
  readonly embed: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
  readonly sparse: (text: string) => { indices: number[]; values: number[] };
  readonly signal: AbortSignal;
}

/**
 * Makes the vectors of a collection anew, for another embedder. Payloads are kept as they are; no model but the embedder
 * is asked. First all goes into a collection beside the old one, then the old one is made anew from it. At any point one of
 * the two is whole, the one with more memories: cut off anywhere, the next call goes on from there and no memory is lost.
 * Nothing else may write meanwhile.
 * @returns how many memories
 */
export async function reembedCollection(client: VectorClient, name: string, options: ReembedOptions): Promise<number> {
  const staging = `${name}__reindex`;
  const [old, beside] = [await countOf(client, name), await countOf(client, staging)];
  if (old === null && beside === null) return 0;
  const besideIsWhole =
    beside !== null && (old === null || beside > old || (beside === old && (await fits(client, staging, options)) && beside > 0));
  if (!besideIsWhole) {
    if (beside !== null) await client.deleteCollection(staging);
    await ensureMemoryCollection(client, staging, options);
    await copy(client, name, staging, options, true);
    await sameCount(client, name, staging);
  }
  // What was made beside for yet another embedder is embedded again on the way back.
  const embed = !(await fits(client, staging, options));
  if ((await countOf(client, name)) !== null) await client.deleteCollection(name);
  await ensureMemoryCollection(client, name, options);
  const copied = await copy(client, staging, name, options, embed);
  await sameCount(client, staging, name);
  await client.deleteCollection(staging);
  return copied;
}

async function countOf(client: VectorClient, name: string): Promise<number | null> {
  if (!(await client.collectionExists(name)).exists) return null;
  return (await client.count(name, { exact: true })).count;
}

async function copy(client: VectorClient, from: string, to: string, options: ReembedOptions, embed: boolean): Promise<number> {
  let copied = 0;
  options.signal.throwIfAborted();
  for await (const found of scrolled(client, from, { limit: BATCH, with_payload: true, with_vector: !embed })) {
    const texts = found.map((point) => fromPayload(point.payload)?.record.text ?? NO_TEXT);
    const dense = embed ? await options.embed(texts) : [];
    const points = found.map((point, index) => ({
      id: point.id,
      vector: embed
        ? { "": [...(dense[index] ?? [])], [SPARSE_NAME]: options.sparse(texts[index] ?? "") }
        : (point.vector as { [vector: string]: number[] }),
      payload: { ...point.payload, embedder: options.embedder },
    }));
    if (points.length > 0) await client.upsert(to, { points, wait: true });
    // Markers are no memories.
    copied += found.filter(({ payload }) => fromPayload(payload) !== null).length;
    options.signal.throwIfAborted();
  }
  return copied;
}

async function sameCount(client: VectorClient, from: string, to: string): Promise<void> {
  const [before, after] = [await client.count(from, { exact: true }), await client.count(to, { exact: true })];
  if (before.count !== after.count)
    throw new AppError("STORAGE_DAMAGED", { detail: `Of ${before.count} memories ${after.count} were copied; nothing was deleted.` });
}
