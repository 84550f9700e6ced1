import type { Embedder } from "../../src/embedding.js";
import { Mem0Service, type Mem0ServiceOptions, type Mem0ServiceParts } from "../../src/long-term/mem0-service.js";
import { HashingEmbedder } from "../../src/offline/hashing-embedder.js";
import { InMemoryOwnerLedger } from "../../src/owner-ledger/in-memory-owner-ledger.js";
import type { Clock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { documentVector, queryVector } from "../../src/vectors/sparse.js";
import type { VectorStore } from "../../src/vectors.js";

export const sparse = { documentVector, queryVector };

/** Mem0Service as the product composes it, over a store of the test's. */
export async function openMem0(options: {
  readonly dir: string;
  readonly store: VectorStore;
  readonly clock: Clock;
  readonly embedder?: Embedder;
  readonly parts?: Partial<Mem0ServiceParts>;
  readonly options?: Partial<Mem0ServiceOptions>;
}) {
  const ledger = new InMemoryOwnerLedger();
  const parts: Mem0ServiceParts = {
    reads: options.store,
    writes: options.store,
    embedder: options.embedder ?? new HashingEmbedder({ dimension: 256 }),
    sparse,
    ledger,
    clock: options.clock,
    logger: silentLogger,
    ...options.parts,
  };
  return { memory: await Mem0Service.open(parts, { dir: options.dir, ...options.options }), ledger, parts };
}
