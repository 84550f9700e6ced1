import type { ModelRequest } from "../../ports/chat-model.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { imageUrl } from "./inline-images.js";
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

/** The body of a Chat Completions request. */
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
