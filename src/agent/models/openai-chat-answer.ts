import { z } from "zod";
import type { JsonValue, Usage } from "../../domain/session.js";
import type { FinishReason } from "../../ports/chat-model.js";
import { CallAssembly } from "./call-assembly.js";
import { EndpointFailure } from "./endpoint-failure.js";
import { type Body, refuseError } from "./openai-endpoint.js";
import type { ProviderEvent } from "./provider-events.js";
import { usageFrom } from "./usage.js";

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
