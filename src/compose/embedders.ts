import type { TokenMeter } from "../agent/token-meter.js";
import { CachedEmbedder } from "../embedding/cached-embedder.js";
import { embeddingModelFacts } from "../embedding/embedding-models.js";
import type { OpenAIEmbedder } from "../embedding/openai-embedder.js";
import { prefixedEmbedder } from "../embedding/prefixed-embedder.js";
import { HashingEmbedder } from "../offline/hashing-embedder.js";
import type { Logger } from "../platform/logger.js";
import type { ApplicationInfo } from "../ports/application.js";
import type { Embedder } from "../ports/embedding.js";
import type { VectorStore } from "../ports/vectors.js";
import type { Config } from "./config.js";

/** Dimension of vectors where nothing says another. */
const DEFAULT_DIMENSION = 768;
/** How long the start waits to see what is stored. */
const LOOK_MS = 3_000;
const MEMORY_COLLECTION = "memory";

export interface EmbedderParts {
  /** Counts what a service embeds; what is embedded here costs nothing. */
  readonly tokens: Pick<TokenMeter, "add">;
  readonly logger: Logger;
}

/**
 * By configuration, with its model's prefixes, and with the vectors of the last texts kept: a turn embeds the user's message once.
 * @throws INVALID_CONFIG
 */
export async function openEmbedder(config: Config, memories: VectorStore, parts: EmbedderParts): Promise<Embedder> {
  const model = config.MEMORY_EMBEDDING_MODEL;
  const facts = embeddingModelFacts(model);
  const prefixes = {
    query: config.EMBEDDING_QUERY_PREFIX ?? facts.queryPrefix,
    document: config.EMBEDDING_DOCUMENT_PREFIX ?? facts.documentPrefix,
  };
  switch (config.EMBEDDING_PROVIDER) {
    case "hashing":
      return new CachedEmbedder(new HashingEmbedder({ dimension: config.MEMORY_EMBEDDING_DIMENSIONALITY ?? DEFAULT_DIMENSION }));
    case "transformers": {
      // Loaded on demand: what it stands on is an optional peer.
      const { TransformersEmbedder } = await import("../embedding/transformers-embedder.js");
      return new CachedEmbedder(prefixedEmbedder(await TransformersEmbedder.open({ model }), prefixes));
    }
    case "openai":
      return new CachedEmbedder(prefixedEmbedder(await openOpenAI(config, memories, parts), prefixes));
  }
}

async function openOpenAI(config: Config, memories: VectorStore, { tokens, logger }: EmbedderParts): Promise<OpenAIEmbedder> {
  const { MEMORY_EMBEDDING_DIMENSIONALITY: set, EMBEDDING_BASE_URL: baseUrl, EMBEDDING_API_KEY: apiKey } = config;
  const { OpenAIEmbedder } = await import("../embedding/openai-embedder.js");
  return OpenAIEmbedder.open({
    model: config.MEMORY_EMBEDDING_MODEL,
    dimension: set ?? DEFAULT_DIMENSION,
    ...(set === undefined && { adapt: { stored: await storedDimension(memories) } }),
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
    onTokens: ({ tokens: input, estimated }) =>
      tokens.add("embeddings", { calls: 1, input, cached: 0, output: 0, ...(estimated && { estimated }) }),
    logger,
  });
}

/** Of the memories' vectors; null where there are none, or they are out of reach. */
async function storedDimension(store: VectorStore): Promise<number | null> {
  try {
    return await store.withSignal(AbortSignal.timeout(LOOK_MS), async () => {
      if (!(await store.client.collectionExists(MEMORY_COLLECTION)).exists) return null;
      const { vectors } = (await store.client.getCollection(MEMORY_COLLECTION)).config.params;
      const size = (vectors as { readonly size?: unknown } | undefined)?.size;
      return typeof size === "number" ? size : null;
    });
  } catch {
    return null;
  }
}

/** For the start-up block, readiness and `doctor`. `problem` is looked at when it is asked for. */
export function embedderInfo(embedder: Embedder): ApplicationInfo["embedder"] {
  return {
    id: embedder.id,
    lexical: embedder.lexical,
    dimension: embedder.dimension,
    remote: embedder.remote ?? false,
    get problem() {
      return embedder.problem ?? null;
    },
  };
}
