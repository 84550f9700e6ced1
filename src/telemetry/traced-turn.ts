import { context, propagation, SpanKind, SpanStatusCode, type TextMapGetter, trace } from "@opentelemetry/api";
import type { Chat } from "../ports/application.js";
import type { MemoryRecall } from "../ports/memories.js";
import type { RequestEnd, TracedRequest } from "../ports/request-tracing.js";
import type { ChatAnswer } from "../ports/resources.js";
import type { PendingTurn } from "../ports/session-store.js";
import { beginSpan, GEN_AI, inSpan, MAITRED, within } from "./spans.js";

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
