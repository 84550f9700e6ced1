import { z } from "zod";
import { AI_SDK_PACKAGES, type AiSdkProvider } from "../agent/models/ai-sdk-packages.js";
import { decimal, integer, jsonTexts, optionalText, prefix, text, url, type ValuesOf, variable } from "./variable.js";

const SDK_NAMES = Object.keys(AI_SDK_PACKAGES) as [AiSdkProvider, ...AiSdkProvider[]];

/** Variables of the model, in the order of the table of variables. */
export const MODEL_VARIABLES = {
  LLM_PROVIDER: variable(
    z.enum(["openai", "offline", ...SDK_NAMES]).optional(),
    "The model's provider. `offline` is a rule-based stand-in; " +
      `${SDK_NAMES.map((name) => `\`${name}\``).join(", ")}: by the AI SDK's package of that name (\`npm install @ai-sdk/…\`).`,
    "`openai` when a key or base URL is set, else `offline`",
  ),
  LLM_MODEL: variable(optionalText, "Chat model. Needed by every provider but `openai` and `offline`.", "as OPENAI_MODEL"),
  EXTRACTION_MODEL: variable(optionalText, "Model of the same provider that reads what messages say.", "as LLM_MODEL"),
  SUMMARY_MODEL: variable(optionalText, "The same for summaries.", "as LLM_MODEL"),
  TITLE_MODEL: variable(optionalText, "The same for the names of conversations.", "as SUMMARY_MODEL"),
  LLM_API_KEY: variable(optionalText, "Key of a provider other than `openai`.", "the provider's own variable, such as ANTHROPIC_API_KEY"),
  LLM_BASE_URL: variable(url.optional(), "Address of a provider other than `openai`.", "the provider's own"),
  LLM_FALLBACK: variable(
    optionalText,
    "A second model (`gpt-4.1-mini`), or provider and model (`anthropic:claude-haiku-4-5`), that takes over before the first token.",
  ),
  LLM_FALLBACK_API_KEY: variable(optionalText, "Its key.", "as that provider's, at that one's own origin"),
  LLM_FALLBACK_BASE_URL: variable(
    url.optional(),
    "Its address. Key, OPENAI_HEADERS and OPENAI_QUERY of the first model go to it at that one's own origin (scheme, host, port) alone.",
    "as that provider's",
  ),
  LLM_FALLBACK_HEADERS: variable(
    jsonTexts.optional(),
    "JSON, added to every call of the fallback, where that is OpenAI or compatible.",
    "as OPENAI_HEADERS, at the model's own origin",
  ),
  LLM_FALLBACK_QUERY: variable(
    jsonTexts.optional(),
    "JSON, added to the URL of every call of the fallback.",
    "as OPENAI_QUERY, at the model's own origin",
  ),
  OPENAI_API_KEY: variable(optionalText, "Key of OpenAI or a compatible service."),
  OPENAI_BASE_URL: variable(url.optional(), "An OpenAI-compatible endpoint: Azure, Ollama, vLLM."),
  OPENAI_MODEL: variable(text.default("gpt-4o-mini"), "Chat model."),
  OPENAI_API: variable(
    z.enum(["auto", "responses", "chat"]).default("auto"),
    "`auto`: the Responses API at OpenAI itself, Chat Completions elsewhere.",
  ),
  OPENAI_CACHE_KEY: variable(
    z.enum(["auto", "always", "never"]).default("auto"),
    "Whether `prompt_cache_key` (a hash of the session's id) is sent with a turn's calls. `auto`: to OpenAI itself.",
  ),
  OPENAI_HEADERS: variable(jsonTexts.optional(), 'JSON, added to every model call: `{ "api-key": "…" }` (legacy Azure, gateways).'),
  OPENAI_QUERY: variable(jsonTexts.optional(), 'JSON, added to every model call\'s URL: `{ "api-version": "…" }`.'),
  REASONING_EFFORT: variable(optionalText, "How long a reasoning model thinks: `low`, `medium`, `high`, `none`, …", "the model's own"),
  LLM_VISION: variable(
    z.enum(["auto", "on", "off"]).default("auto"),
    "Whether the model takes images. `auto`: until it refuses them, which is remembered; `on`: it is asked every time; `off`: never.",
  ),
  MODEL_TIMEOUT_MS: variable(
    integer(1, 600_000).default(60_000),
    "How long one model call may take, retries included; one that no guest waits for takes longer at a slow model.",
  ),
  TURN_TIMEOUT_MS: variable(integer(1_000, 3_600_000).default(120_000), "How long a whole turn may take, tools and all."),
  MODEL_CONTEXT_TOKENS: variable(
    integer(1_000, 10_000_000).optional(),
    "The model's own window. The context takes at most this less 8,000 tokens, or half of a small window.",
    "as the endpoint tells, else 128000",
  ),
  MODEL_MEASURE_HOURS: variable(
    integer(0, 8_760).default(24),
    "How long what was measured of a model (window, speed, what it takes) holds, over restarts too. 0: as long as the process runs.",
  ),
} as const;

const EMBEDDING_PROVIDERS = ["openai", "minilm", "static", "transformers", "hashing"] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];

/** Variables of the embedder, in the order of the table of variables. */
export const EMBEDDING_VARIABLES = {
  EMBEDDING_PROVIDER: variable(
    z.enum(EMBEDDING_PROVIDERS).optional(),
    "`minilm`: a model in `@maitred/minilm`. `static`: a table there, quicker, less exact. `hashing` compares words, not meanings.",
    "`openai` when a key or base URL is set, else `minilm`",
  ),
  EMBEDDING_BASE_URL: variable(
    url.optional(),
    "An OpenAI-compatible endpoint with `/embeddings`, where the model's has none.",
    "as OPENAI_BASE_URL",
  ),
  EMBEDDING_API_KEY: variable(
    optionalText,
    "Its key. To another origin (scheme, host, port) than the model's, the model's key is not sent.",
    "as OPENAI_API_KEY, at the model's own origin",
  ),
  EMBEDDING_HEADERS: variable(
    jsonTexts.optional(),
    'JSON, added to every call for embeddings: `{ "api-key": "…" }`.',
    "as OPENAI_HEADERS, at the model's own origin",
  ),
  EMBEDDING_QUERY: variable(
    jsonTexts.optional(),
    'JSON, added to the URL of every call for embeddings: `{ "api-version": "…" }`.',
    "as OPENAI_QUERY, at the model's own origin",
  ),
  MEMORY_EMBEDDING_MODEL: variable(text.default("text-embedding-3-small"), "Embedding model; for `transformers` a folder or a model name."),
  MEMORY_EMBEDDING_DIMENSIONALITY: variable(
    integer(8, 4096).optional(),
    "Dimension of the vectors, with `openai` and `hashing`. Sent to every service that takes it.",
    "768, or the model's own where it can't be told",
  ),
  EMBEDDING_QUERY_PREFIX: variable(
    prefix.optional(),
    "Put before a text that is searched by; quoted where it ends in a space.",
    "the model's (nomic, e5), else `none`",
  ),
  EMBEDDING_DOCUMENT_PREFIX: variable(
    prefix.optional(),
    "Put before a text that is to be found. After a change run `maitred reindex`.",
    "the model's (nomic, e5), else `none`",
  ),
} as const;

/** A hosted embedder takes 100 to 400 ms. A model's answer takes seconds: a memory that comes too late is none. */
const REMOTE_RECALL_MS = 800;
const LOCAL_RECALL_MS = 150;
const OPENAI_URL = "https://api.openai.com/v1";

/** What the embedder's settings follow from. */
type Given = Partial<ValuesOf<typeof EMBEDDING_VARIABLES & typeof MODEL_VARIABLES> & { readonly RECALL_DEADLINE_MS: number | undefined }>;

/** Where a provider is asked by default; null where that can't be told. */
export function homeOf(provider: "openai" | AiSdkProvider): string | null {
  return provider === "openai" ? OPENAI_URL : AI_SDK_PACKAGES[provider].origin;
}

/** Whether what a model is asked with, a key among it, may be sent to another address: to its own origin alone. Default: OpenAI's. */
export function isAtModel(address: string | undefined, modelUrl: string | undefined): boolean {
  return address === undefined || new URL(address).origin === new URL(modelUrl ?? OPENAI_URL).origin;
}

/** The embedder's own address, key, headers and query, else the model's, where {@link isAtModel}. */
export function embeddingOf(given: Given) {
  const { EMBEDDING_BASE_URL: ownUrl, OPENAI_BASE_URL: modelUrl } = given;
  const own = isAtModel(ownUrl, modelUrl);
  const baseUrl = ownUrl ?? modelUrl;
  const apiKey = given.EMBEDDING_API_KEY ?? (own ? given.OPENAI_API_KEY : undefined);
  const provider = given.EMBEDDING_PROVIDER ?? (baseUrl !== undefined || apiKey !== undefined ? "openai" : "minilm");
  return {
    EMBEDDING_PROVIDER: provider,
    EMBEDDING_BY_DEFAULT: given.EMBEDDING_PROVIDER === undefined,
    EMBEDDING_BASE_URL: baseUrl,
    EMBEDDING_API_KEY: apiKey,
    EMBEDDING_HEADERS: given.EMBEDDING_HEADERS ?? (own ? given.OPENAI_HEADERS : undefined),
    EMBEDDING_QUERY: given.EMBEDDING_QUERY ?? (own ? given.OPENAI_QUERY : undefined),
    RECALL_DEADLINE_MS: given.RECALL_DEADLINE_MS ?? (provider === "openai" ? REMOTE_RECALL_MS : LOCAL_RECALL_MS),
  };
}

const LIMIT = integer(1, 1_000_000_000_000).optional();

const MONEY = decimal(0.000_001, 1_000_000).optional();

/** Variables of what is spent, in the order of the table of variables. */
export const COST_VARIABLES = {
  EXTRACTION_DELAY_MS: variable(
    integer(0, 3_600_000).default(0),
    "How long an answered turn waits to be read for memories, so that turns which come quickly are read in one call. Flush, a new " +
      "session and a booking don't wait for it.",
  ),
  EXTRACTION_IDLE_MS: variable(
    integer(0, 3_600_000).default(300_000),
    "How long a message that tells nothing urgent (thanks, a question, an order, a wish) waits for the next ones, to be read for " +
      "memories in the same call, at most twelve of them; then it is read by itself. Needs are read at once. Flush, a booking, another " +
      "session and `/v1/context` don't wait for it.",
  ),
  COST_SOFT_LIMIT_TOKENS: variable(
    LIMIT,
    "Tokens of a tenant in a day (UTC), input and output of all models. Past it extraction, summaries and titles wait for the next day, " +
      "and bookings ask about needs.",
  ),
  COST_HARD_LIMIT_TOKENS: variable(LIMIT, "Past it chat answers 429 `COST_LIMIT_REACHED` until 00:00 UTC."),
  MODEL_PRICES_FILE: variable(
    optionalText,
    'JSON of what models and embedders cost, for a million tokens: `{ "gpt-5": { "input", "cached_input", "output", "currency" } }`. ' +
      "What isn't in it has a cost of `null`.",
  ),
  COST_SOFT_LIMIT_MONEY: variable(MONEY, "As `COST_SOFT_LIMIT_TOKENS`, in the currency of `MODEL_PRICES_FILE`."),
  COST_HARD_LIMIT_MONEY: variable(MONEY, "As `COST_HARD_LIMIT_TOKENS`, in the currency of `MODEL_PRICES_FILE`."),
} as const;
