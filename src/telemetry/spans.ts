import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { isAppError } from "../platform/errors.js";
import { VERSION } from "../platform/version.js";

/**
 * Spans of OpenTelemetry. Without a provider, which the application registers, they cost next to nothing and go nowhere. No attribute
 * holds what anybody said: names, ids of sessions, numbers and codes alone.
 */

export interface SpanOptions {
  readonly attributes: Attributes;
  /** Default: work of our own, as against a call of somebody else's service. */
  readonly kind?: SpanKind;
  /** Begins a trace of its own, whatever runs around it. Default false. */
  readonly root?: boolean;
}

/** Not kept: the application may register its provider after this was loaded. */
function tracer() {
  return trace.getTracer("maitred", VERSION);
}

export function beginSpan(name: string, { attributes, kind = SpanKind.INTERNAL, root = false }: SpanOptions): Span {
  return tracer().startSpan(name, { attributes, kind, root });
}

/** Runs `work` in a span, which ends with it. What `work` throws is told by its code. */
export async function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  const span = beginSpan(name, options);
  try {
    return await within(span, () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** What `work` begins at once is below the span. */
export function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** The error's text may quote somebody: its code or its class must do. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute("error.type", isAppError(error) ? error.code : error instanceof Error ? error.name : "_OTHER");
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Names of OpenTelemetry's semantic conventions for generative AI, as far as they are used here, and a few of our own below. */
export const GEN_AI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
} as const;

export const MAITRED = {
  task: "maitred.task",
  turn: "maitred.turn",
  attempt: "maitred.attempt",
  memoryStatus: "maitred.memory.status",
  memories: "maitred.memory.recalled",
} as const;

/** What the conventions call a provider, where that is not our name for it. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  xai: "x_ai",
  offline: "maitred",
};

/** By the value of LLM_PROVIDER; null for a model of the application's own. */
export function providerName(provider: string | null): string {
  return provider === null ? "custom" : (PROVIDERS[provider] ?? provider);
}
