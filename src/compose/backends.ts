import { join } from "node:path";
import { z } from "zod";
import { type Category, DEFAULT_CATEGORIES, parseCategories } from "../domain/categories.js";
import { needWordsOf } from "../languages/need-talk.js";
import { LlmReader } from "../memories/llm-reader.js";
import { ReaderInPlace } from "../memories/reader-in-place.js";
import { isAppError } from "../platform/errors.js";
import { readNamedJson, wrongVariable } from "../platform/invalid-config.js";
import { loadedOnce } from "../platform/loaded-later.js";
import type { Logger } from "../platform/logger.js";
import type { ChatModel, Domain } from "../ports/agent.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageReader } from "../ports/extraction.js";
import type { GiveWay } from "../ports/give-way.js";
import type { DomainWords } from "../ports/offline-script.js";
import type { VectorStore } from "../ports/vectors.js";
import type { StateEngine } from "../state/engine.js";
import { type LocalVectorStore, openLocalQdrant, unreadableStore } from "../vectors/local/local-qdrant.js";
import { Mem0Reader } from "../vectors/mem0/mem0-reader.js";
import { openQdrant } from "../vectors/qdrant/qdrant.js";
import type { Config } from "./config.js";
import { standIn } from "./own-packages.js";
import type { VectorStoreName } from "./state-variables.js";
import type { Closing } from "./wiring.js";

/** Which adapter stands behind a port, by configuration. */

/** Bound of a call to a server of vectors that no reply waits for. */
export const WRITE_TIMEOUT_MS = 10_000;

/** A deployment's own, else the product's. @throws INVALID_CONFIG for a file that can't be read or holds something else */
export async function openCategories(path: string | undefined, product: Pick<Domain, "categories">): Promise<readonly Category[]> {
  if (path === undefined) return product.categories ?? DEFAULT_CATEGORIES;
  const given = await readNamedJson("MEMORY_CATEGORIES_FILE", path);
  try {
    return parseCategories(given);
  } catch (cause) {
    throw cause instanceof z.ZodError ? wrongVariable("MEMORY_CATEGORIES_FILE", `${path}\n${z.prettifyError(cause)}`, cause) : cause;
  }
}

export interface ReaderParts {
  readonly dir: string;
  readonly categories: readonly Category[];
  /** Tells the stand-in what sentences mean. */
  readonly embedder: Embedder;
  readonly giveWay: GiveWay;
  readonly logger: Logger;
}

/**
 * Who reads messages: the stand-in beside the stand-in, else the model, by our prompt or by Mem0's. What they propose has yet to
 * be checked.
 */
export async function openReader(
  config: Config,
  model: ChatModel,
  domain: Pick<Domain, "name" | "needs" | "offline" | "tools">,
  { dir, categories, embedder, giveWay, logger }: ReaderParts,
): Promise<MessageReader> {
  const { name, needs = [] } = domain;
  if (model.standIn) {
    const { OfflineReader, sentenceJudgeFor } = await standIn();
    const judge = sentenceJudgeFor({ embedder, logger });
    if (judge === null)
      logger.info(
        { embedder: embedder.id },
        "Without a language model less is remembered with this embedder than with EMBEDDING_PROVIDER=minilm",
      );
    return new OfflineReader({ needs, categories, words: wordsOf(domain), judge, giveWay });
  }
  if (config.MEM0_INFER) return Mem0Reader.open({ dir, model });
  const reader = new LlmReader(model, { name, categories, needs, logger });
  return new ReaderInPlace(reader, plainReader(domain, { categories, giveWay }), logger, model);
}

type ReadDomain = Pick<Domain, "needs" | "offline" | "tools">;

/** What names the domain's needs, its categories and what its tools do, for the stand-in. */
function wordsOf({ needs = [], offline, tools }: ReadDomain): DomainWords {
  const requests = tools.flatMap((tool) => tool.offline?.words ?? []);
  return offline?.words ?? { needs: needWordsOf(needs), requests, categories: {} };
}

/** The stand-in by its rules alone, made when it is first asked. Where its package isn't installed, asking it fails. */
export function plainReader(domain: ReadDomain, { categories, giveWay }: Pick<ReaderParts, "categories" | "giveWay">): MessageReader {
  const opened = loadedOnce(async () => {
    const { OfflineReader } = await standIn();
    return new OfflineReader({ needs: domain.needs ?? [], categories, words: wordsOf(domain), judge: null, giveWay });
  });
  return { name: "rules", read: async (message, options) => (await opened()).read(message, options) };
}

export interface Vectors {
  /** For recall on the reply path: a short timeout of its own. */
  readonly recall: VectorStore;
  readonly memory: VectorStore;
  /** Null when HISTORY_BACKEND is `none`. */
  readonly history: VectorStore | null;
  /** Leaves as little as it can of what was deleted in the stores' files. */
  readonly compact: () => Promise<void>;
  /** Why deleted texts are in them all the same. */
  readonly keepsDeleted: readonly string[];
}

interface ServerParts {
  /** Bound of a call, in milliseconds. */
  readonly timeoutMs: number;
  readonly engine: StateEngine;
  readonly logger: Logger;
}

/** Loaded where it is used, and opened twice, for reading in turns and for all else: the two share nothing in this process's memory. */
const SERVERS: Readonly<Record<Exclude<VectorStoreName, "local">, (config: Config, parts: ServerParts) => Promise<VectorStore>>> = {
  qdrant: async ({ QDRANT_URL: url = "", QDRANT_API_KEY: apiKey }, { timeoutMs }) =>
    openQdrant({ url, ...(apiKey !== undefined && { apiKey }), timeoutMs }),
  pgvector: async ({ DATABASE_URL: url = "", DATABASE_SCHEMA: schema }, { timeoutMs, logger }) =>
    (await import("../vectors/pgvector/pgvector.js")).openPgvector({ url, schema, timeoutMs, logger }),
  chroma: async ({ CHROMA_URL: url = "", VECTOR_CACHE_MIB }, { timeoutMs }) =>
    (await import("../vectors/chroma/chroma.js")).openChroma({ url, timeoutMs, cacheBytes: halfOf(VECTOR_CACHE_MIB) }),
  state: async ({ VECTOR_CACHE_MIB }, { timeoutMs, engine }) =>
    (await import("../vectors/state/state-vectors.js")).stateVectors(engine, { timeoutMs, cacheBytes: halfOf(VECTOR_CACHE_MIB) }),
};

/** Of the cache, in bytes, for each of a server's two clients. */
function halfOf(mebibytes: number): number {
  return (mebibytes / 2) * 2 ** 20;
}

/** One local store serves all that is local; a server has a client for reading in turns and one for everything else. */
export async function openVectors(
  config: Config,
  dir: string | null,
  around: (store: VectorStore, name: VectorStoreName) => VectorStore,
  { closing, logger, engine }: { readonly closing: Closing; readonly logger: Logger; readonly engine: StateEngine },
): Promise<Vectors> {
  /** Each of those that are written, once. */
  const written: VectorStore[] = [];
  const local = loadedOnce(async () => {
    const store = closing(
      await openLocal(dir === null ? ":memory:" : join(dir, "vectors.db"), config.VECTOR_CACHE_MIB * 2 ** 20, logger),
      (it) => it.close(),
    );
    written.push(store);
    return around(store, "local");
  });
  const served = new Map<string, () => Promise<VectorStore>>();
  const store = (name: VectorStoreName, timeoutMs: number) => {
    if (name === "local") return local();
    const open = SERVERS[name];
    const key = `${name} ${timeoutMs}`;
    const openedOnce = loadedOnce(async () => {
      const server = closing(await open(config, { timeoutMs, engine, logger }), (it) => it.close());
      if (timeoutMs === WRITE_TIMEOUT_MS) written.push(server);
      return around(server, name);
    });
    const opened = served.get(key) ?? openedOnce;
    served.set(key, opened);
    return opened();
  };
  // At once: a server that doesn't answer is waited for, once.
  const [recall, memory, history] = await Promise.all([
    store(config.MEM0_PROVIDER, Math.max(config.RECALL_DEADLINE_MS, 1_000)),
    store(config.MEM0_PROVIDER, WRITE_TIMEOUT_MS),
    config.HISTORY_BACKEND === "none" ? null : store(config.HISTORY_BACKEND, WRITE_TIMEOUT_MS),
  ]);
  return { recall, memory, history, ...filesOf(written) };
}

/** One store that the caller brings, for all that is remembered. */
export function givenVectors(config: Config, store: VectorStore): Vectors {
  return { recall: store, memory: store, history: config.HISTORY_BACKEND === "none" ? null : store, ...filesOf([store]) };
}

function filesOf(stores: readonly VectorStore[]): Pick<Vectors, "compact" | "keepsDeleted"> {
  const compact = async () => {
    for (const store of stores) await store.scrub?.();
  };
  return { compact, keepsDeleted: stores.flatMap(({ keepsDeleted }) => keepsDeleted ?? []) };
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
