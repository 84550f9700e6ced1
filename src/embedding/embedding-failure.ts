import { setImmediate } from "node:timers/promises";
import { AppError } from "../platform/errors.js";
import { retryAfterMs } from "../platform/retry-after.js";
import type { TokenCounter } from "../platform/tokens.js";

/** What went wrong at an embeddings endpoint, before anybody has judged it. Never leaves `embedding/`: its words may repeat the request. */
export class EmbeddingFailure extends Error {
  override readonly name = "EmbeddingFailure";
  /** `refused`: answered with an error. `unreadable`: an answer of another shape, or half of one. `timeout`: our own bound. */
  readonly kind: "refused" | "unreachable" | "unreadable" | "timeout";
  /** HTTP status; 0 where there was none. */
  readonly status: number;
  /** The error's raw body. */
  readonly words: string;
  /** How long the service asks to wait; null where it doesn't. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: EmbeddingFailure["kind"],
    given: { readonly status?: number; readonly words?: string; readonly header?: (name: string) => string | null | undefined } = {},
  ) {
    super(kind);
    this.kind = kind;
    this.status = given.status ?? 0;
    this.words = given.words ?? "";
    this.retryAfterMs = given.header === undefined ? null : retryAfterMs(given.header);
  }

  /** The same, of a service that is not asked yet: it wanted to be left alone for so much longer. */
  after(ms: number): EmbeddingFailure {
    const { kind, status, words } = this;
    return new EmbeddingFailure(kind, { status, words, header: (name) => (name === "retry-after-ms" ? String(ms) : null) });
  }

  /** May pass by itself. */
  get passing(): boolean {
    if (this.kind === "unreachable") return true;
    return this.kind === "refused" && (PASSING.has(this.status) || this.status >= 500) && !this.isAboutTheRequest;
  }

  /** Servers of local models send some refusals as 500 or 501. */
  get isAboutTheRequest(): boolean {
    return this.kind === "refused" && (REFUSALS.has(this.status) || this.tooManyTexts || this.textTooLong || this.namesDimensions);
  }

  get tooManyTexts(): boolean {
    return this.kind === "refused" && SIZES.has(this.status) && TOO_MANY.test(this.words);
  }

  get textTooLong(): boolean {
    return this.kind === "refused" && SIZES.has(this.status) && !this.tooManyTexts && isTooLong(this.words);
  }

  get namesDimensions(): boolean {
    return this.kind === "refused" && OPTIONS.has(this.status) && /dimension|matryoshka/i.test(this.words);
  }

  get namesEncoding(): boolean {
    return this.kind === "refused" && OPTIONS.has(this.status) && /encoding[_ ]?format|base64/i.test(this.words);
  }

  /** For a client and the log: the class of what went wrong and what to set, none of the service's words. */
  asAppError(model: string): AppError {
    const { detail, hint } = tell(this, model);
    return new AppError("EMBEDDING_UNAVAILABLE", {
      detail,
      ...(hint === null ? {} : { hint }),
      ...(this.retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(this.retryAfterMs / 1000) }),
    });
  }
}

const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const REFUSALS: ReadonlySet<number> = new Set([400, 422]);
const OPTIONS: ReadonlySet<number> = new Set([400, 415, 422, 500, 501]);
const SIZES: ReadonlySet<number> = new Set([400, 413, 422, 500]);
const TOO_MANY = /batch|per request|too many (?:inputs|texts|items)/i;
const TOO_LONG = [
  "context length",
  "context window",
  "context size",
  "maximum context",
  "maximum input",
  "too long",
  "too large",
  "token limit",
];
const EXCEEDED = /exceed|less than/i;
const TOKENS = /tokens/i;
const NO_MODEL = /model/i;
/** The variables of its own that an embedder has. */
const ELSEWHERE =
  "Set EMBEDDING_BASE_URL and EMBEDDING_API_KEY to a service that makes embeddings, or EMBEDDING_PROVIDER=minilm, static, transformers " +
  "or hashing.";

function tell({ kind, status, words }: EmbeddingFailure, model: string): { detail: string; hint: string | null } {
  if (kind === "timeout") return { detail: "The embedder took too long.", hint: null };
  if (kind === "unreachable") return { detail: "The embedder can't be reached.", hint: "Check EMBEDDING_BASE_URL (or OPENAI_BASE_URL)." };
  if (kind === "unreadable")
    return { detail: "The embedder's answer can't be read.", hint: `Check EMBEDDING_BASE_URL: it may be no embedder. ${ELSEWHERE}` };
  const detail = `The embedder answered with status ${status}.`;
  if (status === 401 || status === 403) return { detail, hint: "Check EMBEDDING_API_KEY (or OPENAI_API_KEY), or EMBEDDING_HEADERS." };
  if (status === 404 && NO_MODEL.test(words))
    return { detail: `The embedder knows no model ${model}.`, hint: "Check MEMORY_EMBEDDING_MODEL." };
  if (status === 404 || status === 405 || status === 501)
    return { detail: `This endpoint makes no embeddings (status ${status} for /embeddings).`, hint: ELSEWHERE };
  if (status === 400 || status === 422)
    return { detail, hint: "Check MEMORY_EMBEDDING_MODEL and MEMORY_EMBEDDING_DIMENSIONALITY: the service refused the request." };
  return { detail, hint: null };
}

function isTooLong(words: string): boolean {
  const said = words.toLowerCase();
  return TOO_LONG.some((phrase) => said.includes(phrase)) || (EXCEEDED.test(said) && TOKENS.test(said));
}

/** UTF-16 units that are counted at a time: what a tokenizer needs for one unbroken run grows faster than the run. */
const SLICE = 256;
/** Of {@link cutToTokens} without a counter: no current tokenizer needs more than a token for each of so many bytes of usual text. */
const BYTES_PER_TOKEN = 3;

/**
 * A text's beginning of at most `maxTokens`, cut between characters. With a tokenizer at most a slice is lost beyond need; without,
 * tokens are
 * estimated from the bytes. Lets others run between long texts.
 */
export async function cutToTokens(text: string, maxTokens: number, counter: TokenCounter | null): Promise<string> {
  // A token is at least a byte.
  if (Buffer.byteLength(text) <= maxTokens) return text;
  if (counter === null) return cutToBytes(text, maxTokens * BYTES_PER_TOKEN);
  await setImmediate();
  let tokens = 0;
  for (let at = 0; at < text.length; ) {
    const end = characterEnd(text, at + SLICE);
    tokens += counter.count(text.slice(at, end));
    if (tokens > maxTokens) return text.slice(0, at);
    at = end;
  }
  return text;
}

function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, maxBytes).toString("utf8");
  // At most one character is cut in two, which leaves up to three marks of it.
  const broken = cut.slice(-3).indexOf("\uFFFD");
  return broken === -1 ? cut : cut.slice(0, Math.max(0, cut.length - 3) + broken);
}

/** Not within a surrogate pair. */
function characterEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}
