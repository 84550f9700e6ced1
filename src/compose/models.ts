import { AI_SDK_PACKAGES, type AiSdkProvider, isAiSdkProvider } from "../agent/models/ai-sdk-packages.js";
import { openAiSdkModel } from "../agent/models/ai-sdk-providers.js";
import { FallbackModel } from "../agent/models/fallback-model.js";
import { KnownCapabilities } from "../agent/models/known-capabilities.js";
import type { Logger } from "../platform/logger.js";
import { present } from "../platform/present.js";
import type { ChatModel, Domain } from "../ports/agent.js";
import type { Config } from "./config.js";
import { homeOf, isAtModel } from "./model-variables.js";
import { standIn } from "./own-packages.js";

/** Who does what. Where a task has no model of its own it is the one that answers. */
export interface Models {
  readonly chat: ChatModel;
  readonly extraction: ChatModel;
  readonly summary: ChatModel;
  readonly title: ChatModel;
}

/**
 * Which models answer, by configuration. `known`: what is learnt of endpoints, shared by all that call them.
 * @throws INVALID_CONFIG naming a provider's package that isn't installed
 */
export async function openModels(
  config: Config,
  domain: Domain,
  logger: Logger,
  known: KnownCapabilities = new KnownCapabilities(),
): Promise<Models> {
  const chat = await openConfiguredModel(config, logger, known);
  if (chat === null) {
    const { OfflineModel, domainScript } = await standIn();
    return sameFor(new OfflineModel({ script: domain.offline ?? domainScript(domain) }));
  }
  const { EXTRACTION_MODEL, SUMMARY_MODEL, TITLE_MODEL } = config;
  const opened = new Map<string, Promise<ChatModel | null>>();
  const named = async (name: string | undefined): Promise<ChatModel> => {
    if (name === undefined) return chat;
    const model = opened.get(name) ?? openConfiguredModel({ ...config, LLM_MODEL: name }, logger, known);
    opened.set(name, model);
    return (await model) ?? chat;
  };
  return {
    chat,
    extraction: await named(EXTRACTION_MODEL),
    summary: await named(SUMMARY_MODEL),
    title: await named(TITLE_MODEL ?? SUMMARY_MODEL),
  };
}

export function sameFor(model: ChatModel): Models {
  return { chat: model, extraction: model, summary: model, title: model };
}

/** The model that answers, without a stand-in: null where there is none. */
export async function openConfiguredModel(
  config: Config,
  logger: Logger,
  known: KnownCapabilities = new KnownCapabilities(),
): Promise<ChatModel | null> {
  const { LLM_PROVIDER: provider, LLM_FALLBACK } = config;
  if (provider === "offline") return null;
  const first = await modelOf(config, mainModel(config, provider), { known, logger });
  if (LLM_FALLBACK === undefined) return first;
  const second = await modelOf(config, fallbackModel(config, provider, LLM_FALLBACK), { known, logger });
  return new FallbackModel({ first, second, firstTokenMs: config.MODEL_TIMEOUT_MS / 2, logger });
}

/** Given to a package of the AI SDK, which would else take the key of the environment. */
const NO_KEY = "none";

interface ModelChoice {
  readonly provider: "openai" | AiSdkProvider;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  /** Sent with every call, where it is asked by OpenAI's own SDK. */
  readonly headers: Config["OPENAI_HEADERS"];
  readonly query: Config["OPENAI_QUERY"];
  /** Before a fallback takes over there is no long waiting. */
  readonly maxRetries: number;
  /** Variables that a person would look at. */
  readonly settings: string;
}

function mainModel(config: Config, provider: ModelChoice["provider"]): ModelChoice {
  const own = provider === "openai";
  return {
    provider,
    model: config.LLM_MODEL ?? config.OPENAI_MODEL,
    apiKey: own ? config.OPENAI_API_KEY : config.LLM_API_KEY,
    baseUrl: own ? config.OPENAI_BASE_URL : config.LLM_BASE_URL,
    headers: config.OPENAI_HEADERS,
    query: config.OPENAI_QUERY,
    maxRetries: config.LLM_FALLBACK === undefined ? 2 : 0,
    settings: own
      ? "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API"
      : `LLM_API_KEY or ${AI_SDK_PACKAGES[provider].key ?? "the provider's own"}, LLM_BASE_URL, LLM_MODEL`,
  };
}

function fallbackModel(config: Config, main: ModelChoice["provider"], fallback: string): ModelChoice {
  const colon = fallback.indexOf(":");
  const named = fallback.slice(0, Math.max(0, colon));
  // Names of models have colons too: "llama3.1:8b".
  const provider = named === "openai" || isAiSdkProvider(named) ? named : main;
  const model = provider === named ? fallback.slice(colon + 1) : fallback;
  const known = provider === main || provider === "openai" ? mainModel(config, provider) : null;
  const { LLM_FALLBACK_BASE_URL: ownUrl } = config;
  const home = known?.baseUrl ?? homeOf(provider);
  const isElsewhere = ownUrl !== undefined && (home === null || !isAtModel(ownUrl, home));
  const sent = isElsewhere ? null : known;
  return {
    provider,
    model,
    apiKey: config.LLM_FALLBACK_API_KEY ?? (isElsewhere && provider !== "openai" ? NO_KEY : sent?.apiKey),
    baseUrl: ownUrl ?? known?.baseUrl,
    headers: config.LLM_FALLBACK_HEADERS ?? sent?.headers,
    query: config.LLM_FALLBACK_QUERY ?? sent?.query,
    maxRetries: 2,
    settings: "LLM_FALLBACK, LLM_FALLBACK_API_KEY, LLM_FALLBACK_BASE_URL, LLM_FALLBACK_HEADERS",
  };
}

async function modelOf(
  config: Config,
  { provider, apiKey, baseUrl, headers, query, ...choice }: ModelChoice,
  shared: { readonly known: KnownCapabilities; readonly logger: Logger },
): Promise<ChatModel> {
  const options = {
    ...shared,
    ...choice,
    timeoutMs: config.MODEL_TIMEOUT_MS,
    vision: config.LLM_VISION,
    ...present({ apiKey, baseUrl, contextTokens: config.MODEL_CONTEXT_TOKENS }),
  };
  if (provider !== "openai") return openAiSdkModel(provider, options);
  const { openAIModel } = await import("../agent/models/openai-model.js");
  return openAIModel({
    ...options,
    api: config.OPENAI_API,
    cacheKeys: config.OPENAI_CACHE_KEY,
    ...present({ headers, query, effort: config.REASONING_EFFORT }),
  });
}
