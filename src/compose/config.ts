import { z } from "zod";
import { AI_SDK_PACKAGES, type AiSdkProvider, isAiSdkProvider } from "../agent/models/ai-sdk-packages.js";
import type { ErrorDetail } from "../platform/errors.js";
import { invalidConfig } from "../platform/invalid-config.js";
import {
  COST_VARIABLES,
  EMBEDDING_VARIABLES,
  type EmbeddingProvider,
  embeddingOf,
  homeOf,
  isAtModel,
  MODEL_VARIABLES,
} from "./model-variables.js";
import {
  ADDRESSES,
  backendOf,
  COSMOS_EMULATOR_KEY,
  ENCRYPTION_VARIABLES,
  LOCAL_QDRANT_URL,
  STATE_VARIABLES,
  type StatePlace,
  VECTOR_STORES,
  VECTOR_VARIABLES,
  type VectorStoreName,
} from "./state-variables.js";
import { EVENT_VARIABLES, TELEMETRY_VARIABLES } from "./telemetry-variables.js";
import { decimal, flag, integer, optionalText, originList, originsOf, otherNames, text, url, type ValuesOf, variable } from "./variable.js";

/**
 * Environment → Config, parsed once.
 * Every variable stands in {@link VARIABLES} with its meaning; the table of variables is made from it.
 */

/** In the order of the table of variables. A default that a schema can't hold is told beside it, and set in {@link parseConfig}. */
export const VARIABLES = {
  HOST: variable(text.default("127.0.0.1"), "Address to listen on. `AUTH_MODE=local` allows loopback only."),
  PORT: variable(integer(0, 65535).default(3000), "Port to listen on; 0 picks a free one."),
  MEMORY_STORAGE_DIR: variable(text.default("./memory_storage"), "Where the journals and the local stores are kept."),
  DOMAIN_FILE: variable(
    optionalText,
    "The product on top: a .js, .mjs or .ts module whose default export is made with `defineDomain` (`docs/domain.md`).",
    "the concierge, the example product",
  ),
  ...STATE_VARIABLES,
  STARTUP_WAIT_MS: variable(integer(0, 600_000).default(30_000), "How long a start waits for a database that doesn't answer yet."),
  SHORT_TERM_ROUNDS: variable(
    integer(0, 1_000).default(10),
    "Completed rounds in the window, as far as CONTEXT_MAX_TOKENS has room for them; 0: none. An agent is given just so many; from a " +
      "prompt they leave in blocks of as many (10 at most), so that what a provider caches stays.",
  ),
  CONTEXT_MAX_TOKENS: variable(integer(500, 2_000_000).default(16_000), "Token budget of what the model is given, tools included."),
  SUMMARY_MAX_TOKENS: variable(integer(50, 32_000).default(2_000), "Longest rolling summary, in tokens."),
  SESSION_LOCK_WAIT_MS: variable(integer(0, 600_000).default(30_000), "How long a turn waits for the one before it."),
  RECALL_DEADLINE_MS: variable(
    integer(1, 60_000).optional(),
    "How long a reply waits for recall.",
    "150 with a local embedder, 800 with a remote one",
  ),
  MEM0_ENABLED: variable(
    flag.default(true),
    "`false`: short-term memory alone; before a booking the guest is asked what there is to mind.",
  ),
  ...VECTOR_VARIABLES,
  HEAP_GROWTH_PERCENT: variable(
    integer(0, 1_000).default(60),
    "How far the server's heap grows past what is in use before it is collected; less takes more processor time. 0: as V8 chooses, " +
      "which may be several times as much.",
  ),
  MEM0_SEARCH_LIMIT: variable(
    integer(1, 50).default(5),
    "Memories that a turn recalls by similarity, beside constraints and standing preferences; of a domain with occasions as many as " +
      "they ask for.",
  ),
  MEMORY_MIN_CONFIDENCE: variable(decimal(0, 1).default(0.6), "Statements below it are not stored."),
  MEMORY_HALF_LIFE_DAYS: variable(integer(1, 36_500).default(180), "Days in which a soft preference loses half its weight in ranking."),
  MEMORY_CATEGORIES_FILE: variable(
    optionalText,
    'JSON of your categories: `[ { "name", "description", "type", "strength", "fixed", "open", "occasions" } ]`, one of them `other`.',
    "the domain's",
  ),
  MEM0_INFER: variable(
    flag.default(false),
    "`true` hands extraction to Mem0's own prompt; needs a model. What lapses: categories, constraints, companions, dates " +
      "and replacing what changed (`docs/adr/0006-mem0-may-extract.md`).",
  ),
  HISTORY_BACKEND: variable(z.enum([...VECTOR_STORES, "none"]).optional(), "Where history is indexed.", "as MEM0_PROVIDER"),
  MEMORY_SEARCH_LIMIT: variable(integer(1, 200).default(20), "Messages that a history search returns."),
  ...MODEL_VARIABLES,
  ...EMBEDDING_VARIABLES,
  ...COST_VARIABLES,
  RETENTION_ACTIVE_DAYS: variable(
    integer(0, 36_500).default(30),
    "Days without activity after which an active session is deleted (recoverable); 0: never.",
  ),
  RETENTION_ARCHIVED_DAYS: variable(integer(0, 36_500).default(90), "The same for archived sessions."),
  RETENTION_DELETED_DAYS: variable(integer(0, 36_500).default(30), "Days for which a deleted session can be restored; 0: for ever."),
  RETENTION_INTERVAL_HOURS: variable(integer(1, 168).default(24), "How often the server runs retention."),
  RETENTION_BATCH: variable(integer(1, 10_000).default(100), "Sessions in one batch of a retention run."),
  ...ENCRYPTION_VARIABLES,
  ...EVENT_VARIABLES,
  RATE_LIMIT_PER_MINUTE: variable(
    integer(0, 1_000_000).optional(),
    "Requests a user may make in a minute.",
    "0 (off) in `local`, else 120",
  ),
  MAITRED_TOOLS: variable(
    z.enum(["none", "domain"]).default("none"),
    "Which of the assistant's tools OpenAI's clients are answered with, beside their own and those of memory: `domain`, or none. The " +
      "header `X-Maitred-Tools` says it for a request.",
  ),
  AUTH_MODE: variable(z.enum(["local", "header", "api-key", "jwt"]).default("local"), "How the user is known."),
  AUTH_HEADER: variable(text.default("X-MS-CLIENT-PRINCIPAL-ID"), "`header`: the header that a trusted proxy sets."),
  API_KEYS_FILE: variable(optionalText, '`api-key`: JSON `[ { "sha256", "tenant", "user" } ]`.'),
  JWT_SECRET: variable(optionalText, "`jwt`: shared secret, or"),
  JWKS_URL: variable(url.optional(), "`jwt`: the keys' address."),
  JWT_ISSUER: variable(optionalText, "`jwt`: required issuer."),
  JWT_AUDIENCE: variable(optionalText, "`jwt`: required audience."),
  JWT_TENANT_CLAIM: variable(text.default("tenant"), "`jwt`: the claim that names the tenant."),
  JWT_SUBJECT_PREFIX: variable(
    optionalText,
    "`jwt`: what every subject begins with and no user does. What was kept for the subjects `user:…` before they were users of their " +
      "own is reached with `user:`.",
  ),
  TENANTS_FILE: variable(
    optionalText,
    'JSON with what tenants have of their own: `{ "acme": { "model", "prompt", "categories", "retention_days" } }`. What isn\'t set is ' +
      "as for everybody else.",
  ),
  CORS_ORIGINS: variable(
    originList.default(""),
    "Origins that may call from a browser, comma-separated: `https://shop.example`. Empty: none.",
  ),
  LOG_LEVEL: variable(z.enum(["debug", "info", "warn", "error", "silent"]).default("info"), "What is logged."),
  LOG_CONTENT: variable(flag.default(false), "`true` lets message text into the log."),
  ...TELEMETRY_VARIABLES,
} as const;

type Parsed = ValuesOf<typeof VARIABLES>;
type VariableName = keyof Parsed;

/** The variables with their values, as the schema reads them. */
export type { Parsed as Variables };

export type Config = Omit<
  Parsed,
  | "SHORT_TERM_BACKEND"
  | "MEM0_PROVIDER"
  | "HISTORY_BACKEND"
  | "LLM_PROVIDER"
  | "EMBEDDING_PROVIDER"
  | "RECALL_DEADLINE_MS"
  | "RATE_LIMIT_PER_MINUTE"
  | "CORS_ORIGINS"
> & {
  readonly SHORT_TERM_BACKEND: StatePlace;
  readonly MEM0_PROVIDER: VectorStoreName;
  readonly HISTORY_BACKEND: VectorStoreName | "none";
  readonly LLM_PROVIDER: "openai" | "offline" | AiSdkProvider;
  readonly EMBEDDING_PROVIDER: EmbeddingProvider;
  /** Whether nothing names the embedder. */
  readonly EMBEDDING_BY_DEFAULT: boolean;
  readonly RECALL_DEADLINE_MS: number;
  readonly RATE_LIMIT_PER_MINUTE: number;
  readonly CORS_ORIGINS: readonly string[];
};

function problemsOf(env: Readonly<Record<string, string | undefined>>): { values: Parsed; problems: ErrorDetail[] } {
  const problems: ErrorDetail[] = otherNames(env).map(({ name, ours }) => ({
    pointer: `/${name}`,
    detail: `${name}: nothing here is called so; set ${ours.join(" or ")} for what it means.`,
  }));
  const values: Record<string, unknown> = {};
  const { STATE_ENGINE: alias = "", SHORT_TERM_BACKEND: place = "" } = env;
  const isByAlias = alias.trim() !== "" && place.trim() === "";
  if (alias.trim() !== "" && !isByAlias && alias !== place)
    problems.push({ pointer: "/STATE_ENGINE", detail: "STATE_ENGINE: another name of SHORT_TERM_BACKEND, which says otherwise; set one." });
  for (const [variable, { schema }] of Object.entries(VARIABLES)) {
    const name = variable === "SHORT_TERM_BACKEND" && isByAlias ? "STATE_ENGINE" : variable;
    const raw = env[name];
    const result = schema.safeParse(raw === undefined || raw.trim() === "" ? undefined : raw);
    if (result.success) values[variable] = result.data;
    else problems.push({ pointer: `/${name}`, detail: `${name}: ${result.error.issues.map((issue) => issue.message).join("; ")}` });
  }
  return { values: values as Parsed, problems };
}

/** @throws INVALID_CONFIG naming every variable that is wrong and what it may be */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { values, problems } = problemsOf(env);
  const refuse = (name: VariableName, detail: string) => problems.push({ pointer: `/${name}`, detail: `${name}: ${detail}` });
  const openai = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  const provider = values.LLM_PROVIDER ?? (openai ? "openai" : "offline");
  const uses = (store: VectorStoreName) => values.MEM0_PROVIDER === store || values.HISTORY_BACKEND === store;
  const backend = values.SHORT_TERM_BACKEND ?? backendOf(values);
  const config: Config = {
    ...values,
    SHORT_TERM_BACKEND: backend,
    FIRESTORE_PROJECT: values.FIRESTORE_PROJECT ?? (backend === "firestore" ? env.GOOGLE_CLOUD_PROJECT?.trim() || undefined : undefined),
    MEM0_PROVIDER: values.MEM0_PROVIDER ?? (values.QDRANT_URL === undefined ? "local" : "qdrant"),
    ...(uses("qdrant") && { QDRANT_URL: values.QDRANT_URL ?? LOCAL_QDRANT_URL }),
    HISTORY_BACKEND: values.HISTORY_BACKEND ?? values.MEM0_PROVIDER ?? (values.QDRANT_URL === undefined ? "local" : "qdrant"),
    LLM_PROVIDER: provider,
    LLM_API_KEY: values.LLM_API_KEY ?? keyOf(provider, env),
    LLM_FALLBACK_API_KEY: values.LLM_FALLBACK_API_KEY ?? fallbackKey(values, env),
    ...embeddingOf(values),
    RATE_LIMIT_PER_MINUTE: values.RATE_LIMIT_PER_MINUTE ?? (values.AUTH_MODE === "local" ? 0 : 120),
    CORS_ORIGINS: originsOf(values.CORS_ORIGINS ?? ""),
  };
  for (const name of ADDRESSES[backend]) if (config[name] === undefined) refuse(name, `needed by \`${backend}\``);
  if (backend !== "postgres" && uses("pgvector") && config.DATABASE_URL === undefined) refuse("DATABASE_URL", "needed by `pgvector`");
  if (uses("chroma") && config.CHROMA_URL === undefined) refuse("CHROMA_URL", "needed by `chroma`");
  if (env.NODE_ENV === "production" && values.FIRESTORE_EMULATOR_HOST !== undefined)
    refuse("FIRESTORE_EMULATOR_HOST", "an emulator keeps nothing: take it away where NODE_ENV is `production`");
  if (env.NODE_ENV === "production" && values.COSMOS_KEY === COSMOS_EMULATOR_KEY)
    refuse("COSMOS_KEY", "the emulator's, which everybody knows: name an account where NODE_ENV is `production`");
  if (!openai && config.LLM_PROVIDER === "openai") refuse("OPENAI_API_KEY", "needed by the `openai` provider (or OPENAI_BASE_URL)");
  else if (config.EMBEDDING_PROVIDER === "openai" && config.EMBEDDING_API_KEY === undefined && config.EMBEDDING_BASE_URL === undefined)
    refuse("EMBEDDING_API_KEY", "needed by the `openai` embedder (or EMBEDDING_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL)");
  if (isAiSdkProvider(provider) && values.LLM_MODEL === undefined)
    refuse("LLM_MODEL", `needed by LLM_PROVIDER=${provider}: the name of one of its models`);
  if (provider === "offline" && values.LLM_FALLBACK !== undefined) refuse("LLM_FALLBACK", "needs a model that it can take over from");
  for (const name of ["EXTRACTION_MODEL", "SUMMARY_MODEL", "TITLE_MODEL"] as const)
    if (provider === "offline" && values[name] !== undefined)
      refuse(name, "needs a provider of models: set OPENAI_API_KEY or LLM_PROVIDER");
  const { COST_SOFT_LIMIT_TOKENS: soft, COST_HARD_LIMIT_TOKENS: hard } = values;
  if (soft !== undefined && hard !== undefined && soft > hard)
    refuse("COST_SOFT_LIMIT_TOKENS", "more than COST_HARD_LIMIT_TOKENS, which would be reached first");
  if (config.MEM0_INFER && config.LLM_PROVIDER === "offline")
    refuse("MEM0_INFER", "`true` needs a model: set OPENAI_API_KEY or OPENAI_BASE_URL, and LLM_PROVIDER=openai");
  if (config.WEBHOOK_URL !== undefined && config.WEBHOOK_SECRET === undefined) refuse("WEBHOOK_SECRET", "needed by WEBHOOK_URL");
  if (config.AUTH_MODE === "api-key" && config.API_KEYS_FILE === undefined) refuse("API_KEYS_FILE", "needed by AUTH_MODE=api-key");
  if (config.AUTH_MODE === "jwt" && config.JWT_SECRET === undefined && config.JWKS_URL === undefined)
    refuse("JWT_SECRET", "AUTH_MODE=jwt needs this or JWKS_URL");
  if (problems.length > 0) throw invalidConfig(problems);
  return config;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A provider's key in the variable that its own package reads: it may stand in a file, which the package does not see. */
function keyOf(provider: string, env: Environment): string | undefined {
  const name = isAiSdkProvider(provider) ? AI_SDK_PACKAGES[provider].key : null;
  return name === null ? undefined : env[name]?.trim() || undefined;
}

/** Its provider's own, at that one's own address alone: one of the main model's provider goes to where that one goes. */
function fallbackKey(values: Parsed, env: Environment): string | undefined {
  const provider = values.LLM_FALLBACK?.split(":")[0] ?? "";
  if (!isAiSdkProvider(provider)) return undefined;
  const address = values.LLM_FALLBACK_BASE_URL ?? (provider === values.LLM_PROVIDER ? values.LLM_BASE_URL : undefined);
  const home = homeOf(provider);
  return address === undefined || (home !== null && isAtModel(address, home)) ? keyOf(provider, env) : undefined;
}
