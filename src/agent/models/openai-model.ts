import { z } from "zod";
import { within } from "../../platform/bounded-signal.js";
import { OPENAI_URL, type OpenAIAccess } from "../../platform/openai-client.js";
import { present } from "../../platform/present.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./answer-sorter.js";
import type { Capabilities } from "./capabilities.js";
import { aboutEndpoint, callEndpoint, type EndpointOptions, endpointOf } from "./endpoint.js";
import { chatBody, chatEvents } from "./openai-chat.js";
import { OpenAIEndpoint } from "./openai-endpoint.js";
import { responsesBody, responsesEvents } from "./openai-responses.js";
import { hasImages } from "./refusals.js";
import { LONGEST_CALL_MS } from "./speed.js";

/** How often an endpoint is asked for its window that doesn't tell it, and how long that may take, in milliseconds. */
const MOST_LOOKS = 2;
const LOOK_MS = 1_000;
/** How long a guest's answer waits for that: an endpoint that tells it does so at once. */
const GUEST_WAITS_MS = 250;

export interface OpenAIModelOptions extends EndpointOptions, OpenAIAccess {
  readonly model: string;
  /** `auto`, the default: the Responses API at OpenAI itself, Chat Completions elsewhere. */
  readonly api?: "auto" | "responses" | "chat";
  /** Whether a key for the endpoint's cache is sent. `auto`, the default: to OpenAI itself. */
  readonly cacheKeys?: "auto" | "always" | "never";
  /** How long a reasoning model thinks, in its provider's words (`low`, `high`). Default: the model's own. */
  readonly effort?: string;
}

/**
 * A model over the `openai` SDK: the Responses API at OpenAI itself, Chat Completions at whatever is compatible. What an endpoint refuses
 * by name is replaced by what it may know, and stays so. Errors name the status alone: what an endpoint answers may repeat the request.
 */
export function openAIModel(options: OpenAIModelOptions) {
  const { model, contextTokens, effort, api = "auto", cacheKeys = "auto" } = options;
  const http = new OpenAIEndpoint({ ...options, timeoutMs: LONGEST_CALL_MS });
  const isOpenAI = new URL(http.url).host === new URL(OPENAI_URL).host;
  const asksResponses = api === "responses" || (api === "auto" && isOpenAI);
  const endpoint = endpointOf(options, {
    address: `openai-${asksResponses ? "responses" : "chat"} ${http.url}`,
    model,
    settings: "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API",
    secrets: [...(options.apiKey === undefined ? [] : [options.apiKey]), ...Object.values(options.headers ?? {})],
  });
  const { known, address } = endpoint;
  const sent = {
    model,
    by: `${address} ${model}`,
    cacheKeys: cacheKeys === "always" || (cacheKeys === "auto" && isOpenAI),
    ...present({ effort }),
  };
  async function* ask(
    request: ModelRequest,
    capabilities: Capabilities,
    signal: AbortSignal,
  ): AsyncGenerator<ProviderEvent, void, undefined> {
    const call = { task: request.task ?? "chat", hasImages: hasImages(request), signal };
    if (asksResponses) yield* responsesEvents(await http.post("/responses", responsesBody(request, capabilities, sent), call));
    else yield* chatEvents(await http.post("/chat/completions", chatBody(request, capabilities, sent), call));
  }
  async function askContextTokens(signal: AbortSignal): Promise<number | null> {
    const get = (path: string) => http.get(new URL(path, http.url).href, signal);
    const listed = contextTokensIn(await http.get("/models", signal), model);
    if (listed !== null || isOpenAI) return listed;
    // Ollama, which cuts in silence what is longer, LM Studio and llama.cpp tell what a model was loaded with at places of their own.
    const [running, rest, props] = await Promise.all([get("/api/ps"), get("/api/v0/models"), get("/props")]);
    const loaded = loadedContextTokens(running, model) ?? contextTokensIn(rest, model) ?? propsContextTokens(props);
    return loaded ?? known.of(address, model).contextTokens;
  }
  let looks = 0;
  let looking: Promise<void> | undefined;
  /** Never throws. */
  async function learnWindow(): Promise<void> {
    if (isOpenAI || contextTokens !== undefined || known.of(address, model).contextTokens !== null || looks >= MOST_LOOKS) return;
    looking ??= askContextTokens(AbortSignal.timeout(LOOK_MS)).then((told) => {
      looks += 1;
      looking = undefined;
      if (told !== null) known.learn(address, model, { contextTokens: told });
    });
    await looking;
  }
  return {
    name: model,
    standIn: false,
    ...present({ contextTokens }),
    ...aboutEndpoint(endpoint, asksResponses ? "over the Responses API" : "over Chat Completions"),
    askContextTokens,
    async *stream(request: ModelRequest, call: ModelCallOptions): AsyncGenerator<ModelEvent, void, undefined> {
      const learnt = learnWindow();
      await ((request.task ?? "chat") === "chat" ? within(GUEST_WAITS_MS, learnt, undefined) : learnt);
      try {
        yield* callEndpoint(endpoint, request, call, ask);
      } finally {
        // Some tell it once they have answered.
        void learnWindow();
      }
    },
  } satisfies ChatModel;
}

const tokens = z.number().int().positive().optional().catch(undefined);
/**
 * What lists of models tell: vLLM `max_model_len`, OpenRouter `context_length`, Groq `context_window`, Mistral `max_context_length`, LM
 * Studio, llama.cpp.
 */
const listSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      max_model_len: tokens,
      context_length: tokens,
      context_window: tokens,
      max_context_length: tokens,
      loaded_context_length: tokens,
      meta: z.looseObject({ n_ctx: tokens, n_ctx_train: tokens }).nullish().catch(undefined),
    }),
  ),
});

/** How many tokens the model reads at once, as an endpoint's list of models tells it; null where it doesn't. */
function contextTokensIn(list: unknown, model: string): number | null {
  const parsed = listSchema.safeParse(list);
  const entry = parsed.success ? parsed.data.data.find(({ id }) => id === model) : undefined;
  if (entry === undefined) return null;
  const { loaded_context_length, max_model_len, context_length, context_window, max_context_length, meta } = entry;
  return loaded_context_length ?? max_model_len ?? context_length ?? context_window ?? max_context_length ?? meta?.n_ctx ?? null;
}

const propsSchema = z.looseObject({ default_generation_settings: z.looseObject({ n_ctx: tokens }).optional() });

/** The same of llama.cpp's properties. */
function propsContextTokens(props: unknown): number | null {
  const parsed = propsSchema.safeParse(props);
  return (parsed.success ? parsed.data.default_generation_settings?.n_ctx : undefined) ?? null;
}

const loadedSchema = z.looseObject({ models: z.array(z.looseObject({ name: z.string(), context_length: tokens })) });

/** The same of Ollama's list of the models that are loaded. */
function loadedContextTokens(list: unknown, model: string): number | null {
  const parsed = loadedSchema.safeParse(list);
  const named = (name: string) => name === model || name === `${model}:latest`;
  return (parsed.success ? parsed.data.models.find(({ name }) => named(name))?.context_length : undefined) ?? null;
}
