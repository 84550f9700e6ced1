import { z } from "zod";
import { AI_SDK_PACKAGES, type AiSdkProvider } from "../agent/models/ai-sdk-packages.js";
import { integer, jsonTexts, optionalText, text, url, variable } from "./variable.js";

const SDK_NAMES = Object.keys(AI_SDK_PACKAGES) as [AiSdkProvider, ...AiSdkProvider[]];

/** Variables of the model, in the order of the the table of variables. */
export const MODEL_VARIABLES = {
  LLM_PROVIDER: variable(
    z.enum(["openai", "offline", ...SDK_NAMES]).optional(),
    "`openai` when a key or base URL is set, else `offline`",
    "The model's provider. `offline` is a rule-based stand-in; " +
      `${SDK_NAMES.map((name) => `\`${name}\``).join(", ")}: by the AI SDK's package of that name (\`npm install @ai-sdk/…\`).`,
  ),
  LLM_MODEL: variable(optionalText, "as OPENAI_MODEL", "Chat model. Needed by every provider but `openai` and `offline`."),
  EXTRACTION_MODEL: variable(optionalText, "as LLM_MODEL", "Model of the same provider that reads what messages say."),
  SUMMARY_MODEL: variable(optionalText, "as LLM_MODEL", "The same for summaries."),
  TITLE_MODEL: variable(optionalText, "as SUMMARY_MODEL", "The same for the names of conversations."),
  LLM_API_KEY: variable(optionalText, "the provider's own variable, such as ANTHROPIC_API_KEY", "Key of a provider other than `openai`."),
  LLM_BASE_URL: variable(url.optional(), "the provider's own", "Address of a provider other than `openai`."),
  LLM_FALLBACK: variable(
    optionalText,
    "",
    "A second model (`gpt-4.1-mini`), or provider and model (`anthropic:claude-haiku-4-5`), that takes over before the first token.",
  ),
  LLM_FALLBACK_API_KEY: variable(optionalText, "as that provider's", "Its key."),
  LLM_FALLBACK_BASE_URL: variable(url.optional(), "as that provider's", "Its address. With one, no other variable's key is sent to it."),
  OPENAI_API_KEY: variable(optionalText, "", "Key of OpenAI or a compatible service."),
  OPENAI_BASE_URL: variable(url.optional(), "", "An OpenAI-compatible endpoint: Azure, Ollama, vLLM."),
  OPENAI_MODEL: variable(text.default("gpt-4o-mini"), "gpt-4o-mini", "Chat model."),
  OPENAI_API: variable(
    z.enum(["auto", "responses", "chat"]).default("auto"),
    "auto",
    "`auto`: the Responses API at OpenAI itself, Chat Completions elsewhere.",
  ),
  OPENAI_CACHE_KEY: variable(
    z.enum(["auto", "always", "never"]).default("auto"),
    "auto",
    "Whether `prompt_cache_key` (a hash of the session's id) is sent with a turn's calls. `auto`: to OpenAI itself.",
  ),
  OPENAI_HEADERS: variable(jsonTexts.optional(), "", 'JSON, added to every model call: `{ "api-key": "…" }` (legacy Azure, gateways).'),
  OPENAI_QUERY: variable(jsonTexts.optional(), "", 'JSON, added to every model call\'s URL: `{ "api-version": "…" }`.'),
  REASONING_EFFORT: variable(optionalText, "the model's own", "How long a reasoning model thinks: `low`, `medium`, `high`, `none`, …"),
  LLM_VISION: variable(
    z.enum(["auto", "on", "off"]).default("auto"),
    "auto",
    "Whether the model takes images. `auto`: until it refuses them, which is remembered; `on`: it is asked every time; `off`: never.",
  ),
  MODEL_TIMEOUT_MS: variable(
    integer(1, 600_000).default(60_000),
    "60000",
    "How long one model call may take, retries included; one that no guest waits for takes longer at a slow model.",
  ),
  TURN_TIMEOUT_MS: variable(integer(1_000, 3_600_000).default(120_000), "120000", "How long a whole turn may take, tools and all."),
  MODEL_CONTEXT_TOKENS: variable(
    integer(1_000, 10_000_000).optional(),
    "as the endpoint tells, else 128000",
    "The model's own window. The context takes at most this less 8,000 tokens, or half of a small window.",
  ),
  MODEL_MEASURE_HOURS: variable(
    integer(0, 8_760).default(24),
    "24",
    "How long what was measured of a model (window, speed, what it takes) holds, over restarts too. 0: as long as the process runs.",
  ),
} as const;
