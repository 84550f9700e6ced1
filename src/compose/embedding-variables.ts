import { z } from "zod";
import { integer, optionalText, prefix, text, url, variable } from "./variable.js";

const EMBEDDING_PROVIDERS = ["openai", "minilm", "static", "transformers", "hashing"] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];

/** Variables of the embedder, in the order of the the table of variables. */
export const EMBEDDING_VARIABLES = {
  EMBEDDING_PROVIDER: variable(
    z.enum(EMBEDDING_PROVIDERS).optional(),
    "`openai` when a key or base URL is set, else `minilm`",
    "`minilm`: a model in `@maitred/minilm`. `static`: a table there, quicker, less exact. `hashing` compares words, not meanings.",
  ),
  EMBEDDING_BASE_URL: variable(
    url.optional(),
    "as OPENAI_BASE_URL",
    "An OpenAI-compatible endpoint with `/embeddings`, where the model's has none.",
  ),
  EMBEDDING_API_KEY: variable(
    optionalText,
    "as OPENAI_API_KEY, at the model's own host",
    "Its key. To another host than the model's, the model's key is not sent.",
  ),
  MEMORY_EMBEDDING_MODEL: variable(
    text.default("text-embedding-3-small"),
    "text-embedding-3-small",
    "Embedding model; for `transformers` a folder or a model name.",
  ),
  MEMORY_EMBEDDING_DIMENSIONALITY: variable(
    integer(8, 4096).optional(),
    "768, or the model's own where it can't be told",
    "Dimension of the vectors, with `openai` and `hashing`. Sent to every service that takes it.",
  ),
  EMBEDDING_QUERY_PREFIX: variable(
    prefix.optional(),
    "the model's (nomic, e5), else `none`",
    "Put before a text that is searched by; quoted where it ends in a space.",
  ),
  EMBEDDING_DOCUMENT_PREFIX: variable(
    prefix.optional(),
    "the model's (nomic, e5), else `none`",
    "Put before a text that is to be found. After a change run `maitred reindex`.",
  ),
} as const;

/** A hosted embedder takes 100 to 400 ms. A model's answer takes seconds: a memory that comes too late is none. */
const REMOTE_RECALL_MS = 800;
const LOCAL_RECALL_MS = 150;
const OPENAI_URL = "https://api.openai.com/v1";

interface Given {
  readonly EMBEDDING_PROVIDER?: EmbeddingProvider | undefined;
  readonly EMBEDDING_BASE_URL?: string | undefined;
  readonly EMBEDDING_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly RECALL_DEADLINE_MS?: number | undefined;
}

/** The embedder's own address and key, else the model's. The model's key is sent to the model's own host only. */
export function embeddingOf(given: Given) {
  const { EMBEDDING_BASE_URL: ownUrl, OPENAI_BASE_URL: modelUrl } = given;
  const sameHost = ownUrl === undefined || new URL(ownUrl).host === new URL(modelUrl ?? OPENAI_URL).host;
  const baseUrl = ownUrl ?? modelUrl;
  const apiKey = given.EMBEDDING_API_KEY ?? (sameHost ? given.OPENAI_API_KEY : undefined);
  const provider = given.EMBEDDING_PROVIDER ?? (baseUrl !== undefined || apiKey !== undefined ? "openai" : "minilm");
  return {
    EMBEDDING_PROVIDER: provider,
    EMBEDDING_BY_DEFAULT: given.EMBEDDING_PROVIDER === undefined,
    EMBEDDING_BASE_URL: baseUrl,
    EMBEDDING_API_KEY: apiKey,
    RECALL_DEADLINE_MS: given.RECALL_DEADLINE_MS ?? (provider === "openai" ? REMOTE_RECALL_MS : LOCAL_RECALL_MS),
  };
}
