import { type Attributes, context, propagation, type Span, SpanKind, SpanStatusCode, type TextMapGetter, trace } from "@opentelemetry/api";
import { isAppError } from "../platform/errors.js";
import { withMembers } from "../platform/present.js";
import { VERSION } from "../platform/version.js";
import type { AnyTool } from "../ports/agent.js";
import type { Chat } from "../ports/application.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../ports/chat-model.js";
import type { MemoryRecall } from "../ports/memories.js";
import type { RequestEnd, TracedRequest } from "../ports/request-tracing.js";
import type { ChatAnswer } from "../ports/resources.js";
import type { PendingTurn } from "../ports/session-store.js";

/** Turns as spans: `invoke_agent {agent}`, with recall, model and tools below. `provider`: as the conventions name it. */
export function tracedChat(
  chat: Chat,
  { agent, model, provider }: { readonly agent: string; readonly model: string; readonly provider: string },
): Chat {
  const attributes = {
    [GEN_AI.operation]: "invoke_agent",
    [GEN_AI.agent]: agent,
    [GEN_AI.provider]: provider,
    [GEN_AI.requestModel]: model,
  };
  const traced = (sessionId: unknown, run: () => Promise<ChatAnswer>) =>
    inSpan(`invoke_agent ${agent}`, { attributes }, async (span) => {
      if (typeof sessionId === "string") span.setAttribute(GEN_AI.conversation, sessionId);
      const answer = await run();
      const { session_id, turn, memory, usage } = answer;
      span.setAttributes({
        [GEN_AI.conversation]: session_id,
        [MAITRED.turn]: turn,
        [MAITRED.memoryStatus]: memory.status,
        [GEN_AI.inputTokens]: usage.input_tokens,
        [GEN_AI.outputTokens]: usage.output_tokens,
      });
      return answer;
    });
  return {
    chat: (request, options) => traced(request.sessionId, () => chat.chat(request, options)),
    resume: (request, options) => traced(request.sessionId, () => chat.resume(request, options)),
  };
}

export function tracedRecall(longTerm: MemoryRecall): MemoryRecall {
  return {
    recall: (owner, request) =>
      inSpan("recall", { attributes: {} }, async (span) => {
        const result = await longTerm.recall(owner, request);
        span.setAttributes({ [MAITRED.memoryStatus]: result.status, [MAITRED.memories]: result.memories.length });
        return result;
      }),
  };
}

/** A try to write a turn back. A trace of its own: the turn's may be long over. */
export function tracedWriteBack<T>({ sessionId, turn, attempts }: PendingTurn, work: () => Promise<T>): Promise<T> {
  const attributes = { [GEN_AI.conversation]: sessionId, [MAITRED.turn]: turn, [MAITRED.attempt]: attempts + 1 };
  return inSpan("write_back", { attributes, root: true }, work);
}

/** What follows a write-back: summary, topic, title. */
export function tracedUpkeep<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
  return inSpan("session_upkeep", { attributes: { [GEN_AI.conversation]: sessionId }, root: true }, work);
}

const HEADERS: TextMapGetter<TracedRequest> = {
  keys: () => [],
  get: ({ header }, name) => header(name),
};

/** Methods that stand in a span's name and attributes as they came: others are anybody's words. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * A request as a server's span: `{method} {route}`, by the semantic conventions of HTTP, without its path and query, which may hold ids
 * and words. What it does is below it; it is below the caller's span, where `traceparent` names one. Where the application has a span of
 * its own around, that is the server's, and there is no other. It ends with the answer's head, as the request's line in the log does.
 */
export async function tracedRequest(request: TracedRequest, work: () => Promise<RequestEnd>): Promise<void> {
  if (trace.getSpan(context.active()) !== undefined) {
    await work();
    return;
  }
  const method = METHODS.has(request.method) ? request.method : "_OTHER";
  const parent = propagation.extract(context.active(), request, HEADERS);
  const attributes = { "http.request.method": method };
  const name = method === "_OTHER" ? "HTTP" : method;
  const span = context.with(parent, () => beginSpan(name, { attributes, kind: SpanKind.SERVER }));
  try {
    const { route, status } = await context.with(parent, () => within(span, work));
    span.setAttribute("http.response.status_code", status);
    if (route !== null) span.updateName(`${name} ${route}`).setAttribute("http.route", route);
    if (status >= 500) span.setAttribute("error.type", String(status)).setStatus({ code: SpanStatusCode.ERROR });
  } finally {
    span.end();
  }
}

/** A model whose calls are spans: `chat {model}`. `provider`: as the conventions name it. */
export function tracedModel(model: ChatModel, provider: string): ChatModel {
  return withMembers(model, { stream: (request, options) => traced(model, provider, request, options) });
}

async function* traced(
  model: ChatModel,
  provider: string,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  const span = beginSpan(`chat ${model.name}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      [GEN_AI.operation]: "chat",
      [GEN_AI.provider]: provider,
      [GEN_AI.requestModel]: model.name,
      [MAITRED.task]: request.task ?? "chat",
      ...(request.maxOutputTokens !== undefined && { [GEN_AI.maxTokens]: request.maxOutputTokens }),
    },
  });
  const end = () => {
    if (span.isRecording()) span.end();
  };
  // A model that pays no heed to the signal would keep the span open for ever.
  const aborted = () => {
    failSpan(span, options.signal.reason);
    end();
  };
  options.signal.addEventListener("abort", aborted, { once: true });
  const events = within(span, () => model.stream(request, options)[Symbol.asyncIterator]());
  try {
    for (;;) {
      const next = await within(span, () => events.next());
      if (next.done === true) return;
      if (next.value.type === "end") tellEnd(span, next.value);
      yield next.value;
    }
  } catch (error) {
    if (span.isRecording()) failSpan(span, error);
    throw error;
  } finally {
    options.signal.removeEventListener("abort", aborted);
    end();
    await events.return?.();
  }
}

function tellEnd(span: Span, { reason, usage, model }: Extract<ModelEvent, { type: "end" }>): void {
  span.setAttributes({
    [GEN_AI.finishReasons]: [reason],
    [GEN_AI.inputTokens]: usage.input_tokens,
    [GEN_AI.outputTokens]: usage.output_tokens,
    ...(usage.cached_tokens !== undefined && { [GEN_AI.cachedTokens]: usage.cached_tokens }),
    ...(model !== undefined && { [GEN_AI.responseModel]: model }),
  });
}

/** A tool whose runs are spans: `execute_tool {tool}`. Neither what it is given nor what it gives is told. */
export function tracedTool(tool: AnyTool): AnyTool {
  return withMembers(tool, {
    run: (input, context) =>
      inSpan(
        `execute_tool ${tool.name}`,
        {
          attributes: {
            [GEN_AI.operation]: "execute_tool",
            [GEN_AI.tool]: tool.name,
            [GEN_AI.toolType]: "function",
            ...(context.callId !== undefined && { [GEN_AI.toolCall]: context.callId }),
          },
        },
        async () => tool.run(input, context),
      ),
  });
}

/**
 * Spans of OpenTelemetry. Without a provider, which the application registers, they cost next to nothing and go nowhere. No attribute
 * holds what anybody said: names, ids of sessions, numbers and codes alone.
 */

interface SpanOptions {
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

function beginSpan(name: string, { attributes, kind = SpanKind.INTERNAL, root = false }: SpanOptions): Span {
  return tracer().startSpan(name, { attributes, kind, root });
}

/** Runs `work` in a span, which ends with it. What `work` throws is told by its code. */
async function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
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
function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** The error's text may quote somebody: its code or its class must do. */
function failSpan(span: Span, error: unknown): void {
  span.setAttribute("error.type", isAppError(error) ? error.code : error instanceof Error ? error.name : "_OTHER");
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Names of OpenTelemetry's semantic conventions for generative AI, as far as they are used here, and a few of our own below. */
const GEN_AI = {
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

const MAITRED = {
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
