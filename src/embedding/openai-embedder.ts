import OpenAI, { APIUserAbortError } from "openai";
import { z } from "zod";
import type { Embedder } from "../embedding.js";
import { AppError, isAppError } from "../errors.js";
import type { Logger } from "../platform/logger.js";

/** Texts in one request, and bytes of them: services cap both (OpenAI: 2,048 texts, 300,000 tokens). */
const MAX_BATCH_TEXTS = 96;
const MAX_BATCH_BYTES = 200_000;
/** What is longer is cut before it is embedded: models take some 8,000 tokens of one text. */
const MAX_TEXT_BYTES = 16_000;
const PROBE = "dimension";

export interface OpenAIEmbedderOptions {
  /** Absent for services that ask for none (Ollama, vLLM). */
  readonly apiKey?: string;
  /** Default OpenAI's own. */
  readonly baseUrl?: string;
  readonly model: string;
  readonly dimension: number;
  /** Of one try. Default 10,000. */
  readonly timeoutMs?: number;
  /** Tries after the first, on connection errors, 408, 409, 429 and 5xx, with backoff. Default 2. */
  readonly maxRetries?: number;
  /** Whether the request names the dimension. Default: for OpenAI's `text-embedding-3-*` alone, as others refuse or ignore it. */
  readonly sendDimensions?: boolean;
  readonly logger?: Logger;
}

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().nonnegative().optional(), embedding: z.array(z.number()) })),
});

/** Embeds through any OpenAI-compatible `/embeddings` endpoint. Vectors come back normalised or not, as the service gives them. */
export class OpenAIEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #sendDimensions: boolean;

  private constructor(client: OpenAI, options: OpenAIEmbedderOptions) {
    this.#client = client;
    this.#model = options.model;
    this.#sendDimensions = options.sendDimensions ?? /^text-embedding-3/.test(options.model);
    this.dimension = options.dimension;
    this.id = `openai-${options.model}-${options.dimension}`;
  }

  /**
   * Asks the service for one vector and compares its dimension. A service that is out of reach doesn't stop the start:
   * it is logged, and every later answer is checked all the same.
   * @throws INVALID_CONFIG when the model's dimension is another one
   */
  static async open(options: OpenAIEmbedderOptions & { readonly signal?: AbortSignal }): Promise<OpenAIEmbedder> {
    const client = new OpenAI({
      // The SDK refuses to start without a key; services that need none ignore it.
      apiKey: options.apiKey ?? "none",
      ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
      timeout: options.timeoutMs ?? 10_000,
      maxRetries: options.maxRetries ?? 2,
      logLevel: "off",
    });
    const embedder = new OpenAIEmbedder(client, options);
    try {
      const [vector] = await embedder.#request([PROBE], options.signal, 0);
      if (vector !== undefined && vector.length !== options.dimension)
        throw new AppError("INVALID_CONFIG", {
          detail: `MEMORY_EMBEDDING_DIMENSIONALITY is ${options.dimension}, but ${options.model} makes vectors of dimension ${vector.length}.`,
          hint: `Set MEMORY_EMBEDDING_DIMENSIONALITY=${vector.length}, then run \`maitred reindex\` if there is stored data.`,
        });
    } catch (error) {
      if (!isAppError(error, "EMBEDDING_UNAVAILABLE")) throw error;
      options.logger?.warn({ model: options.model, reason: error.message }, "the embedder can't be reached; its dimension was not checked");
    }
    return embedder;
  }

  async embed(texts: readonly string[], options: { readonly signal?: AbortSignal } = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const batch of batchesOf(texts.map(sendable))) {
      for (const vector of await this.#request(batch, options.signal)) {
        if (vector.length !== this.dimension)
          throw new AppError("EMBEDDING_UNAVAILABLE", {
            detail: `The embedder answered with dimension ${vector.length} instead of ${this.dimension}.`,
          });
        vectors.push(vector);
      }
    }
    return vectors;
  }

  async #request(texts: readonly string[], signal: AbortSignal | undefined, maxRetries?: number): Promise<Float32Array[]> {
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    try {
      const answer: unknown = await this.#client.embeddings.create(
        {
          model: this.#model,
          input: [...texts],
          encoding_format: "float",
          ...(this.#sendDimensions ? { dimensions: this.dimension } : {}),
        },
        { ...(signal === undefined ? {} : { signal }), ...(maxRetries === undefined ? {} : { maxRetries }) },
      );
      return vectorsOf(answer, texts.length);
    } catch (error) {
      if (error instanceof APIUserAbortError || signal?.aborted) throw new AppError("ABORTED", { cause: error });
      if (error instanceof AppError) throw error;
      throw new AppError("EMBEDDING_UNAVAILABLE", { detail: reasonOf(error), cause: error });
    }
  }
}

/** In the order of the request, whatever the order of the answer. */
function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success || parsed.data.data.length !== count)
    throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The embedder's answer is not one vector for each text." });
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  parsed.data.data.forEach((entry, position) => {
    vectors[entry.index ?? position] = Float32Array.from(entry.embedding);
  });
  return vectors.slice(0, count).map((vector) => {
    if (vector === undefined || vector.length === 0 || !vector.every(Number.isFinite))
      throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The embedder's answer lacks a vector." });
    return vector;
  });
}

/** The class of what went wrong, without the request: no text and no key. */
function reasonOf(error: unknown): string {
  if (error instanceof OpenAI.APIConnectionTimeoutError) return "The embedder took too long.";
  if (error instanceof OpenAI.APIConnectionError) return "The embedder can't be reached.";
  if (error instanceof OpenAI.APIError && error.status !== undefined) return `The embedder answered with status ${error.status}.`;
  return "The embedder's answer can't be read.";
}

/** Empty input is refused by services, over-long input as well. Cut at a character, not within one. */
function sendable(text: string): string {
  if (text.trim() === "") return " ";
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, MAX_TEXT_BYTES)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}

function* batchesOf(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (batch.length > 0 && (batch.length >= MAX_BATCH_TEXTS || bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
