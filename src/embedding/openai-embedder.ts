import { setTimeout as sleep } from "node:timers/promises";
import { handleWhen, retry } from "cockatiel";
import { batchesOf } from "../platform/bounded-parallel.js";
import { AppError, isAppError } from "../platform/errors.js";
import { estimatedTokens, type TokenCounter, tokenCounterFor } from "../platform/tokens.js";
import type { Embedder, EmbeddingKind, EmbedOptions } from "../ports/embedding.js";
import { cutToTokens, EmbeddingFailure } from "./embedding-failure.js";
import { embeddingModelFacts } from "./embedding-models.js";
import { OpenAIEmbeddings, type OpenAIEmbeddingsOptions } from "./openai-embeddings.js";

/** Texts in one request (OpenAI takes 2,048, Gemini 100). Halved where a service takes fewer. */
const MAX_BATCH_TEXTS = 96;
/** Bytes of the texts of one request: services cap it (OpenAI: 300,000 tokens). */
const MAX_BATCH_BYTES = 200_000;
/** A service that takes less of a text than this has something else against it. */
const LEAST_TOKENS = 64;
const PROBE = "dimension";
/** How long the start waits for the service. */
const PROBE_MS = 5_000;
/** A reply waits for a query, nobody for a document. */
const QUERY_WAIT_MS = 200;
const DOCUMENT_WAIT_MS = 5_000;
/** Of one request: under the bound of the stores' calls, which go on without a vector. Slow machines embed many texts. */
const QUERY_MS = 3_000;
const DOCUMENTS_MS = 5_000;
const DOCUMENT_MS = 500;
/** How long a service that asks for time is left alone, at most, in milliseconds. */
const LONGEST_REST_MS = 10 * 60_000;

export interface OpenAIEmbedderOptions extends Omit<OpenAIEmbeddingsOptions, "onTokens"> {
  /** Asked for wherever the service takes it. */
  readonly dimension: number;
  /**
   * What to do where the model's vectors have another length. Absent: the dimension was set, and is insisted on. Else it is a default,
   * which
   * gives way to the model's own; `stored` is that of the vectors that are kept, for a service that is out of reach at start.
   */
  readonly adapt?: { readonly stored: number | null };
  /** Of one request, at most. Default: 3,000 for a query; for documents 5,000, and 500 for each. */
  readonly timeoutMs?: number;
  /** Tries after the first, on connection errors, 408, 409, 425, 429 and 5xx; a query has at most one. Default 2. */
  readonly maxRetries?: number;
  /** Told of every answer: the tokens of its texts, as the service counts them, or estimated where it doesn't. Default: nobody is. */
  readonly onTokens?: (tokens: { readonly tokens: number; readonly estimated: boolean }) => void;
}

/** Embeds through any OpenAI-compatible `/embeddings` endpoint. Vectors come back normalised or not, as the service gives them. */
export class OpenAIEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly remote = true;
  readonly #endpoint: OpenAIEmbeddings;
  readonly #model: string;
  readonly #counter: TokenCounter | null;
  readonly #retries: number;
  readonly #timeoutMs: number;
  #maxTokens: number;
  #maxTexts = MAX_BATCH_TEXTS;
  #rest: { readonly until: number; readonly failure: EmbeddingFailure } | null = null;
  #problem: string | null;

  private constructor(
    endpoint: OpenAIEmbeddings,
    options: OpenAIEmbedderOptions,
    found: { readonly dimension: number; readonly counter: TokenCounter | null; readonly problem: string | null },
  ) {
    this.#endpoint = endpoint;
    this.#model = options.model;
    this.#retries = options.maxRetries ?? 2;
    this.#timeoutMs = options.timeoutMs ?? Number.POSITIVE_INFINITY;
    this.#counter = found.counter;
    this.#maxTokens = embeddingModelFacts(options.model).maxTokens;
    this.#problem = found.problem;
    this.dimension = found.dimension;
    this.id = `openai-${options.model}-${found.dimension}`;
  }

  /**
   * Asks the service for one vector and looks at its length. A service that fails or is out of reach doesn't stop the start: it is logged
   * and stands in {@link problem}, and every later answer is checked all the same.
   * @throws INVALID_CONFIG when the dimension was set and the model's is another one
   */
  static async open(options: OpenAIEmbedderOptions & { readonly signal?: AbortSignal }): Promise<OpenAIEmbedder> {
    const { model, logger, signal } = options;
    const { openaiTokens } = embeddingModelFacts(model);
    const counter = openaiTokens ? await tokenCounterFor("text-embedding-3-small", logger) : null;
    const { onTokens, ...endpointOptions } = options;
    const endpoint = new OpenAIEmbeddings({
      ...endpointOptions,
      onTokens: (texts, told) => onTokens?.({ tokens: told ?? countAll(texts, counter ?? estimatedTokens), estimated: told === null }),
    });
    try {
      const probe = { dimension: options.dimension, signal, timeoutMs: Math.min(options.timeoutMs ?? PROBE_MS, PROBE_MS) };
      const [vector] = await endpoint.vectors([PROBE], probe);
      const dimension = fitting(options, vector?.length ?? 0, endpoint.takesDimensions);
      return new OpenAIEmbedder(endpoint, options, { dimension, counter, problem: null });
    } catch (error) {
      if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
      if (!(error instanceof EmbeddingFailure)) throw error;
      const told = error.asAppError(model);
      const problem = `${told.message} ${told.hint}`;
      logger?.warn({ model, reason: told.message, hint: told.hint }, "the embedder failed at start; its dimension was not checked");
      return new OpenAIEmbedder(endpoint, options, { dimension: options.adapt?.stored ?? options.dimension, counter, problem });
    }
  }

  get problem(): string | null {
    return this.#problem;
  }

  async embed(texts: readonly string[], { kind = "document", signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    try {
      const vectors: Float32Array[] = [];
      // Empty input is refused by services.
      const sent = texts.map((text) => (text.trim() === "" ? " " : text));
      for (const batch of batchesOf(await this.#cut(sent), this.#maxTexts, { size: MAX_BATCH_BYTES, sizeOf: Buffer.byteLength }))
        for (const vector of await this.#batch(batch, kind, signal)) vectors.push(this.#checked(vector));
      if (texts.length > 0) this.#problem = null;
      return vectors;
    } catch (error) {
      if (signal?.aborted) throw new AppError("ABORTED", { cause: error });
      const told = error instanceof EmbeddingFailure ? error.asAppError(this.#model) : error;
      if (isAppError(told)) this.#problem = `${told.message} ${told.hint}`;
      throw told;
    }
  }

  /** What a service says is too much is asked again in smaller pieces, and not tried again in that size. */
  async #batch(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const patience: Patience =
      kind === "query"
        ? { retries: Math.min(1, this.#retries), maxWaitMs: QUERY_WAIT_MS }
        : { retries: this.#retries, maxWaitMs: DOCUMENT_WAIT_MS };
    const bound = kind === "query" ? QUERY_MS : DOCUMENTS_MS + texts.length * DOCUMENT_MS;
    const request = { dimension: this.dimension, signal, timeoutMs: Math.min(this.#timeoutMs, bound) };
    try {
      return await withRetries(() => this.#awake(() => this.#endpoint.vectors(texts, request)), patience, signal);
    } catch (error) {
      if (!(error instanceof EmbeddingFailure)) throw error;
      if (error.tooManyTexts && texts.length > 1) {
        const half = Math.ceil(texts.length / 2);
        this.#maxTexts = Math.min(this.#maxTexts, half);
        return [...(await this.#batch(texts.slice(0, half), kind, signal)), ...(await this.#batch(texts.slice(half), kind, signal))];
      }
      if (!error.textTooLong || this.#maxTokens < 2 * LEAST_TOKENS) throw error;
      this.#maxTokens = Math.floor(this.#maxTokens / 2);
      return this.#batch(await this.#cut(texts), kind, signal);
    }
  }

  /** Asks for nothing as long as the service wants to be left alone. */
  async #awake<T>(ask: () => Promise<T>): Promise<T> {
    const restMs = (this.#rest?.until ?? 0) - performance.now();
    // Who has waited for it may come a millisecond early.
    if (this.#rest !== null && restMs > 1) throw this.#rest.failure.after(restMs);
    try {
      return await ask();
    } catch (error) {
      const waitMs = error instanceof EmbeddingFailure && error.passing ? error.retryAfterMs : null;
      if (error instanceof EmbeddingFailure && waitMs !== null)
        this.#rest = { until: performance.now() + Math.min(waitMs, LONGEST_REST_MS), failure: error };
      throw error;
    }
  }

  async #cut(texts: readonly string[]): Promise<readonly string[]> {
    const cut: string[] = [];
    for (const text of texts) cut.push(await cutToTokens(text, this.#maxTokens, this.#counter));
    return cut;
  }

  #checked(vector: Float32Array): Float32Array {
    if (vector.length === this.dimension) return vector;
    throw new AppError("EMBEDDING_UNAVAILABLE", {
      detail: `The embedder answered with vectors of ${vector.length} numbers instead of ${this.dimension}.`,
      hint: howToFit(vector.length),
    });
  }
}

function countAll(texts: readonly string[], counter: TokenCounter): number {
  return texts.reduce((sum, text) => sum + counter.count(text), 0);
}

/** @throws INVALID_CONFIG */
function fitting({ dimension, adapt, model, logger }: OpenAIEmbedderOptions, length: number, takesDimensions: boolean): number {
  if (length === dimension) return dimension;
  if (adapt === undefined)
    throw new AppError("INVALID_CONFIG", {
      detail: `MEMORY_EMBEDDING_DIMENSIONALITY is ${dimension}, but ${model} makes vectors of dimension ${length}.`,
      hint: howToFit(length),
    });
  logger?.info(
    { model, dimension: length, takes_dimensions: takesDimensions },
    `the embedder's own dimension is used; MEMORY_EMBEDDING_DIMENSIONALITY=${length} says so for good`,
  );
  return length;
}

function howToFit(length: number): string {
  return `Set MEMORY_EMBEDDING_DIMENSIONALITY=${length}, then run \`maitred reindex\` if there is stored data.`;
}

export interface Patience {
  /** Tries after the first. */
  readonly retries: number;
  /** Longest wait before one of them, in milliseconds. A service that asks for more is not waited for at all. */
  readonly maxWaitMs: number;
}

const FIRST_WAIT_MS = 100;

/**
 * Tries again what may pass, after what `Retry-After` says or with exponential backoff and jitter, within bounds; the wait ends at once
 * with
 * the signal (the SDK's own does not: openai/openai-node#2580).
 */
export async function withRetries<T>(work: () => Promise<T>, patience: Patience, signal: AbortSignal | undefined): Promise<T> {
  let attempt = 0;
  let waitMs = 0;
  const again = handleWhen((error) => {
    if (!(error instanceof EmbeddingFailure) || !error.passing) return false;
    waitMs = error.retryAfterMs ?? Math.min(patience.maxWaitMs, FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2));
    return waitMs <= patience.maxWaitMs;
  });
  // The policy's own delay pays no heed to a signal: the wait is ours.
  const policy = retry(again, { maxAttempts: patience.retries, backoff: { next: () => NO_DELAY } });
  return policy.execute(async ({ attempt: now }) => {
    attempt = now;
    if (now > 0) await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
    return work();
  });
}

const NO_DELAY = { duration: 0, next: () => NO_DELAY };
