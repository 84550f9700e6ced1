import type { ChatModel, ModelCallOptions, ModelEvent, ModelMeasure, ModelRequest } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./answer-sorter.js";
import { type Endpoint, takesImages } from "./attempts.js";
import { type Capabilities, capabilityFacts } from "./capabilities.js";
import { contextTokensIn, loadedContextTokens, propsContextTokens } from "./context-length.js";
import { callEndpoint, type EndpointOptions, endpointOf, measureOf, problemOf } from "./endpoint.js";
import { chatEvents } from "./openai-chat-answer.js";
import { chatBody } from "./openai-chat-request.js";
import { OPENAI_URL, OpenAIEndpoint, type OpenAIEndpointOptions } from "./openai-endpoint.js";
import { responsesEvents } from "./openai-responses-answer.js";
import { responsesBody } from "./openai-responses-request.js";
import { hasImages } from "./refusals.js";
import { LONGEST_CALL_MS } from "./speed.js";

/** How often an endpoint is asked for its window that doesn't tell it, and how long that may take, in milliseconds. */
const MOST_LOOKS = 2;
const LOOK_MS = 1_000;
/** How long a guest's answer waits for that: an endpoint that tells it does so at once. */
const GUEST_WAITS_MS = 250;

export interface OpenAIModelOptions extends EndpointOptions, Omit<Partial<OpenAIEndpointOptions>, "timeoutMs"> {
  readonly model: string;
  /** `auto`, the default: the Responses API at OpenAI itself, Chat Completions elsewhere. */
  readonly api?: "auto" | "responses" | "chat";
  /** Whether a key for the endpoint's cache is sent. `auto`, the default: to OpenAI itself. */
  readonly cacheKeys?: "auto" | "always" | "never";
  /** How long a reasoning model thinks, in its provider's words (`low`, `high`). Default: the model's own. */
  readonly effort?: string;
}

/**
 * A model over the `openai` SDK: the Responses API at OpenAI itself, Chat Completions at whatever is compatible. What an endpoint
 * refuses by
 * name is replaced by what it may know, and stays replaced. Errors name the status alone: what an endpoint answers may repeat the request.
 */
export class OpenAIModel implements ChatModel {
  readonly name: string;
  readonly standIn = false;
  readonly contextTokens?: number;
  readonly #http: OpenAIEndpoint;
  readonly #endpoint: Endpoint;
  readonly #responses: boolean;
  readonly #cacheKeys: boolean;
  readonly #effort: string | undefined;
  readonly #isOpenAI: boolean;
  #looks = 0;
  #looking: Promise<void> | undefined;

  constructor(options: OpenAIModelOptions) {
    this.name = options.model;
    if (options.contextTokens !== undefined) this.contextTokens = options.contextTokens;
    this.#http = new OpenAIEndpoint({ ...options, timeoutMs: LONGEST_CALL_MS });
    this.#effort = options.effort;
    const { api = "auto", cacheKeys = "auto" } = options;
    const isOpenAI = new URL(this.#http.url).host === new URL(OPENAI_URL).host;
    this.#isOpenAI = isOpenAI;
    this.#responses = api === "responses" || (api === "auto" && isOpenAI);
    this.#cacheKeys = cacheKeys === "always" || (cacheKeys === "auto" && isOpenAI);
    this.#endpoint = endpointOf(options, {
      address: `openai-${this.#responses ? "responses" : "chat"} ${this.#http.url}`,
      model: options.model,
      settings: "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API",
      secrets: [...(options.apiKey === undefined ? [] : [options.apiKey]), ...Object.values(options.headers ?? {})],
    });
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelEvent, void, undefined> {
    const learnt = this.#learnWindow();
    await ((request.task ?? "chat") === "chat" ? withinMs(learnt, GUEST_WAITS_MS) : learnt);
    try {
      yield* callEndpoint(this.#endpoint, request, options, (...args) => this.#ask(...args));
    } finally {
      // Some tell it once they have answered.
      void this.#learnWindow();
    }
  }

  /** Never throws. */
  async #learnWindow(): Promise<void> {
    const { known, address, model, contextTokens: set } = this.#endpoint;
    if (this.#isOpenAI || set !== undefined || known.of(address, model).contextTokens !== null || this.#looks >= MOST_LOOKS) return;
    this.#looking ??= this.askContextTokens(AbortSignal.timeout(LOOK_MS)).then((contextTokens) => {
      this.#looks += 1;
      this.#looking = undefined;
      if (contextTokens !== null) known.learn(address, model, { contextTokens });
    });
    await this.#looking;
  }

  measured(): ModelMeasure {
    return measureOf(this.#endpoint);
  }

  problem(): string | null {
    return problemOf(this.#endpoint);
  }

  readsMessages(reads: boolean): void {
    const { known, address, model } = this.#endpoint;
    known.learn(address, model, { reads });
  }

  takesImages(): boolean {
    return takesImages(this.#endpoint);
  }

  facts(): readonly string[] {
    const { known, address, model } = this.#endpoint;
    return [this.#responses ? "over the Responses API" : "over Chat Completions", ...capabilityFacts(known.of(address, model))];
  }

  async askContextTokens(signal: AbortSignal): Promise<number | null> {
    const { known, address, model } = this.#endpoint;
    const get = (path: string) => this.#http.get(new URL(path, this.#http.url).href, signal);
    const listed = contextTokensIn(await this.#http.get("/models", signal), model);
    if (listed !== null || this.#isOpenAI) return listed;
    // Ollama, which cuts in silence what is longer, LM Studio and llama.cpp tell what a model was loaded with at places of their own.
    const [running, rest, props] = await Promise.all([get("/api/ps"), get("/api/v0/models"), get("/props")]);
    const loaded = loadedContextTokens(running, model) ?? contextTokensIn(rest, model) ?? propsContextTokens(props);
    return loaded ?? known.of(address, model).contextTokens;
  }

  async *#ask(request: ModelRequest, known: Capabilities, signal: AbortSignal): AsyncGenerator<ProviderEvent, void, undefined> {
    const { address, model } = this.#endpoint;
    const options = {
      model,
      by: `${address} ${model}`,
      cacheKeys: this.#cacheKeys,
      ...(this.#effort !== undefined && { effort: this.#effort }),
    };
    const call = { task: request.task ?? "chat", hasImages: hasImages(request), signal };
    if (this.#responses) yield* responsesEvents(await this.#http.post("/responses", responsesBody(request, known, options), call));
    else yield* chatEvents(await this.#http.post("/chat/completions", chatBody(request, known, options), call));
  }
}

async function withinMs(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
