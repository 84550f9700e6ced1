import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import type { MemoryServiceOptions, MemoryServiceParts } from "../../src/memories/memories.js";
import type { Clock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Embedder } from "../../src/ports/embedding.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { Mem0Service, type Mem0ServiceOptions, type Mem0ServiceParts } from "../../src/vectors/mem0/mem0-service.js";
import { AppliedMemories } from "./applied-memories.js";
import { checkByWords, noReader } from "./in-memory-long-term.js";
import { InMemoryMemoryLog, InMemoryOwnerLedger } from "./memory-stores.js";

export const sparse = { documentVector, queryVector };

/** The use-case over Mem0Service as the product composes it, over a store of the test's. */
export async function openMem0(options: {
  readonly dir: string;
  readonly store: VectorStore;
  readonly clock: Clock;
  readonly embedder?: Embedder;
  readonly parts?: Partial<Mem0ServiceParts>;
  readonly options?: Partial<Mem0ServiceOptions & MemoryServiceOptions>;
  readonly ledger?: InMemoryOwnerLedger;
  readonly log?: MemoryServiceParts["log"];
  /** Default: a message that is read is an error. */
  readonly readMessage?: MemoryServiceParts["readMessage"];
  /** Default: as for a domain without a table. */
  readonly recall?: MemoryServiceParts["recall"];
}) {
  const ledger = options.ledger ?? new InMemoryOwnerLedger();
  const log = options.log ?? new InMemoryMemoryLog(ledger);
  const parts: Mem0ServiceParts = {
    reads: options.store,
    writes: options.store,
    embedder: options.embedder ?? new HashingEmbedder({ dimension: 256 }),
    sparse,
    clock: options.clock,
    logger: silentLogger,
    ...options.parts,
  };
  const store = await Mem0Service.open(parts, { dir: options.dir, categoriesOf: () => CONCIERGE_CATEGORIES, ...options.options });
  const memory = new AppliedMemories(
    {
      log,
      store,
      ledger,
      readMessage: options.readMessage ?? noReader,
      checkProposed: checkByWords,
      clock: options.clock,
      logger: parts.logger,
      ...(options.recall && { recall: options.recall }),
    },
    { categoriesOf: () => CONCIERGE_CATEGORIES, ...options.options },
  );
  return { memory, store, ledger, log, parts };
}
