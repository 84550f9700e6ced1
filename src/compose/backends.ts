import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { OpenAIModel } from "../agent/openai-model.js";
import type { ChatModel, Domain } from "../agent.js";
import type { Config } from "../config.js";
import { OpenAIEmbedder } from "../embedding/openai-embedder.js";
import type { Embedder } from "../embedding.js";
import { AppError, isAppError } from "../errors.js";
import { type Category, CONCIERGE_CATEGORIES, parseCategories } from "../long-term/categories.js";
import { LlmExtractor } from "../long-term/llm-extractor.js";
import { Mem0Extractor } from "../long-term/mem0-extractor.js";
import { BY_TYPE, MemoryRouter } from "../long-term/memory-router.js";
import type { Extractor } from "../long-term.js";
import { HashingEmbedder } from "../offline/hashing-embedder.js";
import { OfflineModel } from "../offline/offline-model.js";
import { RuleExtractor } from "../offline/rule-extractor.js";
import type { Logger } from "../platform/logger.js";
import { type LocalVectorStore, openLocalQdrant } from "../vectors/local-qdrant.js";
import { openQdrant } from "../vectors/qdrant.js";
import { unreadableStore } from "../vectors/unreadable-store.js";
import type { VectorStore } from "../vectors.js";

/** Which adapter stands behind a port, by configuration. */

/** Bound of a call to a Qdrant server that no reply waits for. */
export const WRITE_TIMEOUT_MS = 10_000;

/** How long the start waits to see which collections there are. */
const LOOK_MS = 3_000;

/** Registers what has to be closed, the last opened first. */
export type Closing = <T>(value: T, close: (value: T) => Promise<unknown> | unknown) => T;

export function openModel(config: Config, domain: Domain): ChatModel {
  if (config.LLM_PROVIDER === "offline") return new OfflineModel(domain.offline ? { script: domain.offline } : {});
  return new OpenAIModel({
    model: config.OPENAI_MODEL,
    ...(config.OPENAI_API_KEY !== undefined && { apiKey: config.OPENAI_API_KEY }),
    ...(config.OPENAI_BASE_URL !== undefined && { baseUrl: config.OPENAI_BASE_URL }),
    timeoutMs: config.MODEL_TIMEOUT_MS,
    ...(config.MODEL_CONTEXT_TOKENS !== undefined && { contextTokens: config.MODEL_CONTEXT_TOKENS }),
  });
}

/** The concierge's categories, or a deployment's own. @throws INVALID_CONFIG for a file that can't be read or holds something else */
export async function openCategories(path: string | undefined): Promise<readonly Category[]> {
  if (path === undefined) return CONCIERGE_CATEGORIES;
  try {
    return parseCategories(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : "It can't be read as JSON.";
    throw new AppError("INVALID_CONFIG", { detail: `MEMORY_CATEGORIES_FILE: ${path}\n${why}`, cause });
  }
}

/** Who proposes memories: rules beside the stand-in, else the model, by our prompt or by Mem0's. What they propose has yet to pass the guards. */
export async function openExtractor(
  config: Config,
  model: ChatModel,
  { dir, categories, logger }: { readonly dir: string; readonly categories: readonly Category[]; readonly logger: Logger },
): Promise<Extractor> {
  if (model.standIn) return new RuleExtractor();
  return config.MEM0_INFER ? Mem0Extractor.open({ dir, model }) : new LlmExtractor(model, { categories, logger });
}

export async function openEmbedder(config: Config): Promise<Embedder> {
  const dimension = config.MEMORY_EMBEDDING_DIMENSIONALITY;
  switch (config.EMBEDDING_PROVIDER) {
    case "hashing":
      return new HashingEmbedder({ dimension });
    case "transformers": {
      // Loaded on demand: what it stands on is an optional peer.
      const { TransformersEmbedder } = await import("../embedding/transformers-embedder.js");
      return TransformersEmbedder.open({ model: config.MEMORY_EMBEDDING_MODEL });
    }
    case "openai":
      return OpenAIEmbedder.open({
        model: config.MEMORY_EMBEDDING_MODEL,
        dimension,
        ...(config.OPENAI_API_KEY !== undefined && { apiKey: config.OPENAI_API_KEY }),
        ...(config.OPENAI_BASE_URL !== undefined && { baseUrl: config.OPENAI_BASE_URL }),
      });
  }
}

/** By configuration; collections of a configuration that was are still read, so that no memory gets lost by a change of it. */
export async function openRouter(config: Config, store: VectorStore, logger: Logger): Promise<MemoryRouter> {
  if (config.MEMORY_COLLECTIONS === "by-type") return new MemoryRouter({ own: BY_TYPE });
  try {
    const names = Object.values(BY_TYPE);
    const exist = await store.withSignal(AbortSignal.timeout(LOOK_MS), () =>
      Promise.all(names.map(async (name) => (await store.client.collectionExists(name)).exists)),
    );
    return new MemoryRouter({ alsoIn: names.filter((_, index) => exist[index]) });
  } catch (error) {
    logger.warn({ err: error }, "It can't be seen which collections of memories there are; `memory` alone is used");
    return new MemoryRouter();
  }
}

export interface Vectors {
  /** For recall on the reply path: a short timeout of its own. */
  readonly recall: VectorStore;
  readonly memory: VectorStore;
  /** Null when HISTORY_BACKEND is `none`. */
  readonly history: VectorStore | null;
  /** Leaves no deleted byte in the local store's file. Nothing to do for a server, which keeps its own. */
  readonly compact: () => Promise<void>;
}

/** One local store serves all that is local; a Qdrant server has a client for reading in turns and one for everything else. */
export async function openVectors(
  config: Config,
  dir: string | null,
  around: (store: VectorStore) => VectorStore,
  closing: Closing,
  logger: Logger,
): Promise<Vectors> {
  let compact = async () => {};
  const local = once(async () => {
    const store = closing(
      await openLocal(dir === null ? ":memory:" : join(dir, "vectors.db"), config.VECTOR_CACHE_MIB * 2 ** 20, logger),
      (it) => it.close(),
    );
    compact = () => store.scrub();
    return around(store);
  });
  const server = async (timeoutMs: number) =>
    around(
      closing(
        await openQdrant({
          url: config.QDRANT_URL ?? "",
          ...(config.QDRANT_API_KEY !== undefined && { apiKey: config.QDRANT_API_KEY }),
          timeoutMs,
        }),
        (it) => it.close(),
      ),
    );
  const writes = once(() => server(WRITE_TIMEOUT_MS));
  const reads = once(() => server(Math.max(config.RECALL_DEADLINE_MS, 1_000)));
  // At once: a server that doesn't answer is waited for, once.
  const [recall, memory] = await Promise.all(config.MEM0_PROVIDER === "qdrant" ? [reads(), writes()] : [local(), local()]);
  const history = config.HISTORY_BACKEND === "none" ? null : await (config.HISTORY_BACKEND === "qdrant" ? writes() : local());
  return { recall, memory, history, compact };
}

/** A damaged file is told, and everything that does not need it goes on. */
async function openLocal(path: string, cacheBytes: number, logger: Logger): Promise<LocalVectorStore> {
  const onDamage = () =>
    logger.error({ path }, "The vector store's file is damaged in part: memories and history that lie on its damaged pages can't be read");
  try {
    return await openLocalQdrant({ path, cacheBytes, onDamage });
  } catch (error) {
    if (!isAppError(error, "STORAGE_DAMAGED")) throw error;
    logger.error({ path, err: error }, "The vector store's file is damaged and left as it is: no long-term memory and no history search");
    return unreadableStore(path);
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
