import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { z } from "zod";
import type { JsonValue, Usage } from "../../domain/session.js";
import { present } from "../../platform/present.js";
import type { ChatModel, FinishReason, ModelRequest } from "../../ports/chat-model.js";
import { type ProviderEvent, usageFrom } from "./answer-sorter.js";
import { ownState, sentId } from "./call-ids.js";
import type { Capabilities } from "./capabilities.js";
import { aboutEndpoint, callEndpoint, type EndpointOptions, endpointOf } from "./endpoint.js";
import { EndpointFailure, statusIn } from "./endpoint-failure.js";
import { plainSchema } from "./plain-schema.js";
import { type Shaped, shaped } from "./shaped-messages.js";

/** What is used of an AI SDK language model (specification v2 or v3): what every provider package of `ai` 5 and 6 makes. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  /** "anthropic.messages". */
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
  doGenerate(options: never): PromiseLike<unknown>;
}

export interface AiSdkModelOptions extends EndpointOptions {
  /** Options for the provider, by its name: `{ anthropic: { thinking: … } }`. Default: none. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Any model of the AI SDK's providers (`@ai-sdk/anthropic`, `@ai-sdk/google`, …) as a {@link ChatModel}. Providers translate for their
 * endpoints; tries, waits, thought and errors are handled here as for every other model.
 *
 * @example
 * const maitred = await createOrchestrator({}, { model: aiSdkModel(createAnthropic({ apiKey })("claude-sonnet-4-5")) });
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): ChatModel {
  const { contextTokens, providerOptions } = options;
  const address = `ai-sdk ${model.provider}`;
  const endpoint = endpointOf(options, { address, model: model.modelId, settings: "the AI SDK provider's settings" });
  async function* ask(request: ModelRequest, known: Capabilities, signal: AbortSignal): AsyncGenerator<ProviderEvent, void, undefined> {
    const call = aiSdkCall(request, known, { by: `${address} ${model.modelId}`, signal, ...present({ providerOptions }) });
    try {
      if (known.streaming) yield* streamedEvents((await model.doStream(call as never)).stream);
      else yield* generatedEvents(await model.doGenerate(call as never));
    } catch (error) {
      throw aiSdkFailure(error);
    }
  }
  return {
    name: model.modelId,
    standIn: false,
    ...present({ contextTokens }),
    ...aboutEndpoint(endpoint, `over the AI SDK (${model.provider})`),
    stream: (request, call) => callEndpoint(endpoint, request, call, ask),
  };
}

interface AiSdkCallContext {
  /** {@link ProviderState.by} of this adapter, provider and model. */
  readonly by: string;
  readonly signal: AbortSignal;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What an answer's parts hold for the provider to have back: reasoning with its signature, and what is signed at a call, by its place. */
interface AiSdkState {
  readonly reasoning: readonly { readonly text: string; readonly metadata?: SharedV3ProviderOptions }[];
  readonly calls: readonly (SharedV3ProviderOptions | null)[];
}

/** A request as the AI SDK's providers take it. */
function aiSdkCall(request: ModelRequest, known: Capabilities, context: AiSdkCallContext): LanguageModelV3CallOptions {
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

const metadata = z.record(z.string(), z.record(z.string(), z.json())).optional().catch(undefined);
const count = z.union([z.number(), z.looseObject({ total: z.number().optional(), cacheRead: z.number().optional() })]).nullish();
/** Specification v3 has numbers by kind and a reason in two words, v2 plain ones. */
const finishSchema = z.looseObject({
  finishReason: z.union([z.string(), z.looseObject({ unified: z.string() })]),
  usage: z.looseObject({ inputTokens: count, outputTokens: count, cachedInputTokens: z.number().nullish() }).nullish(),
});
const partSchema = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  delta: z.string().optional(),
  text: z.string().optional(),
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  input: z.unknown().optional(),
  providerExecuted: z.boolean().optional(),
  providerMetadata: metadata,
});
type Part = z.output<typeof partSchema>;
type Metadata = z.output<typeof metadata>;

/** What goes back with the calls. */
interface Gathered {
  readonly reasoning: Map<string, { text: string; metadata: Metadata }>;
  readonly calls: (Metadata | null)[];
}

/** A stream of specification v2 or v3. @throws EndpointFailure */
async function* streamedEvents(stream: ReadableStream<unknown>): AsyncGenerator<ProviderEvent, void, undefined> {
  const gathered: Gathered = { reasoning: new Map(), calls: [] };
  for await (const value of stream as unknown as AsyncIterable<unknown>) {
    const part = partSchema.safeParse(value);
    if (!part.success) throw new EndpointFailure("unreadable");
    if (part.data.type === "error") throw aiSdkFailure((value as { readonly error?: unknown }).error);
    if (part.data.type === "finish") return yield* ending(value, gathered);
    yield* eventsOf(part.data, gathered);
  }
  throw new EndpointFailure("unreadable");
}

/** The same of an answer that came whole. @throws EndpointFailure */
async function* generatedEvents(answer: unknown): AsyncGenerator<ProviderEvent, void, undefined> {
  const parsed = z.looseObject({ content: z.array(partSchema) }).safeParse(answer);
  if (!parsed.success) throw new EndpointFailure("unreadable");
  const gathered: Gathered = { reasoning: new Map(), calls: [] };
  for (const [index, part] of parsed.data.content.entries()) yield* eventsOf({ id: String(index), ...part }, gathered);
  yield* ending(answer, gathered);
}

function* eventsOf(part: Part, gathered: Gathered): Generator<ProviderEvent, void, undefined> {
  const text = part.delta ?? part.text ?? "";
  if ((part.type === "text-delta" || part.type === "text") && text !== "") yield { type: "text", delta: text };
  else if (part.type.startsWith("reasoning")) {
    const id = part.id ?? "";
    const before = gathered.reasoning.get(id);
    gathered.reasoning.set(id, { text: (before?.text ?? "") + text, metadata: part.providerMetadata ?? before?.metadata });
    yield { type: "thought" };
  } else if (part.type === "tool-call" && part.toolName !== undefined && part.providerExecuted !== true) {
    gathered.calls.push(part.providerMetadata ?? null);
    const given = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {});
    yield { type: "call", call: { id: part.toolCallId ?? "", name: part.toolName, arguments: given } };
  }
}

function* ending(value: unknown, { reasoning, calls }: Gathered): Generator<ProviderEvent, void, undefined> {
  const finish = finishSchema.safeParse(value);
  if (!finish.success) throw new EndpointFailure("unreadable");
  const { finishReason, usage } = finish.data;
  const reason = typeof finishReason === "string" ? finishReason : finishReason.unified;
  if (reason === "error") throw new EndpointFailure("refused");
  // Reasoning without a signature is of no use to any provider but those that want it word for word.
  const signed = [...reasoning.values()];
  const state = {
    reasoning: signed.map(({ text, metadata: told }) => ({ text, ...(told && { metadata: told }) })),
    calls,
  };
  const kept = signed.length > 0 || calls.some((each) => each !== null);
  yield { type: "end", reason: reasonOf(reason), usage: usageOf(usage), ...(kept && { state: state as JsonValue }) };
}

function usageOf(usage: z.output<typeof finishSchema>["usage"]): Usage {
  const input = usage?.inputTokens;
  const cached = typeof input === "object" ? input?.cacheRead : usage?.cachedInputTokens;
  return usageFrom({ input: totalOf(input), output: totalOf(usage?.outputTokens), cached });
}

function totalOf(tokens: z.output<typeof count>): number {
  return (typeof tokens === "object" ? tokens?.total : tokens) ?? 0;
}

function reasonOf(reason: string): FinishReason {
  if (reason === "length") return "length";
  if (reason === "content-filter") return "content_filter";
  return reason === "tool-calls" ? "tool_calls" : "stop";
}

/** What is read of the SDK's `APICallError`, and of the errors that providers send in mid-stream. */
const failureSchema = z.looseObject({
  statusCode: z.number().optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string().optional()).optional().catch(undefined),
  isRetryable: z.boolean().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  error: z.looseObject({ code: z.unknown() }).optional().catch(undefined),
});

/** Neither message nor cause of the original go further: both may hold the request. */
export function aiSdkFailure(error: unknown): EndpointFailure {
  if (error instanceof EndpointFailure) return error;
  const parsed = failureSchema.safeParse(error instanceof Error ? { ...error, name: error.name, message: error.message } : error);
  if (!parsed.success) return new EndpointFailure("refused", typeof error === "string" ? { body: error } : {});
  const { statusCode, responseBody, responseHeaders, isRetryable, name, message } = parsed.data;
  const header = (wanted: string) => responseHeaders?.[wanted] ?? null;
  const body = responseBody ?? JSON.stringify({ message: message ?? "" });
  if (statusCode !== undefined && statusCode >= 400) return new EndpointFailure("refused", { status: statusCode, body, header });
  if (name === "AI_APICallError" && isRetryable === true) return new EndpointFailure("unreachable");
  // No key, an unknown option, a prompt that the provider can't send: refused before it was sent, for good.
  if (name?.startsWith("AI_Load") || name === "AI_UnsupportedFunctionalityError" || name === "AI_InvalidPromptError")
    return new EndpointFailure("refused", { status: name.startsWith("AI_Load") ? 401 : 400, body });
  if (error instanceof Error) return new EndpointFailure("unreadable");
  // As it came in mid-stream: what has a status outside of one has it there too.
  const status = statusIn(parsed.data.code ?? parsed.data.error?.code);
  return new EndpointFailure("refused", { body: JSON.stringify(error), ...(status !== undefined && { status }) });
}
