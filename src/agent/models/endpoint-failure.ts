import { AppError, type AppErrorOptions } from "../../platform/errors.js";
import { parsedJson } from "../../platform/json.js";
import { retryAfterMs } from "../../platform/retry-after.js";

/** What went wrong at an endpoint, before anybody has judged it. Never leaves `models/`: its words may repeat the request. */
export class EndpointFailure extends Error {
  override readonly name = "EndpointFailure";
  /**
   * `refused`: it answered with an error. `unreachable`: no connection, or one that broke. `unreadable`: an answer of another shape,
   * or half of one. `page`: a web page for an answer. `timeout`: the client's own bound. `only_thought`: an answer that lacks what was
   * asked for.
   */
  readonly kind: "refused" | "unreachable" | "unreadable" | "page" | "timeout" | "only_thought";
  /** HTTP status; null where there was none. */
  readonly status: number | null;
  /** The provider's own words: message, code and named field, without what it repeats of the request. */
  readonly words: string;
  /** The request's field that it names, or the empty string. */
  readonly field: string;
  /** How long the provider asks to wait; null where it doesn't. */
  readonly retryAfterMs: number | null;
  /** The same as its `Retry-After` tells clients, in seconds. */
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: EndpointFailure["kind"],
    given: { readonly status?: number; readonly body?: string; readonly header?: (name: string) => string | null | undefined } = {},
  ) {
    super(kind);
    this.kind = kind;
    this.status = given.status ?? null;
    const { words, field } = readBody(given.body ?? "");
    this.words = words;
    this.field = field;
    const { header = () => null } = given;
    const told = retryAfterMs((name) => (name === "retry-after" ? header(name) : null));
    this.retryAfterMs = retryAfterMs(header);
    this.retryAfterSeconds = told === null ? null : Math.ceil(told / 1000);
  }

  /** True for what may pass by itself. */
  get passing(): boolean {
    if (this.kind === "unreachable") return true;
    if (this.kind !== "refused" || OUT_OF_CREDIT.test(this.words)) return false;
    return this.status !== null && (PASSING.has(this.status) || this.status >= 500 || this.tooManyTokens);
  }

  /** Not one request is too large, but all of the last minute: some say so with 413. */
  get tooManyTokens(): boolean {
    return this.status === 413 && TOKENS_A_TIME.test(this.words);
  }

  get contextTooLarge(): boolean {
    return (
      this.kind === "refused" &&
      (CONTEXT_STATUS.has(this.status ?? 400) || this.status === 500) &&
      (CONTEXT.test(this.words) || TOO_LONG.test(this.words))
    );
  }
}

/** Above all of an OpenAI's, a vLLM's, an Anthropic's, a Gemini's and a llama.cpp's words for it. */
const CONTEXT = /context_length_exceeded|exceed_context_size|maximum context|context (?:length|window|size)/i;
const TOO_LONG = /prompt is too long|input token count/i;
const CONTEXT_STATUS: ReadonlySet<number> = new Set([400, 413, 422]);
const TOKENS_A_TIME = /tokens per (?:minute|hour|day)|\bTP[MD]\b|rate_limit_exceeded/i;
const CONTENT_FILTER = /content_filter|content management policy|responsible ?ai|content policy|moderation/i;
const OUT_OF_CREDIT = /insufficient_quota|insufficient balance|credit balance|billing|insufficient credits/i;
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const MAX_WORDS = 2_000;
/** Keys of error bodies whose text is the provider's own. Others (`input`, `failed_generation`) repeat the request. */
const OWN_WORDS: ReadonlySet<string> = new Set(["message", "msg", "detail", "error", "code", "type", "param", "loc", "status", "reason"]);

/**
 * Reads every known form: `{ error: { message, code, param } }`, `{ object: "error", message }`, `{ detail: [ { loc, msg } ] }`, plain
 * text.
 */
function readBody(body: string): { words: string; field: string } {
  const json = parsedJson(body);
  if (json === undefined) return { words: body.slice(0, MAX_WORDS), field: "" };
  const words: string[] = [];
  let field = "";
  const visit = (value: unknown, key: string, depth: number): void => {
    if (depth > 6) return;
    if (typeof value === "string" || typeof value === "number") {
      if (key === "param" && field === "") field = String(value);
      words.push(String(value).slice(0, MAX_WORDS));
    } else if (Array.isArray(value) && key === "loc") {
      field ||= String(value.at(-1) ?? "");
      words.push(value.join("."));
    } else if (Array.isArray(value)) for (const item of value.slice(0, 10)) visit(item, key, depth + 1);
    else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value)) if (OWN_WORDS.has(name)) visit(inner, name, depth + 1);
  };
  visit(json, "", 0);
  return { words: words.join(" · ").slice(0, MAX_WORDS), field };
}

/** What a client is told: a code and a hint, none of the provider's words. `settings`: the variables that a person would look at. */
export function clientError(failure: EndpointFailure, settings: string): AppError {
  const wait = failure.retryAfterSeconds === null ? {} : { retryAfterSeconds: failure.retryAfterSeconds };
  if (failure.kind === "timeout") return new AppError("MODEL_TIMEOUT");
  if (failure.kind === "unreachable") return unavailable("The model's endpoint can't be reached.");
  if (failure.kind === "page") return unavailable(`The model's endpoint answers with a web page: whoever runs this looks at ${settings}.`);
  if (failure.kind !== "refused") return unavailable("The model's answer broke off or could not be read.");
  const { status, words } = failure;
  const detail = status === null ? "The model's endpoint broke off with an error." : `The model's endpoint answered with status ${status}.`;
  if (failure.contextTooLarge) return new AppError("CONTEXT_TOO_LARGE");
  if (CONTENT_FILTER.test(words) && status !== null && status < 500) return new AppError("MODEL_CONTENT_FILTER");
  if (status === 402 || status === 429 || failure.tooManyTokens || OUT_OF_CREDIT.test(words))
    return new AppError("MODEL_QUOTA", { detail, ...wait });
  if (failure.passing || status === null || status < 400) return unavailable(detail, wait);
  return new AppError("MODEL_REFUSED_REQUEST", { detail, hint: hintOf(status, settings) });
}

function unavailable(detail: string, more: AppErrorOptions = {}): AppError {
  return new AppError("MODEL_UNAVAILABLE", { detail, ...more });
}

function hintOf(status: number, settings: string): string {
  const person = "Trying again won't help. Whoever runs this server:";
  if (status === 401 || status === 403) return `${person} check the key (${settings}).`;
  if (status === 404) return `${person} check the model's name and address (${settings}).`;
  return `${person} the log has the provider's words, and \`maitred doctor --model\` tells what works (${settings}).`;
}

/** A status where an error has none of its own: LiteLLM tells it as text. */
export function statusIn(code: unknown): number | undefined {
  if (typeof code === "number") return code;
  return typeof code === "string" && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}
