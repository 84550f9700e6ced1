import { tokenCounterFor } from "../../../src/platform/tokens.js";
import type { RawAnswer } from "./faults.js";

/** A request for vectors as it came. */
export interface EmbeddingRequest {
  /** Behind the server's address, without its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: { readonly input: readonly string[]; readonly encoding_format?: string; readonly dimensions?: number };
}

/** What a provider of embeddings refuses, or does in its own way, and what is made of it: by a guest's turns, in the log, and in `/readyz`. */
export interface EmbeddingFault {
  readonly name: string;
  /** `seen`: how many such requests came before. Null: it answers as OpenAI does. */
  readonly answers: (request: EmbeddingRequest, seen: number) => Promise<RawAnswer | null> | RawAnswer | null;
  /** To requests for chats, too: null where they are answered. */
  readonly refusesChat?: (request: EmbeddingRequest) => RawAnswer | null;
  /** Whether vectors come as base64. */
  readonly inBase64?: boolean;
  /** By the server's address. */
  readonly variables?: (address: string) => Readonly<Record<string, string>>;
  /** What the guest says first. Default: that they love jazz. */
  readonly says?: string;
  /** How recall goes in a later conversation: `degraded` finds what is known all the same. */
  readonly recall: "ok" | "degraded";
  /** How many requests were refused, over the start and three turns. `all`: each. */
  readonly refused: number | "all";
  readonly log: RegExp | null;
  /** The status of the part `embedder`, or what is told where that is degraded. */
  readonly readyz: "ok" | RegExp;
}

const refusal = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): RawAnswer => ({
  status,
  headers,
  type: "application/json",
  pieces: [JSON.stringify(body)],
});
const openai = (message: string) => ({ error: { message, type: "invalid_request_error", param: null, code: null } });
const AZURE_KEY = "azure-key-1234";

/** A key of its own header, its version in the query, a deployment in the path; a bearer's token is somebody else's. */
function azureRefusal(deployment: string): (request: EmbeddingRequest) => RawAnswer | null {
  return ({ path, query, headers }) => {
    if (headers["api-key"] !== AZURE_KEY || headers.authorization !== undefined) {
      const message =
        "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.";
      return refusal(401, { statusCode: 401, message });
    }
    if (path.startsWith(`/openai/deployments/${deployment}/`) && query.get("api-version") === "2024-10-21") return null;
    return refusal(404, { error: { code: "404", message: "Resource not found" } });
  };
}

const counter = tokenCounterFor("text-embedding-3-small");

/** As OpenAI and Azure word it. */
async function refusesTokens({ body }: EmbeddingRequest): Promise<RawAnswer | null> {
  const tokens = Math.max(...(await Promise.all(body.input.map(async (text) => (await counter).count(text)))));
  const words = `This model's maximum context length is 8192 tokens, however you requested ${tokens} tokens (${tokens} in your prompt; 0 for the completion).`;
  return tokens > 8_191 ? refusal(400, openai(`${words} Please reduce your prompt; or completion length.`)) : null;
}

const LIMITED = refusal(429, { error: { message: "Rate limit reached", type: "requests" } }, { "retry-after": "3600" });

/** An Azure whose key and version stand in the variables of one prefix; by `chats` the model is there, too. */
function azure(name: string, prefix: "OPENAI" | "EMBEDDING", chats: boolean): EmbeddingFault {
  return {
    name,
    answers: azureRefusal("embed"),
    ...(chats && { refusesChat: azureRefusal("chat") }),
    variables: (address) => ({
      ...(chats && { OPENAI_BASE_URL: `${address}/openai/deployments/chat` }),
      EMBEDDING_BASE_URL: `${address}/openai/deployments/embed`,
      [`${prefix}_HEADERS`]: JSON.stringify({ "api-key": AZURE_KEY }),
      [`${prefix}_QUERY`]: JSON.stringify({ "api-version": "2024-10-21" }),
    }),
    recall: "ok",
    refused: 0,
    log: null,
    readyz: "ok",
  };
}

export const EMBEDDING_FAULTS: readonly EmbeddingFault[] = [
  azure("Azure: its key in `api-key`, `api-version` in the query, a deployment in the path", "OPENAI", true),
  azure("Azure: for embeddings alone", "EMBEDDING", false),
  {
    name: "Azure: without its key",
    answers: azureRefusal("embed"),
    variables: (address) => ({ EMBEDDING_BASE_URL: `${address}/openai/deployments/embed` }),
    recall: "degraded",
    refused: "all",
    log: /the embedder failed at start.*status 401.*EMBEDDING_HEADERS/,
    readyz: /status 401/,
  },
  {
    name: "a provider of chats that has no `/embeddings`",
    answers: () => refusal(404, { error: { message: "Not Found" } }),
    recall: "degraded",
    refused: "all",
    log: /the embedder failed at start.*status 404.*EMBEDDING_BASE_URL/,
    readyz: /status 404/,
  },
  {
    name: "nomic: what is looked for and what is to be found are told apart",
    answers: ({ body }) =>
      body.input.some((text) => /^(?!search_(?:query|document): ).*(?:jazz|love|concerts)/su.test(text))
        ? refusal(400, openai("A task prefix is missing."))
        : null,
    variables: () => ({ MEMORY_EMBEDDING_MODEL: "nomic-embed-text" }),
    recall: "ok",
    refused: 0,
    log: null,
    readyz: "ok",
  },
  {
    name: "`Retry-After` of a second",
    answers: (_, seen) => (seen === 1 ? refusal(429, { error: { message: "Rate limit reached" } }, { "retry-after": "1" }) : null),
    recall: "ok",
    refused: 1,
    log: /searches by words alone: the embedder failed.*status 429/,
    readyz: "ok",
  },
  {
    name: "`Retry-After` of an hour",
    answers: (_, seen) => (seen > 0 ? LIMITED : null),
    recall: "degraded",
    refused: 1,
    log: /searches by words alone: the embedder failed.*status 429/,
    readyz: /status 429/,
  },
  {
    name: "OpenAI's ada-002: no `dimensions`",
    answers: ({ body }) =>
      body.dimensions === undefined ? null : refusal(400, openai("This model does not support specifying dimensions.")),
    recall: "ok",
    refused: 1,
    log: /refuses an option.*"left_out":\["dimensions"\]/,
    readyz: "ok",
  },
  {
    name: "vLLM: no `dimensions`",
    answers: ({ body }) => {
      if (body.dimensions === undefined) return null;
      const message = 'Model "e" does not support matryoshka representation, changing output dimensions will lead to poor results.';
      return refusal(400, { object: "error", message, type: "BadRequestError", param: null, code: 400 });
    },
    recall: "ok",
    refused: 1,
    log: /"left_out":\["dimensions"\]/,
    readyz: "ok",
  },
  {
    name: "base64 is refused",
    answers: ({ body }) => (body.encoding_format === "base64" ? refusal(400, openai("Unsupported encoding_format: base64")) : null),
    recall: "ok",
    refused: 0,
    log: null,
    readyz: "ok",
  },
  {
    name: "every `encoding_format` is refused",
    answers: ({ body }) =>
      body.encoding_format === undefined
        ? null
        : refusal(422, { detail: [{ type: "extra_forbidden", loc: ["body", "encoding_format"], msg: "Extra inputs are not permitted" }] }),
    recall: "ok",
    refused: 1,
    log: /"left_out":\["encoding_format"\]/,
    readyz: "ok",
  },
  {
    name: "base64 comes, whatever was asked for",
    answers: () => null,
    inBase64: true,
    recall: "ok",
    refused: 0,
    log: null,
    readyz: "ok",
  },
  {
    name: "OpenAI: 8,191 tokens of a text",
    answers: refusesTokens,
    says: `I love jazz. ${"𓀀".repeat(3_500)}`,
    recall: "ok",
    refused: 0,
    log: null,
    readyz: "ok",
  },
  {
    name: "text-embeddings-inference: 512 tokens of a text, of a model whose limit nobody knows",
    answers: ({ body }) => {
      const tokens = Math.max(...body.input.map((text) => Math.ceil(text.length / 4)));
      const error = `Input validation error: \`inputs\` must have less than 512 tokens. Given: ${tokens}`;
      return tokens < 512 ? null : refusal(413, { error, error_type: "Validation" });
    },
    variables: () => ({ MEMORY_EMBEDDING_MODEL: "e" }),
    says: `I love jazz. ${"It was a fine evening. ".repeat(300)}`,
    recall: "ok",
    refused: 4,
    log: null,
    readyz: "ok",
  },
];
