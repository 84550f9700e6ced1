import OpenAI, { APIUserAbortError } from "openai";
import { z } from "zod";
import type { Logger } from "../platform/logger.js";
import { floatsIn } from "../platform/numbers.js";
import { type OpenAIAccess, openAIClient } from "../platform/openai-client.js";
import { EmbeddingFailure } from "./embedding-failure.js";

export interface OpenAIEmbeddingsOptions extends OpenAIAccess {
  readonly model: string;
  /** Told of every answer: its texts, and their tokens as the service counts them; null where it doesn't tell. Default: nobody is. */
  readonly onTokens?: (texts: readonly string[], tokens: number | null) => void;
  readonly logger?: Logger;
}

/** Options that a request still has: what a service refuses is left out from then on. */
interface Sent {
  readonly dimensions: boolean;
  readonly encoding: boolean;
}

const answerSchema = z.object({
  data: z.array(z.object({ index: z.number().int().nonnegative().optional(), embedding: z.union([z.array(z.number()), z.base64()]) })),
  usage: z.object({ prompt_tokens: z.number().nonnegative() }).nullish().catch(null),
});

/**
 * `POST /embeddings` of one service and model. `dimensions` and `encoding_format` are sent until they are refused: OpenAI's older
 * models, Ollama
 * and most local servers know no `dimensions`, some no `encoding_format`. A refusal that names neither is tried once without both.
 */
export class OpenAIEmbeddings {
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #logger: Logger | undefined;
  readonly #onTokens: OpenAIEmbeddingsOptions["onTokens"];
  #sent: Sent = { dimensions: true, encoding: true };
  /** Whether the service took what is sent now. */
  #taken = false;

  constructor(options: OpenAIEmbeddingsOptions) {
    this.#model = options.model;
    this.#logger = options.logger;
    this.#onTokens = options.onTokens;
    this.#client = openAIClient(options);
  }

  /** False once the service has refused to be told one: its vectors then are as long as they are. */
  get takesDimensions(): boolean {
    return this.#sent.dimensions;
  }

  /** One request, more where an option is refused. In the order of the texts. @throws EmbeddingFailure, the signal's reason */
  async vectors(
    texts: readonly string[],
    options: { readonly dimension: number; readonly signal?: AbortSignal | undefined; readonly timeoutMs: number },
  ): Promise<Float32Array[]> {
    for (;;) {
      const sent = this.#sent;
      try {
        const vectors = await this.#post(texts, sent, options);
        this.#taken = true;
        return vectors;
      } catch (error) {
        if (!(error instanceof EmbeddingFailure)) throw error;
        if (error.namesEncoding && sent.encoding) this.#leaveOut({ ...sent, encoding: false });
        else if (error.namesDimensions && sent.dimensions) this.#leaveOut({ ...sent, dimensions: false });
        else if (this.#mayBeAboutOptions(error, sent)) return this.#plain(texts, options, error);
        else throw error;
      }
    }
  }

  #mayBeAboutOptions(error: EmbeddingFailure, sent: Sent): boolean {
    if (this.#taken || !(sent.dimensions || sent.encoding)) return false;
    return error.isAboutTheRequest && !error.textTooLong && !error.tooManyTexts;
  }

  /** Without any option; the first refusal stands where that is refused as well. */
  async #plain(
    texts: readonly string[],
    options: Parameters<OpenAIEmbeddings["vectors"]>[1],
    first: EmbeddingFailure,
  ): Promise<Float32Array[]> {
    const plain = { dimensions: false, encoding: false };
    try {
      const vectors = await this.#post(texts, plain, options);
      this.#taken = true;
      this.#leaveOut(plain);
      return vectors;
    } catch (error) {
      throw error instanceof EmbeddingFailure ? first : error;
    }
  }

  #leaveOut(next: Sent): void {
    const before = this.#sent;
    this.#sent = { dimensions: before.dimensions && next.dimensions, encoding: before.encoding && next.encoding };
    const left = [
      ...(before.dimensions && !next.dimensions ? ["dimensions"] : []),
      ...(before.encoding && !next.encoding ? ["encoding_format"] : []),
    ];
    if (left.length > 0)
      this.#logger?.info({ model: this.#model, left_out: left }, "the embedder refuses an option, which is left out from now on");
  }

  async #post(
    texts: readonly string[],
    sent: Sent,
    { dimension, signal, timeoutMs }: Parameters<OpenAIEmbeddings["vectors"]>[1],
  ): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    try {
      const body = {
        model: this.#model,
        input: [...texts],
        ...(sent.encoding && { encoding_format: "float" }),
        ...(sent.dimensions && { dimensions: dimension }),
      };
      // Not `embeddings.create`: without an `encoding_format` it asks for base64.
      const answer: unknown = await this.#client.post("/embeddings", {
        body,
        headers: { "X-Maitred-Task": "embedding" },
        ...(signal === undefined ? {} : { signal }),
        timeout: timeoutMs,
      });
      const { vectors, tokens } = answerOf(answer, texts.length);
      this.#onTokens?.(texts, tokens);
      return vectors;
    } catch (error) {
      if (error instanceof APIUserAbortError || signal?.aborted) throw signal?.reason ?? error;
      throw failureOf(error);
    }
  }
}

/** In the order of the request, whatever the order of the answer. */
function answerOf(answer: unknown, count: number): { readonly vectors: Float32Array[]; readonly tokens: number | null } {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success || parsed.data.data.length !== count) throw new EmbeddingFailure("unreadable");
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  parsed.data.data.forEach(({ index, embedding }, position) => {
    vectors[index ?? position] = typeof embedding === "string" ? floatsIn(embedding) : Float32Array.from(embedding);
  });
  const whole = vectors.slice(0, count).map((vector) => {
    if (vector === undefined || vector.length === 0 || !vector.every(Number.isFinite)) throw new EmbeddingFailure("unreadable");
    return vector;
  });
  // Some services tell 0.
  return { vectors: whole, tokens: parsed.data.usage?.prompt_tokens || null };
}

function failureOf(error: unknown): EmbeddingFailure {
  if (error instanceof EmbeddingFailure) return error;
  if (error instanceof OpenAI.APIConnectionTimeoutError) return new EmbeddingFailure("timeout");
  if (error instanceof OpenAI.APIConnectionError) return new EmbeddingFailure("unreachable");
  if (!(error instanceof OpenAI.APIError) || error.status === undefined) return new EmbeddingFailure("unreadable");
  const raw = (error.error as { readonly raw?: unknown } | undefined)?.raw;
  const words = typeof raw === "string" ? raw : "";
  return new EmbeddingFailure("refused", { status: error.status, words, header: (name) => error.headers?.get(name) });
}
