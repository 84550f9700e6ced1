import type { FormBody } from "./forms.js";

/** One answer as it goes over the wire. */
export interface RawAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `text/event-stream`. */
  readonly type?: string;
  /** Each is written by itself. */
  readonly pieces: readonly string[];
  /** Behind the pieces. `cut`: the connection breaks. A text comes again and again until nobody reads. Default: it ends. */
  readonly after?: "cut" | { readonly again: string };
}

/** What a provider does wrong, and what is made of it: by the guest's one turn, in the log, in `/readyz` and in `doctor`. */
export interface Fault {
  readonly name: string;
  /** To the request for the guest's answer, of which so many came before; null: it answers as OpenAI does. */
  readonly answers: (seen: number, body: FormBody) => RawAnswer | null;
  /** What its list of models says of the window, in tokens. */
  readonly tellsWindow?: number;
  readonly variables?: Readonly<Record<string, string>>;
  readonly guest: {
    readonly status: number;
    /** Of a problem. */
    readonly code?: string;
    readonly says?: RegExp;
    readonly retryAfter?: string;
    /** Of an answer that is half. */
    readonly finish?: "length" | "content_filter";
  };
  /** How often the answer was asked for. */
  readonly asked: number;
  readonly log: RegExp | null;
  /** The status of the part `model` behind it, or what is told where that is degraded. */
  readonly readyz: "ok" | RegExp;
  /** What `doctor --model` says of it. */
  readonly doctor: RegExp;
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const DONE = "data: [DONE]\n\n";
const whole = (text: string, finish = "stop"): RawAnswer => ({ pieces: [chunk({ content: text }), chunk({}, finish), DONE] });
const refusal = (status: number, error: object, headers: Readonly<Record<string, string>> = {}): RawAnswer => ({
  status,
  headers,
  type: "application/json",
  pieces: [JSON.stringify({ error })],
});
const within = (error: object, ...before: readonly string[]): RawAnswer => ({
  pieces: [...before, `data: ${JSON.stringify({ error })}\n\n`],
});
const first = (answer: RawAnswer) => (seen: number) => (seen === 0 ? answer : null);
const always = (answer: RawAnswer) => () => answer;
const PAGE = "<!doctype html><html><body><h1>Welcome to the gateway</h1></body></html>";
const TOKENS_A_MINUTE =
  "Request too large for model `llama-3.3-70b` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): " +
  "Limit 6000, Requested 7121, please reduce your message size and try again.";
const OVER =
  "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).";
const refusesLong =
  (tokens: number) =>
  (body: FormBody): RawAnswer | null => {
    const asks = Math.ceil(JSON.stringify([body.messages, body.tools]).length / 4) + (body.max_completion_tokens ?? body.max_tokens ?? 0);
    return asks > tokens ? refusal(400, { message: OVER.replace("4096", String(tokens)), type: "BadRequestError", code: 400 }) : null;
  };

const FAILED = /the model's endpoint failed/;

export const FAULTS: readonly Fault[] = [
  {
    name: "LiteLLM: a status in the stream, as text",
    answers: first(within({ message: "litellm.RateLimitError", type: "throttling_error", param: null, code: "429" })),
    guest: { status: 200 },
    asked: 2,
    log: /"status":429/,
    readyz: "ok",
    doctor: /✓ Turn/,
  },
  {
    name: "an error in the stream before the first word",
    answers: first(within({ message: "overloaded", code: 503 })),
    guest: { status: 200 },
    asked: 2,
    log: /"status":503/,
    readyz: "ok",
    doctor: /✓ Turn/,
  },
  {
    name: "an error in the stream behind the first words",
    answers: first(within({ message: "overloaded", code: 503 }, chunk({ content: "There is an op" }))),
    guest: { status: 502, code: "MODEL_UNAVAILABLE", says: /status 503/ },
    asked: 1,
    log: FAILED,
    readyz: /status 503/,
    doctor: /✗ Model: MODEL_UNAVAILABLE: .*status 503/,
  },
  {
    name: "an error in the stream without a status",
    answers: always(within({ message: "something broke" })),
    guest: { status: 502, code: "MODEL_UNAVAILABLE", says: /broke off with an error/ },
    asked: 1,
    log: FAILED,
    readyz: /broke off with an error/,
    doctor: /✗ Model: MODEL_UNAVAILABLE: .*broke off with an error/,
  },
  {
    name: "LM Studio: a context that is too small, as an event",
    answers: always({
      pieces: [
        `event: error\ndata: ${JSON.stringify({ error: { message: "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 1000 tokens, which is not enough." } })}\n\n`,
      ],
    }),
    guest: { status: 413, code: "CONTEXT_TOO_LARGE", says: /reads 1,000 tokens/ },
    asked: 1,
    log: /told how much it reads at once.*"learnt":{"contextTokens":1000}/,
    readyz: /reads 1,000 tokens/,
    doctor: /✗ Model: CONTEXT_TOO_LARGE/,
  },
  {
    name: "Groq: 413 for tokens a minute, which is no matter of size",
    answers: first(refusal(413, { message: TOKENS_A_MINUTE, type: "tokens", code: "rate_limit_exceeded" }, { "retry-after": "0" })),
    guest: { status: 200 },
    asked: 2,
    log: /"status":413/,
    readyz: "ok",
    doctor: /✓ Turn/,
  },
  {
    name: "Groq: 413 for tokens a minute, for long",
    answers: always(refusal(413, { message: TOKENS_A_MINUTE, type: "tokens", code: "rate_limit_exceeded" }, { "retry-after": "58" })),
    guest: { status: 503, code: "MODEL_QUOTA", retryAfter: "58" },
    asked: 1,
    log: /"status":413/,
    readyz: /status 413.*left alone until \d\d:\d\d:\d\d UTC/,
    doctor: /✗ Model: MODEL_QUOTA: .*status 413/,
  },
  {
    name: "429 for an hour",
    answers: always(refusal(429, { message: "Rate limit reached", type: "requests" }, { "retry-after": "3600" })),
    guest: { status: 503, code: "MODEL_QUOTA", retryAfter: "3600" },
    asked: 1,
    log: /"status":429/,
    readyz: /^m: .*status 429.*left alone until \d\d:\d\d:\d\d UTC/,
    doctor: /✗ Model: MODEL_QUOTA: .*status 429/,
  },
  {
    name: "no credit",
    answers: always(refusal(429, { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" })),
    guest: { status: 503, code: "MODEL_QUOTA" },
    asked: 1,
    log: /"status":429/,
    readyz: /status 429/,
    doctor: /✗ Model: MODEL_QUOTA: .*status 429/,
  },
  {
    name: "an answer that was cut at its limit",
    answers: always(whole("There is an opera on", "length")),
    guest: { status: 200, says: /^There is an opera on$/, finish: "length" },
    asked: 1,
    log: null,
    readyz: "ok",
    doctor: /! Turn: .*its answer was cut/,
  },
  {
    name: "an answer that was cut by a filter",
    answers: always(whole("There is an", "content_filter")),
    guest: { status: 200, says: /^There is an$/, finish: "content_filter" },
    asked: 1,
    log: null,
    readyz: "ok",
    doctor: /! Turn: .*its answer was cut.*\n.*filter/,
  },
  {
    name: "a connection that breaks in the middle",
    answers: always({ pieces: [chunk({ content: "There is an op" })], after: "cut" }),
    guest: { status: 502, code: "MODEL_UNAVAILABLE" },
    asked: 1,
    log: FAILED,
    readyz: /broke off/,
    doctor: /✗ Model: MODEL_UNAVAILABLE: .*broke off/,
  },
  {
    name: "an answer without anything in it",
    answers: always({ pieces: [] }),
    guest: { status: 502, code: "MODEL_UNAVAILABLE", says: /could not be read/ },
    asked: 1,
    log: FAILED,
    readyz: /could not be read/,
    doctor: /✗ Model: MODEL_UNAVAILABLE: .*could not be read/,
  },
  {
    name: "a web page where an answer was asked for",
    answers: always({ type: "text/html; charset=utf-8", pieces: [PAGE] }),
    guest: { status: 502, code: "MODEL_UNAVAILABLE", says: /web page/ },
    asked: 1,
    log: /"kind":"page"/,
    readyz: /web page/,
    doctor: /✗ Model: MODEL_UNAVAILABLE: .*web page: .*OPENAI_BASE_URL/,
  },
  {
    name: "a web page as a refusal",
    answers: always({ status: 404, type: "text/html", pieces: [PAGE] }),
    guest: { status: 502, code: "MODEL_REFUSED_REQUEST", says: /status 404/ },
    asked: 1,
    log: /"status":404/,
    readyz: /status 404/,
    doctor: /✗ Model: MODEL_REFUSED_REQUEST: .*status 404/,
  },
  {
    name: "200 with an error in it that may pass",
    answers: first({ type: "application/json", pieces: [JSON.stringify({ error: { message: "overloaded", code: 503 } })] }),
    guest: { status: 200 },
    asked: 2,
    log: /"status":503/,
    readyz: "ok",
    doctor: /✓ Turn/,
  },
  {
    name: "200 with an error in it that stays",
    answers: always({ type: "application/json", pieces: [JSON.stringify({ error: { message: "Invalid API key", code: 401 } })] }),
    guest: { status: 502, code: "MODEL_REFUSED_REQUEST", says: /status 401/ },
    asked: 1,
    log: /"status":401/,
    readyz: /status 401/,
    doctor: /✗ Model: MODEL_REFUSED_REQUEST: .*status 401/,
  },
  {
    name: "an answer without an end",
    answers: always({ pieces: [chunk({ content: "There is an opera" })], after: { again: chunk({ content: " and a table" }) } }),
    variables: { MODEL_TIMEOUT_MS: "1500" },
    guest: { status: 200, says: /^There is an opera and a table/, finish: "length" },
    asked: 1,
    log: null,
    readyz: "ok",
    doctor: /! Turn: .*its answer was cut/,
  },
  {
    name: "thought without an end",
    answers: always({ pieces: [], after: { again: chunk({ reasoning_content: "SECRET-THOUGHT " }) } }),
    variables: { MODEL_TIMEOUT_MS: "1000" },
    guest: { status: 504, code: "MODEL_TIMEOUT" },
    asked: 1,
    log: null,
    readyz: /took too long/,
    doctor: /✗ Model: MODEL_TIMEOUT/,
  },
  {
    name: "nothing but signs of life",
    answers: always({ pieces: [], after: { again: ": PROCESSING\n\n" } }),
    variables: { MODEL_TIMEOUT_MS: "1000" },
    guest: { status: 504, code: "MODEL_TIMEOUT" },
    asked: 1,
    log: null,
    readyz: /took too long/,
    doctor: /✗ Model: MODEL_TIMEOUT/,
  },
  {
    name: "a window that is smaller than its list says",
    tellsWindow: 32_768,
    answers: (_seen, body) => refusesLong(2_048)(body),
    guest: { status: 200 },
    asked: 2,
    log: /told how much it reads at once.*"learnt":{"contextTokens":2048}/,
    readyz: "ok",
    doctor: /! Context: 2,048 tokens at once, as the endpoint tells/,
  },
  {
    name: "a window that MODEL_CONTEXT_TOKENS says too large",
    variables: { MODEL_CONTEXT_TOKENS: "32768" },
    answers: (_seen, body) => refusesLong(2_048)(body),
    guest: { status: 200 },
    asked: 2,
    log: /told how much it reads at once.*"learnt":{"contextTokens":2048}/,
    readyz: "ok",
    doctor: /! Context: 2,048 tokens at once, as the endpoint tells, and not what MODEL_CONTEXT_TOKENS says/,
  },
  {
    name: "another model under the same name, which takes no tools",
    answers: (_seen, body) =>
      body.tools === undefined ? null : refusal(400, { message: "registry.ollama.ai/library/m does not support tools", type: "api_error" }),
    guest: { status: 200 },
    asked: 2,
    log: /left out from now on/,
    readyz: "ok",
    doctor: /takes no tools: .*\n✓ Turn/,
  },
];
