import { AppError } from "../../platform/errors.js";
import type { ModelRequest } from "../../ports/chat-model.js";
import type { Capabilities } from "./capabilities.js";
import type { EndpointFailure } from "./endpoint-failure.js";

/** One thing that endpoints refuse: when it can be meant, how their words name it, and what is changed for good. */
interface Lesson {
  readonly meant: (known: Capabilities, request: ModelRequest) => boolean;
  readonly named: (failure: EndpointFailure) => boolean;
  readonly change: (known: Capabilities) => Partial<Capabilities>;
}

const lessJson = (known: Capabilities) => ({ json: known.json === "schema" ? "object" : "words", jsonAnswers: "unseen" }) as const;
const hasTools = (_: Capabilities, request: ModelRequest) => (request.tools?.length ?? 0) > 0;
const says =
  (pattern: RegExp, ...fields: readonly string[]) =>
  (failure: EndpointFailure) =>
    fields.includes(failure.field) || pattern.test(failure.words);
/** Both, so that an error about something else that mentions the word in passing is not taken for a refusal of it. */
const saysBoth = (one: RegExp, other: RegExp) => (failure: EndpointFailure) => one.test(failure.words) && other.test(failure.words);

const NO_WORDS = ["support", "require", "not allowed", "not enabled", "not permitted", "unavailable", "unknown", "recogni", "unexpected"];
const UNSUPPORTED = new RegExp([...NO_WORDS, "extra", "verified", "invalid_request"].join("|"), "i");
const EFFORT = /reasoning[_.]effort|reasoning effort/i;
const NINE_CHARS = /length of 9\b/i;
const JSON_MODE = /response[_.]?format|json_?schema|json_?object|structured|json_validate_failed|output_(?:config|format)/i;
const CALL_ID = /tool_calls?.{0,12}id\b/i;
const TOOLS = /\btools?\b|function call/i;

const IMAGES = /image|vision|multi-?modal/i;
const BLIND = /not a multi-?modal|at most 0 image|must be a (?:valid )?string|missing data required for image/i;
/** About this image, or how it was sent: no word on images as such. */
const ONE_IMAGE = new RegExp(
  [
    ...["unsupported image", "invalid[_ ]image", "image_parse", "process image", "exceed", "too (?:large|small|many)", "corrupt"],
    ...["download", "fetch", "\\burls?\\b", "format", "decode", "identify"],
  ].join("|"),
  "i",
);
const ANY_IMAGE = /image|file[ _]?(?:url|uri)/i;

/**
 * In this order: the narrower before the wider. The words are the providers' own, as their documentation and their users' issues
 * have them.
 */
const LESSONS: readonly Lesson[] = [
  {
    meant: (known, request) => known.images && hasImages(request),
    named: (failure) => !ONE_IMAGE.test(failure.words) && (BLIND.test(failure.words) || saysBoth(IMAGES, UNSUPPORTED)(failure)),
    change: () => ({ images: false }),
  },
  {
    meant: (known, request) => hasTools(known, request) && known.effort === "as_set",
    named: saysBoth(EFFORT, TOOLS),
    change: () => ({ effort: "none_with_tools" }),
  },
  { meant: (known) => known.effort !== "unsent", named: says(EFFORT, "reasoning_effort"), change: () => ({ effort: "unsent" }) },
  { meant: (known) => known.streamUsage, named: says(/stream_options|include_usage/i), change: () => ({ streamUsage: false }) },
  {
    meant: (known, request) => request.maxOutputTokens !== undefined && known.tokenField === "max_completion_tokens",
    named: says(/max_completion_tokens/i),
    change: () => ({ tokenField: "max_tokens" }),
  },
  {
    meant: (known, request) => request.maxOutputTokens !== undefined && known.tokenField === "max_tokens",
    named: says(/\bmax_tokens\b/i),
    change: () => ({ tokenField: "none" }),
  },
  { meant: (known) => known.cacheKey, named: says(/prompt_cache_key/i, "prompt_cache_key"), change: () => ({ cacheKey: false }) },
  { meant: (known) => known.signedReasoning, named: says(/encrypted/i, "include"), change: () => ({ signedReasoning: false }) },
  {
    meant: (known) => known.streaming,
    named: (failure) => failure.field === "stream" || saysBoth(/\bstream(?:ing)?\b/i, UNSUPPORTED)(failure),
    change: () => ({ streaming: false }),
  },
  {
    meant: (known, request) => request.json !== undefined && known.json !== "words",
    named: says(JSON_MODE),
    change: lessJson,
  },
  {
    meant: (known, request) => hasTools(known, request) && request.toolChoice === "none" && known.noToolChoice,
    named: says(/tool_choice|must (?:define|include|provide) (?:at least one |any |the )?tools/i, "tool_choice"),
    change: () => ({ noToolChoice: false }),
  },
  { meant: (known) => known.ids !== "nine", named: says(NINE_CHARS), change: () => ({ ids: "nine" }) },
  { meant: (known) => known.ids === "own", named: saysBoth(CALL_ID, /too long|maximum length|at most/i), change: () => ({ ids: "short" }) },
  {
    meant: (known) => known.system === "system",
    named: saysBoth(/system (?:role|message|instruction)|developer instruction|role.{0,20}system/i, UNSUPPORTED),
    change: () => ({ system: "user" }),
  },
  {
    // Roles are merged already: what still does not alternate are calls and their results.
    meant: (known, request) => known.tools && request.messages.some(({ role }) => role === "tool"),
    named: says(/alternat/i),
    change: () => ({ tools: false }),
  },
  {
    meant: (known, request) => hasTools(known, request) && known.tools,
    named: (failure) => ["tools", "tool_choice"].includes(failure.field) || saysBoth(TOOLS, UNSUPPORTED)(failure),
    change: () => ({ tools: false }),
  },
  { meant: (known) => !known.thinks, named: (failure) => failure.kind === "only_thought", change: () => ({ thinks: true }) },
];

/** Where refusals of what is asked for stand. Ollama and llama.cpp send some as 500, OpenRouter as 404. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 500, 501]);
const BAD_REQUEST: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** A call that the provider itself could not read: another try may be better. */
const TRY_AGAIN = /tool_use_failed|failed to call a function|MALFORMED_FUNCTION_CALL/i;
/** About one tool's schema, or one call: no word on tools as such. */
const ONE_TOOL = /schema for function|tool_use_id|tool_call_id|function_call_output/i;

/** What to change before the same is asked again; null when the refusal is about something else. */
export function lessonOf(failure: EndpointFailure, known: Capabilities, request: ModelRequest): Partial<Capabilities> | null {
  if (failure.kind === "refused") {
    if (!REFUSALS.has(failure.status ?? 0) || failure.contextTooLarge || mayTryAgain(failure)) return null;
    if (ONE_TOOL.test(failure.words) && !NINE_CHARS.test(failure.words) && !/too long/i.test(failure.words)) return null;
  } else if (failure.kind !== "only_thought") return null;
  return LESSONS.find((lesson) => lesson.meant(known, request) && lesson.named(failure))?.change(known) ?? null;
}

export function hasImages(request: ModelRequest): boolean {
  return request.messages.some((message) => message.role === "user" && (message.images?.length ?? 0) > 0);
}

/** What a client is told where the provider could not read or fetch an image of the request; null for what is about something else. */
export function refusedImage(failure: EndpointFailure): AppError | null {
  if (failure.kind !== "refused" || !BAD_REQUEST.has(failure.status ?? 0) || !ANY_IMAGE.test(failure.words)) return null;
  return new AppError("INVALID_IMAGE", {
    detail: "The model's provider could not read or fetch an image.",
    hint: "Your message is kept. Send the image in base64 instead of by its address, or a smaller one, or another.",
  });
}

/** True where the model's own call was refused: the same request once more is worth it. */
export function mayTryAgain(failure: EndpointFailure): boolean {
  return failure.kind === "refused" && TRY_AGAIN.test(failure.words);
}

const CONTEXT_WORDS = ["context length", "context window", "context size", "maximum"];

/** "This model's maximum context length is 8192 tokens": the number, where a refusal tells it. */
export function toldContextTokens(failure: EndpointFailure): number | null {
  if (!failure.contextTooLarge) return null;
  const words = failure.words.toLowerCase();
  const at = CONTEXT_WORDS.map((phrase) => words.indexOf(phrase)).filter((index) => index !== -1);
  const told = at.length === 0 ? undefined : /\d{4,8}/.exec(words.slice(Math.min(...at), Math.min(...at) + 80))?.[0];
  return told === undefined ? null : Number(told);
}
