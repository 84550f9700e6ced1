import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { AppError, type ErrorDetail } from "./errors.js";

/**
 * Environment → Config, parsed once. The only reader of `process.env`.
 * Every variable stands in {@link VARIABLES} with its meaning; README's table is made from it.
 */

const text = z.string().trim().min(1);
const optionalText = text.optional();
const flag = z.enum(["true", "false"]).transform((value) => value === "true");

function integer(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d+$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a whole number from ${min} to ${max}`);
}

function decimal(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, `a number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a number from ${min} to ${max}`);
}

const url = z.url({ protocol: /^https?$/, error: "an http(s) URL" });

function variable<S extends z.ZodType>(schema: S, fallback: string, meaning: string) {
  return { schema, fallback, meaning } as const;
}

/** In the order of the README's table. `fallback` is what the table shows; a default that a schema can't hold is set in {@link parseConfig}. */
export const VARIABLES = {
  HOST: variable(text.default("127.0.0.1"), "127.0.0.1", "Address to listen on. `AUTH_MODE=local` allows loopback only."),
  PORT: variable(integer(0, 65535).default(3000), "3000", "Port to listen on; 0 picks a free one."),
  MEMORY_STORAGE_DIR: variable(text.default("./memory_storage"), "./memory_storage", "Where the journals and the local stores are kept."),
  SHORT_TERM_BACKEND: variable(z.enum(["memory", "file"]).default("file"), "file", "`file`, or `memory` (nothing is kept)."),
  SHORT_TERM_ROUNDS: variable(integer(1, 100).default(10), "10", "Completed rounds in the window."),
  CONTEXT_MAX_TOKENS: variable(integer(500, 2_000_000).default(16_000), "16000", "Token budget of what the model is given."),
  MODEL_CONTEXT_TOKENS: variable(
    integer(1_000, 10_000_000).optional(),
    "128000",
    "The model's own window. The context takes at most this less 8,000 tokens, or half of a small window.",
  ),
  SUMMARY_MAX_TOKENS: variable(integer(50, 32_000).default(2_000), "2000", "Longest rolling summary, in tokens."),
  SESSION_LOCK_WAIT_MS: variable(integer(0, 600_000).default(30_000), "30000", "How long a turn waits for the one before it."),
  RECALL_DEADLINE_MS: variable(integer(1, 60_000).default(150), "150", "How long a reply waits for recall."),
  MODEL_TIMEOUT_MS: variable(integer(1, 600_000).default(60_000), "60000", "How long one model call may take."),
  MEM0_ENABLED: variable(flag.default(true), "true", "`false`: short-term memory alone."),
  MEM0_PROVIDER: variable(
    z.enum(["local", "qdrant"]).optional(),
    "`qdrant` when QDRANT_URL is set, else `local`",
    "Where long-term memory is stored.",
  ),
  QDRANT_URL: variable(url.optional(), "", "A Qdrant server, 1.17 or newer."),
  QDRANT_API_KEY: variable(optionalText, "", "Its key."),
  VECTOR_CACHE_MIB: variable(
    integer(1, 65_536).default(256),
    "256",
    "Memory for the vectors and postings of the users seen last, with the local store. Those of all others stay on disk.",
  ),
  MEM0_SEARCH_LIMIT: variable(
    integer(1, 50).default(5),
    "5",
    "Memories that a turn recalls by similarity, beside constraints and standing preferences.",
  ),
  MEMORY_MIN_CONFIDENCE: variable(decimal(0, 1).default(0.6), "0.6", "Statements below it are not stored."),
  MEMORY_HALF_LIFE_DAYS: variable(
    integer(1, 36_500).default(180),
    "180",
    "Days in which a soft preference loses half its weight in ranking.",
  ),
  MEMORY_CATEGORIES_FILE: variable(
    optionalText,
    "the concierge's",
    "JSON with your own categories of memories, as `src/long-term/categories.ts` has them.",
  ),
  MEMORY_COLLECTIONS: variable(
    z.enum(["single", "by-type"]).default("single"),
    "single",
    "`by-type`: facts, episodic, procedural, summary and narrative memories get a collection each. What was written before stays where it is and is read.",
  ),
  MEM0_INFER: variable(
    flag.default(false),
    "false",
    "`true` hands extraction to Mem0's own prompt; needs a model. What lapses: categories, constraints, companions, dates and replacing what changed (`docs/adr/0006-mem0-may-extract.md`).",
  ),
  HISTORY_BACKEND: variable(z.enum(["local", "qdrant", "none"]).optional(), "as MEM0_PROVIDER", "Where history is indexed."),
  MEMORY_SEARCH_LIMIT: variable(integer(1, 200).default(20), "20", "Messages that a history search returns."),
  LLM_PROVIDER: variable(
    z.enum(["openai", "offline"]).optional(),
    "`openai` when a key or base URL is set, else `offline`",
    "The model. `offline` is a rule-based stand-in.",
  ),
  OPENAI_API_KEY: variable(optionalText, "", "Key of OpenAI or a compatible service."),
  OPENAI_BASE_URL: variable(url.optional(), "", "An OpenAI-compatible endpoint: Azure, Ollama, vLLM."),
  OPENAI_MODEL: variable(text.default("gpt-4o-mini"), "gpt-4o-mini", "Chat model."),
  EMBEDDING_PROVIDER: variable(
    z.enum(["openai", "transformers", "hashing"]).optional(),
    "`openai` when a key or base URL is set, else `hashing`",
    "The embedder. `hashing` compares words, not meanings.",
  ),
  MEMORY_EMBEDDING_MODEL: variable(
    text.default("text-embedding-3-small"),
    "text-embedding-3-small",
    "Embedding model; for `transformers` a folder or a model name.",
  ),
  MEMORY_EMBEDDING_DIMENSIONALITY: variable(integer(8, 4096).default(768), "768", "Dimension of the vectors."),
  RETENTION_ACTIVE_DAYS: variable(
    integer(0, 36_500).default(30),
    "30",
    "Days without activity after which an active session is deleted (recoverable); 0: never.",
  ),
  RETENTION_ARCHIVED_DAYS: variable(integer(0, 36_500).default(90), "90", "The same for archived sessions."),
  RETENTION_DELETED_DAYS: variable(integer(0, 36_500).default(30), "30", "Days for which a deleted session can be restored; 0: for ever."),
  RETENTION_INTERVAL_HOURS: variable(integer(1, 168).default(24), "24", "How often the server runs retention."),
  RETENTION_BATCH: variable(integer(1, 10_000).default(100), "100", "Sessions in one batch of a retention run."),
  RATE_LIMIT_PER_MINUTE: variable(
    integer(0, 1_000_000).optional(),
    "0 (off) in `local`, else 120",
    "Requests a user may make in a minute.",
  ),
  AUTH_MODE: variable(z.enum(["local", "header", "api-key", "jwt"]).default("local"), "local", "How the user is known."),
  AUTH_HEADER: variable(
    text.default("X-MS-CLIENT-PRINCIPAL-ID"),
    "X-MS-CLIENT-PRINCIPAL-ID",
    "`header`: the header that a trusted proxy sets.",
  ),
  API_KEYS_FILE: variable(optionalText, "", '`api-key`: JSON `[ { "sha256", "tenant", "user" } ]`.'),
  JWT_SECRET: variable(optionalText, "", "`jwt`: shared secret, or"),
  JWKS_URL: variable(url.optional(), "", "`jwt`: the keys' address."),
  JWT_ISSUER: variable(optionalText, "", "`jwt`: required issuer."),
  JWT_AUDIENCE: variable(optionalText, "", "`jwt`: required audience."),
  JWT_TENANT_CLAIM: variable(text.default("tenant"), "tenant", "`jwt`: the claim that names the tenant."),
  CORS_ORIGINS: variable(text.default(""), "", "Origins that may call from a browser, comma-separated. Empty: none."),
  METRICS_TOKEN: variable(optionalText, "", "Lets others than loopback read /metrics."),
  LOG_LEVEL: variable(z.enum(["debug", "info", "warn", "error", "silent"]).default("info"), "info", "What is logged."),
  LOG_CONTENT: variable(flag.default(false), "false", "`true` lets message text into the log."),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(url.optional(), "", "Where traces go."),
} as const;

type Parsed = { [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]["schema"]> };
type VariableName = keyof Parsed;

export type Config = Omit<
  Parsed,
  "MEM0_PROVIDER" | "HISTORY_BACKEND" | "LLM_PROVIDER" | "EMBEDDING_PROVIDER" | "RATE_LIMIT_PER_MINUTE" | "CORS_ORIGINS"
> & {
  readonly MEM0_PROVIDER: "local" | "qdrant";
  readonly HISTORY_BACKEND: "local" | "qdrant" | "none";
  readonly LLM_PROVIDER: "openai" | "offline";
  readonly EMBEDDING_PROVIDER: "openai" | "transformers" | "hashing";
  readonly RATE_LIMIT_PER_MINUTE: number;
  readonly CORS_ORIGINS: readonly string[];
};

function problemsOf(env: Readonly<Record<string, string | undefined>>): { values: Parsed; problems: ErrorDetail[] } {
  const problems: ErrorDetail[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(VARIABLES)) {
    const raw = env[name];
    const result = schema.safeParse(raw === undefined || raw.trim() === "" ? undefined : raw);
    if (result.success) values[name] = result.data;
    else problems.push({ pointer: `/${name}`, detail: `${name}: ${result.error.issues.map((issue) => issue.message).join("; ")}` });
  }
  return { values: values as Parsed, problems };
}

/** @throws INVALID_CONFIG naming every variable that is wrong and what it may be */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { values, problems } = problemsOf(env);
  const refuse = (name: VariableName, detail: string) => problems.push({ pointer: `/${name}`, detail: `${name}: ${detail}` });
  const openai = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  const config: Config = {
    ...values,
    MEM0_PROVIDER: values.MEM0_PROVIDER ?? (values.QDRANT_URL === undefined ? "local" : "qdrant"),
    HISTORY_BACKEND: values.HISTORY_BACKEND ?? values.MEM0_PROVIDER ?? (values.QDRANT_URL === undefined ? "local" : "qdrant"),
    LLM_PROVIDER: values.LLM_PROVIDER ?? (openai ? "openai" : "offline"),
    EMBEDDING_PROVIDER: values.EMBEDDING_PROVIDER ?? (openai ? "openai" : "hashing"),
    RATE_LIMIT_PER_MINUTE: values.RATE_LIMIT_PER_MINUTE ?? (values.AUTH_MODE === "local" ? 0 : 120),
    CORS_ORIGINS: (values.CORS_ORIGINS ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ""),
  };
  if (config.QDRANT_URL === undefined && (config.MEM0_PROVIDER === "qdrant" || config.HISTORY_BACKEND === "qdrant"))
    refuse("QDRANT_URL", "needed by the `qdrant` backend");
  if (!openai && (config.LLM_PROVIDER === "openai" || config.EMBEDDING_PROVIDER === "openai"))
    refuse("OPENAI_API_KEY", "needed by the `openai` provider (or OPENAI_BASE_URL)");
  if (config.MEM0_INFER && config.LLM_PROVIDER === "offline")
    refuse("MEM0_INFER", "`true` needs a model: set OPENAI_API_KEY or OPENAI_BASE_URL, and LLM_PROVIDER=openai");
  if (config.AUTH_MODE === "api-key" && config.API_KEYS_FILE === undefined) refuse("API_KEYS_FILE", "needed by AUTH_MODE=api-key");
  if (config.AUTH_MODE === "jwt" && config.JWT_SECRET === undefined && config.JWKS_URL === undefined)
    refuse("JWT_SECRET", "AUTH_MODE=jwt needs this or JWKS_URL");
  if (problems.length > 0) {
    throw new AppError("INVALID_CONFIG", { detail: problems.map((problem) => problem.detail).join("\n"), errors: problems });
  }
  return config;
}

/**
 * The process environment before `.env.local` before `.env`, both in `dir`; a file that isn't there is passed over.
 * An empty value in the environment counts as not set.
 */
export function readEnvironment(dir: string, env: NodeJS.ProcessEnv = process.env): Record<string, string | undefined> {
  const values: Record<string, string | undefined> = {};
  for (const file of [".env", ".env.local"]) Object.assign(values, readEnvFile(join(dir, file)));
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value.trim() !== "") values[name] = value;
  return values;
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new AppError("INVALID_CONFIG", { detail: `${path} can't be read.`, cause: error });
  }
}
