import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { statementSchema } from "../../src/domain/memory.js";
import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { memoryIdOf, type Owner } from "../../src/domain/owner.js";
import { recordFrom } from "../../src/memories/statement-record.js";
import type { Embedder } from "../../src/ports/embedding.js";
import { toPayload } from "../../src/vectors/mem0/memory-payload.js";
import { textOf } from "./memory-texts.js";

/** The present of all memories made here. */
export const NOW = new Date("2026-03-01T12:00:00.000Z");

/** A memory as it lies in the collection, made without going through Mem0: for loading many. */
export interface MemoryRow {
  readonly id: string;
  readonly text: string;
  readonly vector: number[];
  readonly payload: Record<string, unknown>;
  readonly record: MemoryRecord;
}

export async function rowOf(owner: Owner, n: number, embedder: Embedder): Promise<MemoryRow> {
  const text = textOf(n);
  const id = memoryIdOf(owner, "bench", String(n), 0);
  const statement = statementSchema.parse({ text, category: "other", aspect: `choice ${n}` });
  const source = { session_id: "bench", turn: 1, message_id: String(n), quote: text };
  const claim = { id, statedAt: NOW.toISOString(), source, statement, waits: null };
  const [vector = new Float32Array()] = await embedder.embed([text]);
  const record = recordFrom(claim, NOW, CONCIERGE_CATEGORIES);
  return { id, text, vector: Array.from(vector), payload: toPayload(owner, record, embedder.id), record };
}
