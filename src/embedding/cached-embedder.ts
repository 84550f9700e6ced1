import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { AppError } from "../platform/errors.js";
import type { Embedder, EmbeddingKind, EmbedOptions } from "../ports/embedding.js";

/** Texts whose vectors are kept: what some dozens of turns ask for. */
const MAX_TEXTS = 256;
/** A turn with its write-back has passed by then. */
const KEPT_MS = 10 * 60_000;
/** Calls with more are bulk (reindex, import): kept, they would only drive the turns' texts out. */
const MAX_CALL_TEXTS = 16;

/** One call of the embedder, which several callers may wait for. It is given up when the last of them goes away. */
interface Call {
  readonly vectors: Promise<readonly Float32Array[]>;
  readonly controller: AbortController;
  waiting: number;
  /** It has ended, well or not: there is nothing to give up. */
  over: boolean;
}

interface Pending {
  readonly call: Call;
  readonly index: number;
}

/**
 * Remembers the vectors of the last texts by their hash, and asks for no text twice at once: recall, history search, extraction and
 * write-back
 * all want that of the user's message. Neither texts nor owners are kept. Failures are not remembered.
 */
export class CachedEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical: boolean;
  readonly remote: boolean;
  readonly byKind: boolean;
  readonly #inner: Embedder;
  readonly #kept = new LRUCache<string, Float32Array>({ max: MAX_TEXTS, ttl: KEPT_MS });
  /** Calls for one text that are under way, by what it is for. */
  readonly #pending: Readonly<Record<EmbeddingKind, Map<string, Pending>>> = { query: new Map(), document: new Map() };

  constructor(inner: Embedder) {
    this.#inner = inner;
    this.id = inner.id;
    this.dimension = inner.dimension;
    this.lexical = inner.lexical;
    this.remote = inner.remote ?? false;
    this.byKind = inner.byKind ?? false;
  }

  relevantFrom(query: Float32Array): number {
    return this.#inner.relevantFrom?.(query) ?? Number.NEGATIVE_INFINITY;
  }

  get problem(): string | null {
    return this.#inner.problem ?? null;
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const { kind = "document", signal, background = false } = options;
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    if (texts.length > MAX_CALL_TEXTS || background) return this.#inner.embed(texts, { ...options, kind });
    const keys = texts.map((text) => this.#keyOf(text, kind));
    const found = new Map<string, Float32Array>();
    const fresh = new Map<string, string>();
    const joined = new Map<string, Pending>();
    for (const [index, key] of keys.entries()) {
      const kept = this.#kept.get(key);
      // What is to be found may stand behind somebody else's batch: who waits for an answer does not wait there.
      const pending = this.#pending.query.get(key) ?? (kind === "document" ? this.#pending.document.get(key) : undefined);
      if (kept !== undefined) found.set(key, kept);
      else if (pending !== undefined) joined.set(key, pending);
      else fresh.set(key, texts[index] ?? "");
    }
    if (fresh.size > 0) for (const [key, pending] of this.#start(fresh, kind)) joined.set(key, pending);
    await waitFor(new Set([...joined.values()].map(({ call }) => call)), signal);
    for (const [key, { call, index }] of joined) {
      const vector = (await call.vectors)[index];
      if (vector !== undefined) found.set(key, vector);
    }
    // An embedder that answers with too few is found out by who asked.
    return keys.flatMap((key) => found.get(key) ?? []);
  }

  #start(fresh: ReadonlyMap<string, string>, kind: EmbeddingKind): ReadonlyMap<string, Pending> {
    const controller = new AbortController();
    const keys = [...fresh.keys()];
    const vectors = (async () => this.#inner.embed([...fresh.values()], { kind, signal: controller.signal }))();
    const call: Call = { vectors, controller, waiting: 0, over: false };
    const started = new Map(keys.map((key, index): [string, Pending] => [key, { call, index }]));
    // Who joins a call waits for all of its texts, which may be somebody else's: only a text that stands alone is joined.
    if (keys.length === 1) for (const [key, pending] of started) this.#pending[kind].set(key, pending);
    const forget = () => {
      call.over = true;
      for (const [key, pending] of started) if (this.#pending[kind].get(key) === pending) this.#pending[kind].delete(key);
    };
    controller.signal.addEventListener("abort", forget, { once: true });
    vectors.then((made) => {
      forget();
      for (const [index, key] of keys.entries()) {
        const vector = made[index];
        if (vector !== undefined && made.length === keys.length) this.#kept.set(key, vector);
      }
    }, forget);
    return started;
  }

  #keyOf(text: string, kind: EmbeddingKind): string {
    return hash("sha256", `${this.byKind ? kind : ""}\0${text}`, "base64");
  }
}

/** Resolves when all have. @throws what a call fails with; ABORTED as soon as the signal aborts */
async function waitFor(calls: ReadonlySet<Call>, signal: AbortSignal | undefined): Promise<void> {
  for (const call of calls) call.waiting += 1;
  let aborted = () => {};
  try {
    const left = new Promise<never>((_, reject) => {
      aborted = () => reject(new AppError("ABORTED", { cause: signal?.reason }));
      signal?.addEventListener("abort", aborted, { once: true });
    });
    await Promise.race([Promise.all([...calls].map(({ vectors }) => vectors)), left]);
  } finally {
    signal?.removeEventListener("abort", aborted);
    for (const call of calls) {
      call.waiting -= 1;
      if (call.waiting === 0 && !call.over) call.controller.abort();
    }
  }
}

interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/**
 * Puts a model's prefixes before its texts (`search_query: …`, `search_document: …`). Stored vectors depend on the one for documents, so
 * the id does too. The embedder itself where there are none.
 */
export function prefixedEmbedder(inner: Embedder, prefixes: Prefixes): Embedder {
  const { query, document } = prefixes;
  if (query === "" && document === "") return inner;
  const mark = hash("sha256", document).slice(0, 8);
  return {
    id: document === "" ? inner.id : `${inner.id}-${mark}`,
    dimension: inner.dimension,
    lexical: inner.lexical,
    remote: inner.remote ?? false,
    byKind: (inner.byKind ?? false) || query !== document,
    get problem() {
      return inner.problem ?? null;
    },
    embed(texts, options: EmbedOptions = {}) {
      const prefix = prefixes[options.kind ?? "document"];
      const prefixed = texts.map((text) => prefix + text);
      return inner.embed(prefixed, options);
    },
  };
}
