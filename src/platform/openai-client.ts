import OpenAI from "openai";

/** Where a service with OpenAI's API is, and what it is asked with. */
export interface OpenAIAccess {
  /** Absent for services that ask for none (Ollama, vLLM). */
  readonly apiKey?: string;
  /** Any OpenAI-compatible one: Azure's `/openai/v1/`, Ollama, vLLM. Default {@link OPENAI_URL}. */
  readonly baseUrl?: string;
  /** Sent with every call (`api-key` of a legacy Azure, a gateway's). Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to every call's URL (`api-version`). Default: nothing. */
  readonly query?: Readonly<Record<string, string>>;
}

export const OPENAI_URL = "https://api.openai.com/v1";

/**
 * The SDK, with error bodies as they came, under `raw`. It never tries again by itself: its waits can't be aborted
 * (openai/openai-node#1840, #2580).
 */
export function openAIClient({ apiKey, baseUrl = OPENAI_URL, headers, query }: OpenAIAccess, timeoutMs?: number): OpenAI {
  return new OpenAI({
    // The SDK insists on one; services that ask for none are sent none.
    apiKey: apiKey ?? "none",
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    maxRetries: 0,
    logLevel: "off",
    defaultHeaders: { ...(apiKey === undefined && { Authorization: null }), ...headers },
    defaultQuery: { ...query },
    fetch: async (url, init) => withRawError(await fetch(url, init)),
  });
}

/** Of an error body, in characters. */
const MAX_ERROR_CHARS = 64 * 1024;

/** The openai SDK reads no error body without an `error` key: it is handed the whole body under one. */
async function withRawError(response: Response): Promise<Response> {
  if (response.ok) return response;
  const raw = (await response.text().catch(() => "")).slice(0, MAX_ERROR_CHARS);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.delete("content-encoding");
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify({ error: { raw } }), { status: response.status, headers });
}
