import { z } from "zod";
import { VectorStoreError } from "../../ports/vectors.js";

/** What is read of a server's answers. A server that answers something else is broken or no Qdrant: an error, not an empty result. */
const id = z.union([z.string(), z.number()]);
const stored = z.looseObject({ id, payload: z.record(z.string(), z.unknown()).nullish() });
const scored = stored.extend({ score: z.number() });
const done = z.unknown();

const ANSWERS = {
  versionInfo: z.looseObject({ version: z.string() }),
  collectionExists: z.looseObject({ exists: z.boolean() }),
  getCollection: z.looseObject({
    config: z.looseObject({ params: z.looseObject({}) }),
    payload_schema: z.record(z.string(), z.unknown()),
  }),
  createCollection: z.boolean(),
  deleteCollection: z.boolean(),
  createPayloadIndex: done,
  upsert: done,
  setPayload: done,
  delete: done,
  query: z.looseObject({ points: z.array(scored) }),
  scroll: z.looseObject({ points: z.array(stored) }),
  retrieve: z.array(stored),
  count: z.looseObject({ count: z.int().min(0) }),
  facet: z.looseObject({
    hits: z.array(z.looseObject({ value: z.union([z.string(), z.number(), z.boolean()]), count: z.int().min(0) })),
  }),
} as const;

/** @throws VectorStoreError with status 0 */
export function parseAnswer<K extends keyof typeof ANSWERS>(call: K, answer: unknown): z.infer<(typeof ANSWERS)[K]> {
  const parsed = ANSWERS[call].safeParse(answer);
  if (!parsed.success) throw new VectorStoreError(0, `Qdrant's answer to ${call} can't be understood.`, { cause: parsed.error });
  return parsed.data as z.infer<(typeof ANSWERS)[K]>;
}
