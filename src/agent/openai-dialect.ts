import type OpenAI from "openai";
import type { ModelMessage, ModelRequest } from "../agent.js";

/** What an OpenAI-compatible endpoint takes. Starts with what OpenAI takes; narrowed by what an endpoint refuses. */
export interface Dialect {
  readonly json: "schema" | "object" | "prompt";
  readonly streamUsage: boolean;
  readonly maxTokens: "max_completion_tokens" | "max_tokens";
}

export const OPENAI_DIALECT: Dialect = { json: "schema", streamUsage: true, maxTokens: "max_completion_tokens" };

type Params = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;

export function toParams(request: ModelRequest, model: string, dialect: Dialect): Params {
  const { json, tools, maxOutputTokens } = request;
  const messages = request.messages.map(toMessage);
  // The schema is named in words where the endpoint can't hold the model to it.
  if (json && dialect.json !== "schema")
    messages.unshift({
      role: "system",
      content: `Answer with one JSON object of this JSON Schema and nothing else:\n${JSON.stringify(json.schema)}`,
    });
  return {
    model,
    messages,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    ...(tools && tools.length > 0 && { tools: tools.map((tool) => ({ type: "function" as const, function: { ...tool } })) }),
    ...(json &&
      dialect.json === "schema" && {
        response_format: { type: "json_schema" as const, json_schema: { name: json.name, schema: { ...json.schema } } },
      }),
    ...(json && dialect.json === "object" && { response_format: { type: "json_object" as const } }),
    ...(maxOutputTokens !== undefined && { [dialect.maxTokens]: maxOutputTokens }),
  };
}

function toMessage(message: ModelMessage): OpenAI.Chat.Completions.ChatCompletionMessageParam {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  if (message.tool_calls === undefined || message.tool_calls.length === 0) return { role: "assistant", content: message.content };
  return {
    role: "assistant",
    content: message.content === "" ? null : message.content,
    tool_calls: message.tool_calls.map((call) => ({
      id: call.id,
      type: "function" as const,
      // An endpoint may refuse history with malformed arguments.
      function: { name: call.name, arguments: isJson(call.arguments) ? call.arguments : "{}" },
    })),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What to try after a 400 or 422 that names an option of ours; null when it is about something else. */
export function narrowed(dialect: Dialect, request: ModelRequest, refusal: string): Dialect | null {
  if (dialect.streamUsage && /stream_options|include_usage/.test(refusal)) return { ...dialect, streamUsage: false };
  if (request.maxOutputTokens !== undefined && dialect.maxTokens === "max_completion_tokens" && /max_completion_tokens/.test(refusal))
    return { ...dialect, maxTokens: "max_tokens" };
  if (request.json && dialect.json === "schema" && /response_format|json_schema|structured/i.test(refusal))
    return { ...dialect, json: "object" };
  if (request.json && dialect.json === "object" && /response_format|json_object/i.test(refusal)) return { ...dialect, json: "prompt" };
  return null;
}
