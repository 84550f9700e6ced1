import { z } from "zod";
import type { JsonValue, Usage } from "../../domain/session.js";
import { parsedJson } from "../../platform/json.js";
import type { FinishReason, ModelRequest, ModelToolCall } from "../../ports/chat-model.js";
import { type ProviderEvent, usageFrom } from "./answer-sorter.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { EndpointFailure } from "./endpoint-failure.js";
import { imageUrl } from "./inline-images.js";
import { type Body, refuseError } from "./openai-endpoint.js";
import { plainSchema } from "./plain-schema.js";
import { type Shaped, shaped } from "./shaped-messages.js";

export interface RequestOptions {
  readonly model: string;
  /** {@link ProviderState.by} of this adapter, endpoint and model. */
  readonly by: string;
  /** Whether the endpoint caches by a key. Default false. */
  readonly cacheKeys?: boolean;
  /** REASONING_EFFORT. Default: not sent. */
  readonly effort?: string;
}

export function chatBody(request: ModelRequest, known: Capabilities, options: RequestOptions): Record<string, unknown> {
  const { model, by, effort } = options;
  const { json } = request;
  const { system, messages, tools, maxTokens } = shaped(request, known);
  const sentEffort = effortFor(known, tools.length > 0, effort);
  return {
    model,
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...chatMessages(messages, known, by)],
    ...(known.streaming && { stream: true }),
    ...(known.streaming && known.streamUsage && { stream_options: { include_usage: true } }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters: plainSchema(parameters) },
      })),
    }),
    ...(tools.length > 0 && request.toolChoice === "none" && known.noToolChoice && { tool_choice: "none" }),
    ...(json &&
      known.json === "schema" && {
        response_format: { type: "json_schema", json_schema: { name: json.name, schema: plainSchema(json.schema) } },
      }),
    ...(json && known.json === "object" && { response_format: { type: "json_object" } }),
    ...(maxTokens !== undefined && { [known.tokenField]: maxTokens }),
    ...(sentEffort !== undefined && { reasoning_effort: sentEffort }),
    ...cacheKeyOf(request, known, options),
  };
}

/** OpenAI's name for it, at both of its APIs. */
export function cacheKeyOf({ cacheKey }: ModelRequest, known: Capabilities, { cacheKeys }: RequestOptions): object {
  return cacheKey !== undefined && cacheKeys === true && known.cacheKey ? { prompt_cache_key: cacheKey } : {};
}

function effortFor({ effort: known }: Capabilities, withTools: boolean, set: string | undefined): string | undefined {
  if (known === "unsent") return undefined;
  return known === "none_with_tools" && withTools ? "none" : set;
}

function chatMessages(messages: Shaped["messages"], known: Capabilities, by: string): object[] {
  const ids = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === "tool")
      return {
        role: "tool",
        tool_call_id: ids.get(message.tool_call_id) ?? sentId(message.tool_call_id, known, {}),
        content: message.content,
      };
    if (message.role === "user") return { role: "user", content: userContent(message) };
    if (message.tool_calls === undefined || message.tool_calls.length === 0) return { role: "assistant", content: message.content };
    const own = ownState(message.provider, by);
    for (const { id } of message.tool_calls) ids.set(id, sentId(id, known, own.ids));
    return {
      role: "assistant",
      content: message.content === "" ? null : message.content,
      ...reasoningOf(own.state),
      tool_calls: message.tool_calls.map(({ id, name, arguments: given }, place) => ({
        id: ids.get(id),
        type: "function",
        function: { name, arguments: given },
        ...extraOf(own.state, place),
      })),
    };
  });
}

function userContent({ content, images = [] }: Extract<Shaped["messages"][number], { role: "user" }>): string | object[] {
  if (images.length === 0) return content;
  return [{ type: "text", text: content }, ...images.map((image) => ({ type: "image_url", image_url: { url: imageUrl(image) } }))];
}

/** The fields in which a provider told its thought (`reasoning_content`, `reasoning_details`), as they came. */
function reasoningOf(state: unknown): object {
  return typeof state === "object" && state !== null && "fields" in state ? (state.fields as object) : {};
}

/** Gemini signs its thought at the call. */
function extraOf(state: unknown, place: number): object {
  if (typeof state !== "object" || state === null || !("extra" in state) || !Array.isArray(state.extra)) return {};
  const extra: unknown = state.extra[place];
  return extra === undefined || extra === null ? {} : { extra_content: extra };
}

const part = z.looseObject({
  index: z.number().int().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
  extra_content: z.json().nullish(),
});
const said = z.looseObject({
  /** Text, or parts of it (Mistral), thought among them. */
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }))]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.unknown().optional(),
  reasoning_details: z.array(z.json()).nullish(),
  tool_calls: z.array(part).nullish(),
  function_call: z.looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
});
const usageSchema = z.looseObject({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
  /** DeepSeek's word for it. */
  prompt_cache_hit_tokens: z.number().nullish(),
});
const chunkSchema = z.looseObject({
  choices: z.array(z.looseObject({ delta: said.nullish(), message: said.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: usageSchema.nullish(),
});

/** What was read so far. */
interface Reading {
  readonly calls: CallAssembly;
  readonly extra: JsonValue[];
  readonly details: JsonValue[];
  reasoning: string;
  finish: string | null;
  usage: Usage | null;
}

/**
 * A Chat Completions answer, in chunks or whole. Calls come whole, after the text.
 * @throws EndpointFailure for another shape, an error in mid-stream, or one that ends before the model has
 */
export async function* chatEvents(body: Body): AsyncGenerator<ProviderEvent, void, undefined> {
  const reading: Reading = { calls: new CallAssembly(), extra: [], details: [], reasoning: "", finish: null, usage: null };
  if (body.streamed) for await (const chunk of body.chunks) yield* read(chunk, reading);
  else yield* read(body.whole, reading);
  const { calls, usage } = reading;
  // Endpoints that tell no reason for the end are believed when they tell the end in another way.
  const ended = reading.finish !== null || !body.streamed || body.done() || usage !== null || calls.whole;
  if (!ended) throw new EndpointFailure("unreadable");
  const made = calls.calls();
  for (const call of made) yield { type: "call", call };
  const state = stateOf(reading);
  yield {
    type: "end",
    reason: finishReason(reading.finish),
    usage: usage ?? { input_tokens: 0, output_tokens: 0 },
    ...(state !== undefined && { state }),
  };
}

function* read(chunk: unknown, reading: Reading): Generator<ProviderEvent, void, undefined> {
  refuseError(chunk);
  const parsed = chunkSchema.safeParse(chunk);
  if (!parsed.success) throw new EndpointFailure("unreadable");
  if (parsed.data.usage) reading.usage = usageOf(parsed.data.usage);
  const choice = parsed.data.choices?.[0];
  if (choice === undefined) return;
  const delta = choice.delta ?? choice.message;
  if (delta) {
    const thought = delta.reasoning_content ?? (typeof delta.reasoning === "string" ? delta.reasoning : "");
    if (thought !== "") yield { type: "thought" };
    reading.reasoning += delta.reasoning_content ?? "";
    reading.details.push(...((delta.reasoning_details ?? []) as JsonValue[]));
    const text = textOf(delta.content) || (delta.refusal ?? "");
    if (text !== "") yield { type: "text", delta: text };
    for (const call of delta.tool_calls ?? []) {
      reading.calls.add({ index: call.index, id: call.id, name: call.function?.name, arguments: call.function?.arguments });
      if (call.extra_content) reading.extra[reading.calls.calls().length - 1] = call.extra_content as JsonValue;
    }
    if (delta.function_call) reading.calls.add({ name: delta.function_call.name, arguments: delta.function_call.arguments });
  }
  if (choice.finish_reason) reading.finish = choice.finish_reason;
  if (choice.finish_reason === "error") throw new EndpointFailure("refused");
}

function textOf(content: z.output<typeof said>["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((piece) => (piece.type === undefined || piece.type === "text" ? (piece.text ?? "") : "")).join("");
}

function usageOf(given: z.output<typeof usageSchema>): Usage {
  const cached = given.prompt_tokens_details?.cached_tokens ?? given.prompt_cache_hit_tokens;
  return usageFrom({ input: given.prompt_tokens ?? 0, output: given.completion_tokens ?? 0, cached });
}

function finishReason(finish: string | null): FinishReason {
  if (finish === "length" || finish === "max_tokens" || finish === "model_length") return "length";
  if (finish === "content_filter") return "content_filter";
  return finish === "tool_calls" || finish === "function_call" ? "tool_calls" : "stop";
}

/** What goes back with the calls: thought in the fields in which it came, and what is signed at a call, by its place. */
function stateOf({ reasoning, details, extra }: Reading): JsonValue | undefined {
  const fields: Record<string, JsonValue> = {
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  if (Object.keys(fields).length === 0 && extra.length === 0) return undefined;
  return { fields, extra: Array.from(extra, (each) => each ?? null) };
}

/** A piece of a call as endpoints send them: any of it may be missing. */
interface CallPart {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** A piece of JSON as text, or the whole as an object. */
  readonly arguments?: unknown;
}

interface Growing {
  readonly index: number | null;
  id: string;
  name: string;
  text: string;
}

/**
 * Puts calls together from their pieces. Endpoints number every parallel call 0, leave index or id out, repeat the name with each piece, or
 * send arguments as an object: a piece with a new id, or with a name after a call that is whole, begins another call.
 */
class CallAssembly {
  readonly #calls: Growing[] = [];

  add(part: CallPart): void {
    const call = this.#callFor(part);
    if (part.id) call.id ||= part.id;
    if (part.name) call.name ||= part.name;
    if (typeof part.arguments === "string") call.text += part.arguments;
    else if (typeof part.arguments === "object" && part.arguments !== null) call.text = JSON.stringify(part.arguments);
  }

  /** In the order in which they began. A call without a name can't be made and is left out. */
  calls(): ModelToolCall[] {
    return this.#calls.flatMap(({ id, name, text }) => (name === "" ? [] : [{ id, name, arguments: withoutEmptyStart(text) }]));
  }

  /** Whether there are calls, and the arguments of each are whole. */
  get whole(): boolean {
    const calls = this.calls();
    return calls.length > 0 && calls.every((call) => call.arguments === "" || isJson(call.arguments));
  }

  #callFor({ index = null, id, name }: CallPart): Growing {
    const last = index === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    const another =
      last === undefined ||
      (id
        ? last.id !== "" && last.id !== id
        : Boolean(name) && last.name !== "" && (last.name !== name || last.text === "" || isJson(last.text)));
    if (!another) return last;
    const known = id ? this.#calls.find((call) => call.id === id && (index === null || call.index === index)) : undefined;
    if (known) return known;
    const call = { index, id: "", name: "", text: "" };
    this.#calls.push(call);
    return call;
  }
}

/** Some relays begin with an empty object and send the real one after it. */
function withoutEmptyStart(text: string): string {
  return text.startsWith("{}") && text.length > 2 && isJson(text.slice(2)) ? text.slice(2) : text;
}

function isJson(text: string): boolean {
  return parsedJson(text) !== undefined;
}
