import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelRequest } from "../../ports/chat-model.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { plainSchema } from "./plain-schema.js";
import { type Shaped, shaped } from "./shaped-messages.js";

export interface AiSdkCallContext {
  /** {@link ProviderState.by} of this adapter, provider and model. */
  readonly by: string;
  readonly signal: AbortSignal;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What an answer's parts hold for the provider to have back: reasoning with its signature, and what is signed at a call, by its place. */
export interface AiSdkState {
  readonly reasoning: readonly { readonly text: string; readonly metadata?: SharedV3ProviderOptions }[];
  readonly calls: readonly (SharedV3ProviderOptions | null)[];
}

/** A request as the AI SDK's providers take it. */
export function aiSdkCall(request: ModelRequest, known: Capabilities, context: AiSdkCallContext): LanguageModelV3CallOptions {
  const { json } = request;
  const { system, messages, tools, maxTokens } = shaped(request, known);
  return {
    prompt: [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...promptOf(messages, known, context.by)],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema: plainSchema(parameters),
      })),
      toolChoice: { type: request.toolChoice === "none" && known.noToolChoice ? ("none" as const) : ("auto" as const) },
    }),
    ...(json &&
      known.json !== "words" && {
        responseFormat: { type: "json" as const, ...(known.json === "schema" && { name: json.name, schema: plainSchema(json.schema) }) },
      }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    abortSignal: context.signal,
    headers: { "X-Maitred-Task": request.task ?? "chat" },
    ...(context.providerOptions && { providerOptions: context.providerOptions as SharedV3ProviderOptions }),
  };
}

function promptOf(messages: Shaped["messages"], known: Capabilities, by: string): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  const calls = new Map<string, { readonly id: string; readonly name: string }>();
  for (const message of messages) {
    if (message.role === "user") prompt.push({ role: "user", content: [{ type: "text", text: message.content }, ...filesOf(message)] });
    else if (message.role === "assistant") {
      const own = ownState(message.provider, by);
      for (const { id, name } of message.tool_calls ?? []) calls.set(id, { id: sentId(id, known, own.ids), name });
      prompt.push(assistant(message, own.state as AiSdkState | null, calls));
    } else {
      const call = calls.get(message.tool_call_id) ?? { id: sentId(message.tool_call_id, known, {}), name: "unknown" };
      const output = { type: "text" as const, value: message.content };
      const result = { type: "tool-result" as const, toolCallId: call.id, toolName: call.name, output };
      const last = prompt.at(-1);
      // Results of parallel calls belong together: Anthropic and Gemini want them in one message.
      if (last?.role === "tool") last.content.push(result);
      else prompt.push({ role: "tool", content: [result] });
    }
  }
  return prompt;
}

function filesOf({ images = [] }: Extract<Shaped["messages"][number], { role: "user" }>): LanguageModelV3FilePart[] {
  return images.map((image) =>
    "url" in image
      ? { type: "file", mediaType: "image/*", data: new URL(image.url) }
      : { type: "file", mediaType: image.mediaType, data: image.data },
  );
}

function assistant(
  message: Extract<Shaped["messages"][number], { role: "assistant" }>,
  state: AiSdkState | null,
  calls: ReadonlyMap<string, { readonly id: string; readonly name: string }>,
): LanguageModelV3Message {
  return {
    role: "assistant",
    content: [
      ...(state?.reasoning ?? []).map(({ text, metadata }) => ({
        type: "reasoning" as const,
        text,
        ...(metadata && { providerOptions: metadata }),
      })),
      ...(message.content === "" ? [] : [{ type: "text" as const, text: message.content }]),
      ...(message.tool_calls ?? []).map(({ id, name, arguments: given }, place) => {
        const signed = state?.calls[place];
        return {
          type: "tool-call" as const,
          toolCallId: calls.get(id)?.id ?? id,
          toolName: name,
          input: JSON.parse(given) as unknown,
          ...(signed && { providerOptions: signed }),
        };
      }),
    ],
  };
}
