import type { CategoriesOf, Category } from "../domain/categories.js";
import { documentVector, queryVector } from "../embedding/sparse-vectors.js";
import { withoutForgotten } from "../history/history.js";
import { DisabledMemories } from "../memories/disabled-memories.js";
import {
  MemoryService,
  type MemoryServiceOptions,
  type MemoryServiceParts,
  RecallByOccasion,
  StandingRecall,
} from "../memories/memories.js";
import type { MemoryChanges } from "../memories/memory-changes.js";
import type { Embedder } from "../ports/embedding.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MergedMemories } from "../ports/identities.js";
import type { LongTermMemory } from "../ports/memories.js";
import type { VectorStore } from "../ports/vectors.js";
import { EngineReadingCalls } from "../state/counters/reading-calls.js";
import { installationId } from "../state/installation.js";
import { DisabledHistory } from "../vectors/history/disabled-history.js";
import { VectorHistory } from "../vectors/history/vector-history.js";
import { Mem0Service } from "../vectors/mem0/mem0-service.js";
import { givenVectors, openCategories, openVectors, type Vectors, WRITE_TIMEOUT_MS } from "./backends.js";
import type { Costs } from "./costs.js";
import { type OpenedEmbedder, openEmbedder, opened, reembed } from "./embedders.js";
import { sealedVectors } from "./encryption.js";
import type { VectorStoreName } from "./state-variables.js";
import { type Stores, same, type Wiring } from "./wiring.js";

/** What is remembered: memories and history, over one kind of vector store. */
export interface LongTerm {
  readonly longTerm: LongTermMemory;
  /** Null when long-term memory is off. */
  readonly changes: MemoryChanges | null;
  /** Also when long-term memory is off: what was remembered before goes along. */
  readonly merged: MergedMemories;
  readonly history: ConversationHistory;
  /** False when HISTORY_BACKEND is `none`. */
  readonly keepsHistory: boolean;
  /** Of tenants that have none of their own. */
  readonly categories: readonly Category[];
  readonly embedder: Embedder;
  readonly afterReindex?: NonNullable<OpenedEmbedder["afterReindex"]>;
  readonly vectors: Vectors;
}

export async function openLongTerm(
  wiring: Wiring,
  { store, engine, keyring, ledger, memoryLog, agreedInstallation, aloneWithMemories }: Stores,
  { tokens, limits }: Costs,
  parts: Required<
    Pick<MemoryServiceParts, "onForgotten" | "readMessage" | "readPlainly" | "left" | "checkProposed" | "asksNotToKeep" | "onRead">
  > &
    Required<Pick<MemoryServiceOptions, "slotOf">>,
): Promise<LongTerm> {
  const { config, overrides, logger, clock, around, dir, kept, closing, tenants } = wiring;
  const product = await wiring.product();
  const categories = overrides.domain?.categories ?? overrides.categories ?? (await openCategories(config.MEMORY_CATEGORIES_FILE, product));
  const categoriesOf: CategoriesOf = (owner) => tenants.of(owner).categories ?? categories;
  const given = overrides.vectors && closing(overrides.vectors, (it) => it.close());
  const stored = around.vectors ?? same;
  const sealed = keyring === null ? same : sealedVectors(config, keyring);
  // What lies with the state is sealed with it.
  const aroundVectors = (it: VectorStore, name?: VectorStoreName) => (name === "state" ? stored(it) : sealed(stored(it)));
  const vectors = given
    ? givenVectors(config, aroundVectors(given))
    : await openVectors(config, kept ? dir : null, aroundVectors, { closing, logger, engine });
  const { embedder, afterReindex, load } = overrides.embedder
    ? opened(overrides.embedder)
    : await openEmbedder(config, vectors, { tokens, logger, closing, reembed: overrides.reembed === true });
  if (overrides.reembed) await reembed(vectors, embedder, { signal: new AbortController().signal });
  const remote = given !== undefined || !OWN.includes(config.MEM0_PROVIDER);
  const mem0 = await Mem0Service.open(
    { reads: vectors.recall, writes: vectors.memory, embedder, clock, logger, sparse: { documentVector, queryVector } },
    {
      dir,
      remote,
      installation: await installationOf(wiring, agreedInstallation),
      searchLimit: config.MEM0_SEARCH_LIMIT,
      timeoutMs: WRITE_TIMEOUT_MS,
    },
  );
  const memoryStore = closing((around.memoryStore ?? same)(mem0), (it) => it.close());
  // Without a table what is like a message is recalled, and what the user is known for.
  const { recall: table = null, needs = [] } = product;
  const halfLifeDays = config.MEMORY_HALF_LIFE_DAYS;
  const otherwise = new StandingRecall({ categoriesOf, halfLifeDays });
  const byOccasion = table && new RecallByOccasion({ table, categoriesOf, needs, embedder, halfLifeDays });
  const memories = new MemoryService(
    {
      ...parts,
      readingCalls: new EngineReadingCalls(engine, clock),
      mayRead: async (owner) => limits?.requireBackground(owner),
      log: memoryLog,
      store: memoryStore,
      ledger,
      clock,
      logger,
      otherwise,
      ...(byOccasion && { recall: byOccasion }),
      ...(aloneWithMemories && { alone: aloneWithMemories }),
    },
    { categoriesOf, slotOf: parts.slotOf, minConfidence: config.MEMORY_MIN_CONFIDENCE },
  );
  const longTerm = closing((around.longTerm ?? same)(config.MEM0_ENABLED ? memories : new DisabledMemories(memories)), (it) => it.close());
  const verbatim = vectors.history
    ? await VectorHistory.open({
        store: vectors.history,
        embedder,
        sparse: { documentVector, queryVector },
        defaultLimit: config.MEMORY_SEARCH_LIMIT,
        logger,
      })
    : new DisabledHistory();
  if (config.MEM0_ENABLED || vectors.history !== null) await load();
  // Before the first message asks; a provider is asked, and paid, only when one does.
  if (config.MEM0_ENABLED && !embedder.remote) void byOccasion?.load();
  return {
    longTerm,
    changes: config.MEM0_ENABLED ? memories.changes : null,
    merged: memories.merged,
    history: closing(withoutForgotten((around.history ?? same)(verbatim), ledger, store.index), (it) => it.close()),
    keepsHistory: vectors.history !== null,
    categories,
    embedder,
    ...(afterReindex !== undefined && { afterReindex }),
    vectors,
  };
}

/** Stores of vectors that no other installation writes to. */
const OWN: readonly VectorStoreName[] = ["local", "state"];

/** Tells this installation from others on the same server of vectors. Processes that share their state are one installation. */
async function installationOf({ config, dir, kept, fileSystem }: Wiring, agreed: Stores["agreedInstallation"]): Promise<string> {
  if (OWN.includes(config.MEM0_PROVIDER) || !kept) return "";
  const own = await installationId(dir, fileSystem);
  return agreed === undefined ? own : agreed(own);
}
