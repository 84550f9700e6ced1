import { z } from "zod";
import type { JsonValue, Usage } from "../../domain/session.js";
import type { FinishReason } from "../../ports/chat-model.js";
import { type ProviderEvent, usageFrom } from "./answer-sorter.js";
import { EndpointFailure, statusIn } from "./endpoint-failure.js";

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
export async function* streamedEvents(stream: ReadableStream<unknown>): AsyncGenerator<ProviderEvent, void, undefined> {
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
export async function* generatedEvents(answer: unknown): AsyncGenerator<ProviderEvent, void, undefined> {
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
