import type { TokenMeter } from "../agent/token-meter.js";
import { CachedEmbedder, prefixedEmbedder } from "../embedding/cached-embedder.js";
import { embeddingModelFacts } from "../embedding/embedding-models.js";
import { HashingEmbedder } from "../embedding/hashing-embedder.js";
import type { OpenAIEmbedder } from "../embedding/openai-embedder.js";
import { SentenceEmbedder, type SentenceModel } from "../embedding/sentence-embedder.js";
import { documentVector } from "../embedding/sparse-vectors.js";
import { within } from "../platform/bounded-signal.js";
import type { Logger } from "../platform/logger.js";
import { present } from "../platform/present.js";
import type { ApplicationInfo } from "../ports/application.js";
import type { Embedder } from "../ports/embedding.js";
import type { VectorClient, VectorStore } from "../ports/vectors.js";
import { holdsMemories, MEMORY_COLLECTION, reembedCollection, shapeOf } from "../vectors/mem0/collections.js";
import type { Vectors } from "./backends.js";
import type { Config } from "./config.js";
import type { EmbeddingProvider } from "./model-variables.js";
import { meanings } from "./own-packages.js";
import type { Closing } from "./wiring.js";

/** Dimension of vectors where nothing says another. */
const DEFAULT_DIMENSION = 768;
/** Numbers for the words of other scripts, beside those of a model that reads none. */
const GRAMS_DIMENSION = 128;
/** How long a start waits for the model of the package, so that the first turn recalls by meaning. */
const LOADING_MS = 1_000;

export interface EmbedderParts {
  /** Counts what a service embeds; what is embedded here costs nothing. */
  readonly tokens: Pick<TokenMeter, "add">;
  readonly logger: Logger;
  readonly closing: Closing;
  /** Whether the stored vectors are made anew before they are used. */
  readonly reembed: boolean;
}

export interface OpenedEmbedder {
  readonly embedder: Embedder;
  /** What takes over once the store is fitted to it. Absent: nothing does. */
  readonly afterReindex?: string;
  /** Resolves when it can embed, or after a second. What isn't loaded before is by the first text. */
  load(): Promise<void>;
}

/**
 * By configuration, with its model's prefixes, and with the vectors of the last texts kept: a turn embeds the user's message once.
 * @throws INVALID_CONFIG
 */
export async function openEmbedder(
  config: Config,
  vectors: Pick<Vectors, "memory" | "history">,
  parts: EmbedderParts,
): Promise<OpenedEmbedder> {
  const model = config.MEMORY_EMBEDDING_MODEL;
  const facts = embeddingModelFacts(model);
  const prefixes = {
    query: config.EMBEDDING_QUERY_PREFIX ?? facts.queryPrefix,
    document: config.EMBEDDING_DOCUMENT_PREFIX ?? facts.documentPrefix,
  };
  switch (config.EMBEDDING_PROVIDER) {
    case "minilm":
      return openPackaged(config, vectors, parts);
    case "static": {
      const embedder = await openSentenceEmbedder("static", ({ WordTable }) => new WordTable());
      return { embedder: new CachedEmbedder(embedder), load: () => embedder.load() };
    }
    case "hashing":
      return opened(new HashingEmbedder({ dimension: config.MEMORY_EMBEDDING_DIMENSIONALITY ?? DEFAULT_DIMENSION }));
    case "transformers": {
      // Loaded on demand: what it stands on is an optional peer.
      const { TransformersEmbedder } = await import("../embedding/transformers-embedder.js");
      return opened(prefixedEmbedder(await TransformersEmbedder.open({ model }), prefixes));
    }
    case "openai":
      return opened(prefixedEmbedder(await openOpenAI(config, vectors, parts), prefixes));
  }
}

/** One of one's own. */
export function opened(embedder: Embedder): OpenedEmbedder {
  return { embedder: new CachedEmbedder(embedder), load: async () => {} };
}

/**
 * The model of the package. A store that was made by the stand-in, which was the default before, goes on with it until it is fitted by
 * `maitred reindex`; one that holds nothing yet is fitted at once.
 */
async function openPackaged(
  config: Config,
  vectors: Pick<Vectors, "memory" | "history">,
  { closing, logger, reembed: fitting }: EmbedderParts,
): Promise<OpenedEmbedder> {
  const stored = config.EMBEDDING_BY_DEFAULT && !fitting ? await storedVectors(vectors) : null;
  const standIn = stored && standInOf(stored);
  const embedder = closing(await openSentenceEmbedder("minilm", ({ MiniLm }) => new MiniLm()), (it) => it.close());
  const isOfStandIn = standIn !== null && (stored?.embedder === standIn.id || standIn.dimension !== embedder.dimension);
  if (isOfStandIn && stored?.isInUse) {
    logger.warn(
      { stored: standIn.id },
      "The stored vectors were made by an embedder that compares words, and are used as they are. `maitred reindex` makes them anew with " +
        "the model of the package, which compares meanings; EMBEDDING_PROVIDER=hashing stays with words",
    );
    return { ...opened(standIn), afterReindex: "minilm" };
  }
  if (isOfStandIn) await reembed(vectors, embedder, { signal: new AbortController().signal });
  return { embedder: new CachedEmbedder(embedder), load: () => within(LOADING_MS, embedder.load(), undefined) };
}

/** By a model of `@maitred/minilm`; what it can't read is compared by letters. @throws INVALID_CONFIG where that isn't installed */
async function openSentenceEmbedder(
  setting: EmbeddingProvider,
  made: (models: typeof import("@maitred/minilm")) => SentenceModel,
): Promise<SentenceEmbedder> {
  const models = await meanings(`EMBEDDING_PROVIDER=${setting}`);
  return new SentenceEmbedder(made(models), new HashingEmbedder({ dimension: GRAMS_DIMENSION }));
}

async function openOpenAI(
  config: Config,
  vectors: Pick<Vectors, "memory" | "history">,
  { tokens, logger }: EmbedderParts,
): Promise<OpenAIEmbedder> {
  const { MEMORY_EMBEDDING_DIMENSIONALITY: set, EMBEDDING_BASE_URL: baseUrl, EMBEDDING_API_KEY: apiKey } = config;
  const { EMBEDDING_HEADERS: headers, EMBEDDING_QUERY: query } = config;
  const { OpenAIEmbedder } = await import("../embedding/openai-embedder.js");
  return OpenAIEmbedder.open({
    model: config.MEMORY_EMBEDDING_MODEL,
    dimension: set ?? DEFAULT_DIMENSION,
    ...(set === undefined && {
      adapt: { stored: (await storedVectors({ memory: vectors.memory, history: null }))?.dimension ?? null },
    }),
    ...present({ apiKey, baseUrl, headers, query }),
    onTokens: ({ tokens: input, estimated }) =>
      tokens.add("embeddings", config.MEMORY_EMBEDDING_MODEL, { calls: 1, input, cached: 0, output: 0, ...(estimated && { estimated }) }),
    logger,
  });
}

/** For the start-up block, readiness and `doctor`. `problem` is looked at when it is asked for. */
export function embedderInfo({ embedder, afterReindex }: Pick<OpenedEmbedder, "embedder" | "afterReindex">): ApplicationInfo["embedder"] {
  return {
    id: embedder.id,
    lexical: embedder.lexical,
    dimension: embedder.dimension,
    remote: embedder.remote ?? false,
    ...(afterReindex !== undefined && { afterReindex }),
    get problem() {
      return embedder.problem ?? null;
    },
  };
}

/** How long the start waits to see what is stored. */
const LOOK_MS = 3_000;

interface StoredVectors {
  /** By name; null where nothing stored names one. */
  readonly embedder: string | null;
  readonly dimension: number;
  /** False where there is neither a memory nor a message of the history. */
  readonly isInUse: boolean;
}

/** Null where neither collection is there yet, or the store is out of reach. */
async function storedVectors({ memory, history }: Pick<Vectors, "memory" | "history">): Promise<StoredVectors | null> {
  const ofMemories = await lookedAt(memory, MEMORY_COLLECTION, holdsMemories);
  const ofHistory = history && (await lookedAt(history, HISTORY_COLLECTION, holdsMessages));
  const found = [ofMemories, ofHistory].filter((each) => each !== null);
  const [first] = found;
  if (first === undefined) return null;
  const named = found.find(({ embedder }) => embedder !== null) ?? first;
  return { ...named, isInUse: found.some(({ isInUse }) => isInUse) };
}

/** A count would look at all of them. */
async function holdsMessages(client: VectorClient, name: string): Promise<boolean> {
  return (await client.scroll(name, { limit: 1, with_payload: false })).points.length > 0;
}

async function lookedAt(
  store: VectorStore,
  name: string,
  inUse: (client: VectorClient, name: string) => Promise<boolean>,
): Promise<StoredVectors | null> {
  try {
    return await store.withSignal(AbortSignal.timeout(LOOK_MS), async () => {
      if (!(await store.client.collectionExists(name)).exists) return null;
      const { size, embedder } = await shapeOf(store.client, name);
      return typeof size === "number" ? { embedder, dimension: size, isInUse: await inUse(store.client, name) } : null;
    });
  } catch {
    return null;
  }
}

/**
 * The stand-in that the stored vectors are of, for a store of before there was a model in the package. Null for vectors of any other
 * embedder.
 */
function standInOf({ embedder, dimension }: StoredVectors): HashingEmbedder | null {
  if (dimension < HashingEmbedder.MIN_DIMENSION || dimension > HashingEmbedder.MAX_DIMENSION) return null;
  const standIn = new HashingEmbedder({ dimension });
  // Where nothing names one, it was the only one that needed no configuration.
  return embedder === null || embedder === standIn.id ? standIn : null;
}

/**
 * Fits the stores to another embedder before they are opened with it: memories keep their payloads and get new vectors; the
 * history collection goes, for it is made anew from the journals. Broken off, the next call goes on.
 * @returns how many memories were embedded anew
 */
export async function reembed(
  vectors: Pick<Vectors, "memory" | "history">,
  embedder: Embedder,
  options: { readonly signal: AbortSignal },
): Promise<number> {
  const embed = async (texts: readonly string[]) =>
    (await embedder.embed(texts, { ...options, kind: "document" })).map((vector) => [...vector]);
  const done = await reembedCollection(vectors.memory.client, MEMORY_COLLECTION, {
    dimension: embedder.dimension,
    embedder: embedder.id,
    embed,
    sparse: documentVector,
    signal: options.signal,
  });
  if (vectors.history && (await vectors.history.client.collectionExists(HISTORY_COLLECTION)).exists) {
    await vectors.history.client.deleteCollection(HISTORY_COLLECTION);
  }
  return done;
}

export const HISTORY_COLLECTION = "history";
