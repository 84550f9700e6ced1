import type { ModelRequest } from "../../ports/chat-model.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { imageUrl } from "./inline-images.js";
import { cacheKeyOf, type RequestOptions } from "./openai-chat-request.js";
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
