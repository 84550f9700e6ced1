import { z } from "zod";
import type { JsonValue, Usage } from "../../domain/session.js";
import type { FinishReason, ModelRequest } from "../../ports/chat-model.js";
import { type ProviderEvent, usageFrom } from "./answer-sorter.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { EndpointFailure } from "./endpoint-failure.js";
import { imageUrl } from "./inline-images.js";
import { cacheKeyOf, type RequestOptions } from "./openai-chat.js";
import { type Body, refuseError } from "./openai-endpoint.js";
import { plainSchema } from "./plain-schema.js";
import { type Shaped, shaped } from "./shaped-messages.js";

/**
 * The body of a Responses request. Nothing is stored at OpenAI: the reasoning that belongs to calls comes back signed and is sent again
 * with
 * them, as `state`.
 */
export function responsesBody(request: ModelRequest, known: Capabilities, options: RequestOptions): Record<string, unknown> {
  const { model, by, effort } = options;
  const { json } = request;
  const { system, messages, tools, maxTokens } = shaped(request, known);
  return {
    model,
    ...(system !== "" && { instructions: system }),
    input: messages.flatMap((message) => items(message, known, by)),
    store: false,
    ...(known.streaming && { stream: true }),
    ...(known.signedReasoning && { include: ["reasoning.encrypted_content"] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        name,
        description,
        parameters: plainSchema(parameters),
        strict: false,
      })),
    }),
    ...(tools.length > 0 && request.toolChoice === "none" && known.noToolChoice && { tool_choice: "none" }),
    ...(json &&
      known.json === "schema" && {
        text: { format: { type: "json_schema", name: json.name, schema: plainSchema(json.schema), strict: false } },
      }),
    ...(json && known.json === "object" && { text: { format: { type: "json_object" } } }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(effort !== undefined && known.effort === "as_set" && { reasoning: { effort } }),
    ...cacheKeyOf(request, known, options),
  };
}

function items(message: Shaped["messages"][number], known: Capabilities, by: string): object[] {
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: sentId(message.tool_call_id, known, {}), output: message.content }];
  if (message.role === "user") return [{ role: "user", content: userContent(message) }];
  const said = message.content === "" ? [] : [{ role: "assistant", content: message.content }];
  if (message.tool_calls === undefined) return said;
  const { state } = ownState(message.provider, by);
  const reasoning = Array.isArray(state) ? (state as object[]) : [];
  const calls = message.tool_calls.map(({ id, name, arguments: given }) => ({
    type: "function_call",
    call_id: sentId(id, known, {}),
    name,
    arguments: given,
  }));
  return [...reasoning, ...said, ...calls];
}

function userContent({ content, images = [] }: Extract<Shaped["messages"][number], { role: "user" }>): string | object[] {
  if (images.length === 0) return content;
  const parts = images.map((image) => ({ type: "input_image", image_url: imageUrl(image), detail: "auto" }));
  return [{ type: "input_text", text: content }, ...parts];
}

const item = z.looseObject({
  type: z.string(),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() })).nullish(),
  encrypted_content: z.string().nullish(),
});
const responseSchema = z.looseObject({
  status: z.string().nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  output: z.array(item).nullish(),
  usage: z
    .looseObject({
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      input_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
});
const eventSchema = z.looseObject({
  type: z.string(),
  delta: z.unknown().optional(),
  item: item.nullish(),
  response: responseSchema.nullish(),
});
type Item = z.output<typeof item>;
type Response = z.output<typeof responseSchema>;

/** An answer of the Responses API, in events or whole. @throws EndpointFailure */
export async function* responsesEvents(body: Body): AsyncGenerator<ProviderEvent, void, undefined> {
  if (!body.streamed) {
    refuseError(body.whole);
    const response = responseSchema.safeParse(body.whole);
    if (!response.success || !response.data.output) throw new EndpointFailure("unreadable");
    for (const each of response.data.output) yield* textOf(each);
    return yield* ending(response.data, response.data.output);
  }
  const items: Item[] = [];
  for await (const chunk of body.chunks) {
    const parsed = eventSchema.safeParse(chunk);
    if (!parsed.success) throw new EndpointFailure("unreadable");
    const { type, delta, item: done, response } = parsed.data;
    if ((type === "response.output_text.delta" || type === "response.refusal.delta") && typeof delta === "string")
      yield { type: "text", delta };
    else if (type === "response.output_item.done" && done) items.push(done);
    else if (type === "error" || type === "response.failed")
      throw new EndpointFailure("refused", { body: JSON.stringify(failureIn(chunk)) });
    else if ((type === "response.completed" || type === "response.incomplete") && response)
      return yield* ending(response, items.length > 0 ? items : (response.output ?? []));
  }
  throw new EndpointFailure("unreadable");
}

function* textOf({ type, content }: Item): Generator<ProviderEvent, void, undefined> {
  if (type !== "message") return;
  for (const piece of content ?? []) {
    const delta = piece.text ?? piece.refusal ?? "";
    if (delta !== "") yield { type: "text", delta };
  }
}

function* ending(response: Response, items: readonly Item[]): Generator<ProviderEvent, void, undefined> {
  const reasoning = items.filter(({ type }) => type === "reasoning");
  if (reasoning.length > 0) yield { type: "thought" };
  const calls = items.filter(({ type, name }) => type === "function_call" && name);
  for (const { call_id, name, arguments: given } of calls)
    yield { type: "call", call: { id: call_id ?? "", name: name ?? "", arguments: given ?? "" } };
  // Without its signature OpenAI would look for reasoning that it never stored.
  const signed = reasoning.filter(({ encrypted_content }) => encrypted_content).map(sendable);
  yield {
    type: "end",
    reason: reasonOf(response, calls.length > 0),
    usage: usageOf(response),
    ...(signed.length > 0 && { state: signed as JsonValue }),
  };
}

/** `status` belongs to answers alone. */
function sendable({ status: _, ...reasoning }: Item): object {
  return { summary: [], ...reasoning };
}

function usageOf({ usage }: Response): Usage {
  const { input_tokens: input = 0, output_tokens: output = 0, input_tokens_details: details } = usage ?? {};
  return usageFrom({ input, output, cached: details?.cached_tokens });
}

function reasonOf({ status, incomplete_details }: Response, called: boolean): FinishReason {
  if (status === "incomplete") return incomplete_details?.reason === "content_filter" ? "content_filter" : "length";
  return called ? "tool_calls" : "stop";
}

/** `error` carries its words itself, `response.failed` in its response. */
function failureIn(event: unknown): unknown {
  const { response, ...own } = event as { readonly response?: { readonly error?: unknown } };
  return response?.error ?? own;
}
