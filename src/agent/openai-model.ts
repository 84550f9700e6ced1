import OpenAI from "openai";
import type { ChatModel, ModelEvent, ModelRequest } from "../agent.js";
import { AppError } from "../errors.js";
import { boundedStream } from "./bounded-stream.js";
import { type Dialect, narrowed, OPENAI_DIALECT, toParams } from "./openai-dialect.js";
import { toEvents } from "./openai-stream.js";

export interface OpenAIModelOptions {
  readonly model: string;
  /** Absent for endpoints that ask for none. */
  readonly apiKey?: string;
  /** Any OpenAI-compatible endpoint: Azure's `/openai/v1/`, Ollama, vLLM. Default OpenAI. */
  readonly baseUrl?: string;
  /** Milliseconds for one call, retries included. Default 60,000. */
  readonly timeoutMs?: number;
  /** On connection errors, 408, 409, 429 and 5xx, before the first token only; backoff and Retry-After are the SDK's. Default 2. */
  readonly maxRetries?: number;
  /** Tokens of the model's window, where it is known. */
  readonly contextTokens?: number;
}

/**
 * Chat Completions, streamed, through the `openai` SDK. An option that the endpoint refuses (`response_format: json_schema`,
 * `stream_options`, `max_completion_tokens`) is replaced by what it may know, and stays replaced for this instance.
 * Errors name the status alone: what an endpoint answers may repeat the request, and with it the key.
 */
export class OpenAIModel implements ChatModel {
  readonly name: string;
  readonly standIn = false;
  readonly contextTokens?: number;
  readonly #client: OpenAI;
  readonly #timeoutMs: number;
  #dialect: Dialect = OPENAI_DIALECT;

  constructor(options: OpenAIModelOptions) {
    this.name = options.model;
    if (options.contextTokens !== undefined) this.contextTokens = options.contextTokens;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#client = new OpenAI({
      // The SDK insists on one; endpoints that ask for none pass it over.
      apiKey: options.apiKey ?? "none",
      baseURL: options.baseUrl ?? "https://api.openai.com/v1",
      adminAPIKey: null,
      organization: null,
      project: null,
      timeout: this.#timeoutMs,
      maxRetries: options.maxRetries ?? 2,
      logLevel: "off",
    });
  }

  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    return boundedStream((signal) => this.#events(request, signal), { signal: options.signal, timeoutMs: this.#timeoutMs });
  }

  async *#events(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    try {
      yield* toEvents(await this.#open(request, signal));
    } catch (error) {
      throw withoutContent(error);
    }
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<unknown>> {
    for (;;) {
      const dialect = this.#dialect;
      try {
        return await this.#client.chat.completions.create(toParams(request, this.name, dialect), { signal });
      } catch (error) {
        const refused = error instanceof OpenAI.APIError && (error.status === 400 || error.status === 422);
        const next = refused ? narrowed(dialect, request, error.message) : null;
        if (next === null) throw error;
        this.#dialect = next;
      }
    }
  }
}

/** Neither message nor cause of the original: both may hold the request. */
function withoutContent(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof OpenAI.APIConnectionTimeoutError) return new AppError("MODEL_TIMEOUT");
  if (error instanceof OpenAI.APIConnectionError)
    return new AppError("MODEL_UNAVAILABLE", { detail: "The model's endpoint can't be reached." });
  if (error instanceof OpenAI.APIError && error.status !== undefined) return ofStatus(error.status, error.headers?.get("retry-after"));
  return new AppError("MODEL_UNAVAILABLE", { detail: "The model's answer broke off or could not be read." });
}

function ofStatus(status: number, retryAfter: string | null | undefined): AppError {
  const detail = `The model's endpoint answered with status ${status}.`;
  if (status === 401 || status === 403)
    return new AppError("MODEL_UNAVAILABLE", { detail, hint: "Check OPENAI_API_KEY and OPENAI_BASE_URL." });
  if (status === 404) return new AppError("MODEL_UNAVAILABLE", { detail, hint: "Check OPENAI_MODEL and OPENAI_BASE_URL." });
  const seconds = Number(retryAfter);
  return new AppError("MODEL_UNAVAILABLE", { detail, ...(retryAfter && Number.isFinite(seconds) && { retryAfterSeconds: seconds }) });
}
