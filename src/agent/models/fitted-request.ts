import type { Usage } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { estimatedTokens } from "../../platform/tokens.js";
import type { ModelMeasure, ModelMessage, ModelRequest, ToolSpec } from "../../ports/chat-model.js";
import { shortenedTo } from "../half-context.js";
import type { Capabilities } from "./capabilities.js";

/** What a model may think before it answers, in tokens, beside the limit of its answer. */
const THOUGHT_TOKENS = 8_000;
/** What an answer gets of a window: a share of it, not less and not more than this in tokens. */
const ANSWER_SHARE = 0.2;
const LEAST_ANSWER = 200;
const MOST_ANSWER = 4_096;
/** Less says nothing, however slow the model is. */
const A_SENTENCE = 32;
/** Of the time of a call, what is left to write in: the rest is on the way. */
const WRITING_SHARE = 0.7;
/** What endpoints' templates add: at the begin, and for each message. */
const TEMPLATE_TOKENS = 16;
const MESSAGE_TOKENS = 6;
/** What a token is in bytes, in any language and tokenizer. */
const LEAST_BYTES = 1.5;
const MOST_BYTES = 4;
/** What takes more of the window may have been cut. */
const UNCUT_SHARE = 0.95;
/** What the rounds before the message get of a window that doesn't hold all tools, at least. */
const ROUNDS_SHARE = 0.15;

/** Not even the prompt fits: no guest's message would be answered. */
export class WindowTooSmall extends AppError {}

/** What is known where a request is to go. */
export interface Fit extends ModelMeasure {
  readonly thinks: Capabilities["thinks"];
  /** Whether the schema of a JSON answer stands in the prompt. */
  readonly json: Capabilities["json"];
  readonly tools: Capabilities["tools"];
  readonly bytesPerToken: Capabilities["bytesPerToken"];
  /** How long the call may take, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * A request as it fits the model's window, and with a bound of its answer that fits window and speed. What is too long: tools are told in
 * short, then only those that the message is about; the oldest rounds go, and this turn's long results are cut. Prompt and message stay
 * whole. Where the window isn't known nothing is left out. @throws CONTEXT_TOO_LARGE with what would be needed ({@link WindowTooSmall}
 * where the prompt alone is too long)
 */
export function fittedRequest(request: ModelRequest, fit: Fit): ModelRequest {
  const { contextTokens: window } = fit;
  const asked = request.maxOutputTokens ?? answerTokens(request, fit);
  if (window === null) return withOutput(request, asked, fit, Number.POSITIVE_INFINITY);
  const least = request.maxOutputTokens === undefined ? Math.min(LEAST_ANSWER, asked ?? LEAST_ANSWER) : (asked ?? 0) / 2;
  const wanted = asked ?? Math.max(LEAST_ANSWER, Math.floor(window * ANSWER_SHARE));
  if (inputTokens(request, fit) + wanted <= window) return withOutput(request, asked, fit, window);
  const shorter = request.json === undefined ? shortened(request, fit, window - wanted) : request;
  const free = window - inputTokens(shorter, fit);
  if (free < least) throw tooLarge(request, fit, window, least);
  return withOutput(shorter, Math.min(wanted, free), fit, window);
}

/** Whether one asks for less than another, or says less. */
export function isShorter(one: ModelRequest, other: ModelRequest): boolean {
  const said = ({ messages, tools }: ModelRequest) => JSON.stringify([messages, tools]).length;
  const most = ({ maxOutputTokens = Number.POSITIVE_INFINITY }: ModelRequest) => maxOutputTokens;
  return said(one) < said(other) || (other.maxOutputTokens !== undefined && most(one) < most(other));
}

/** As much as the model can write in the time of a call, and a share of a small window; undefined where nothing bounds it by much. */
function answerTokens(request: ModelRequest, { contextTokens, inputPerSecond, outputPerSecond, timeoutMs }: Fit): number | undefined {
  const reading = inputPerSecond === null ? 0 : charsOf(request.messages) / 4 / inputPerSecond;
  const seconds = Math.max(1, (timeoutMs / 1_000 - reading) * WRITING_SHARE);
  const byTime = outputPerSecond === null ? Number.POSITIVE_INFINITY : Math.max(A_SENTENCE, Math.floor(outputPerSecond * seconds));
  const byWindow = contextTokens === null ? Number.POSITIVE_INFINITY : Math.max(LEAST_ANSWER, Math.floor(contextTokens * ANSWER_SHARE));
  const tokens = Math.min(byTime, byWindow);
  return tokens >= MOST_ANSWER ? undefined : tokens;
}

function withOutput(request: ModelRequest, tokens: number | undefined, fit: Fit, window: number): ModelRequest {
  if (tokens === undefined) return request;
  const all = tokens + (fit.thinks ? THOUGHT_TOKENS : 0);
  return { ...request, maxOutputTokens: Math.floor(Math.min(all, window - inputTokens(request, fit))) };
}

function shortened(request: ModelRequest, fit: Fit, room: number): ModelRequest {
  const { tools = [], messages } = request;
  const isOver = (each: ModelRequest) => inputTokens(each, fit) > room;
  const short = { ...request, ...(tools.length > 0 && { tools: tools.map(inShort) }) };
  if (!isOver(short)) return short;
  const rest = inputTokens({ messages }, fit);
  const bare = inputTokens({ messages: shortenedTo(messages, 0) ?? messages }, fit);
  const kept = Math.min(rest, bare + Math.floor(room * ROUNDS_SHARE));
  const fitting = { ...short, ...(short.tools !== undefined && { tools: chosen(short.tools, messages, room - kept, fit) }) };
  const over = inputTokens(fitting, fit) - room;
  if (over <= 0) return fitting;
  const fewer = shortenedTo(messages, Math.max(0, charsOf(messages) * (1 - over / rest)));
  return fewer === null ? fitting : { ...fitting, messages: fewer };
}

/** Its purpose in one sentence, its arguments without explanation. */
function inShort({ name, description, parameters }: ToolSpec): ToolSpec {
  const end = description.search(/[.;](?:\s|$)/);
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => (key === "description" && typeof inner === "string" ? [] : [[key, plain(inner)]])),
    );
  };
  return {
    name,
    description: end === -1 ? description : description.slice(0, end),
    parameters: plain(parameters) as ToolSpec["parameters"],
  };
}

/** As many as there is room for, in their order: those that were called in this turn first, then those whose words the guest used last. */
function chosen(tools: readonly ToolSpec[], messages: readonly ModelMessage[], room: number, fit: Fit): readonly ToolSpec[] {
  const from = messages.findLastIndex(({ role }) => role === "user");
  const called = new Set(
    messages.slice(from).flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []).map(({ name }) => name) : [])),
  );
  const said = messages.flatMap(({ role, content }) => (role === "user" ? [stemsOf(content)] : [])).slice(-2);
  const stems = tools.map((tool) => stemsOf(JSON.stringify(tool)));
  // What many tools speak of tells little.
  const shared = (own: ReadonlySet<string>, told: ReadonlySet<string> | undefined) =>
    [...(told ?? [])].reduce((sum, stem) => sum + (own.has(stem) ? 1 / stems.filter((each) => each.has(stem)).length : 0), 0);
  const rank = (own: ReadonlySet<string>, { name }: ToolSpec) =>
    (called.has(name) ? tools.length * 100 : 0) + 2 * shared(own, said.at(-1)) + shared(own, said.at(-2));
  let left = room;
  const ranked = tools.map((tool, place) => ({ tool, place, rank: rank(stems[place] ?? new Set(), tool) }));
  ranked.sort((a, b) => b.rank - a.rank || a.place - b.place);
  const fitting = ranked.filter(({ tool }) => {
    const tokens = tokensOf(JSON.stringify(tool), fit);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  return fitting.sort((a, b) => a.place - b.place).map(({ tool }) => tool);
}

const STEM_CHARS = 5;
const words = new Intl.Segmenter("und", { granularity: "word" });

/** The first letters of its longer words: "concerts" is about what "concert" is about. */
function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const part of text.split(/[_\s"{}[\],:]+/u))
    for (const { segment, isWordLike } of words.segment(part))
      if (isWordLike === true && segment.length >= STEM_CHARS - 1) stems.add(segment.toLowerCase().slice(0, STEM_CHARS));
  return stems;
}

/**
 * How many bytes of a request a token is, as its answer tells; null where that can't be told: an endpoint that leaves out in silence what
 * is too long tells the window's own tokens.
 */
export function bytesPerToken(sent: ModelRequest, { input_tokens: tokens }: Usage, fit: Fit): number | null {
  if (fit.contextTokens === null || tokens <= 0 || tokens > fit.contextTokens * UNCUT_SHARE) return null;
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Buffer.byteLength(textOf(sent, fit)) / tokens));
}

/** From above where no answer has told. */
function inputTokens(request: Pick<ModelRequest, "messages" | "tools" | "json">, fit: Fit): number {
  return tokensOf(textOf(request, fit), fit) + request.messages.length * MESSAGE_TOKENS + TEMPLATE_TOKENS;
}

function tokensOf(text: string, { bytesPerToken: bytes }: Fit): number {
  return bytes === null ? estimatedTokens.count(text) : Math.ceil(Buffer.byteLength(text) / bytes);
}

function textOf({ messages, tools = [], json }: Pick<ModelRequest, "messages" | "tools" | "json">, fit: Fit): string {
  const texts = messages.map((message) => message.content + (message.role === "assistant" ? JSON.stringify(message.tool_calls ?? "") : ""));
  const told = fit.tools && tools.length > 0 ? JSON.stringify(tools) : "";
  const schema = json !== undefined && fit.json !== "schema" ? JSON.stringify(json.schema) : "";
  return texts.join("") + told + schema;
}

function charsOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

function tooLarge({ messages, tools = [] }: ModelRequest, fit: Fit, window: number, least: number): AppError {
  const fixed = messages.filter(({ role }, place) => role === "system" || place === messages.findLastIndex((each) => each.role === "user"));
  const needed = inputTokens({ messages: fixed }, fit) + least;
  const number = (tokens: number) => tokens.toLocaleString("en");
  const withTools = tools.length === 0 ? "" : `, with all tools about ${number(inputTokens({ messages: fixed, tools }, fit) + least)}`;
  const person = "Send a shorter message. If that doesn't help, whoever runs this server gives the model a larger window";
  const prompt = messages.filter(({ role }) => role === "system");
  const Kind = inputTokens({ messages: prompt }, fit) + least > window ? WindowTooSmall : AppError;
  return new Kind("CONTEXT_TOO_LARGE", {
    detail: `The model reads ${number(window)} tokens at once; prompt and message need about ${number(needed)}${withTools}.`,
    hint: `${person} (OLLAMA_CONTEXT_LENGTH, llama.cpp's --ctx-size, vLLM's --max-model-len), or uses another model.`,
  });
}
